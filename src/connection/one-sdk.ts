import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ProblemError } from '../core/base/problem.ts';

/** Matches the entry files of SDK packages that keep state in a module, which a second copy would not share. */
const statefulEntry = /^(.*[\\/]@temporalio[\\/](activity|client|worker|workflow))[\\/]lib[\\/]index\.js$/;

/**
 * Throws `internal` if this process has loaded two copies of a package of Temporal's SDK, or if a bundle of the module
 * `workflowsPath` would contain two. With two copies, a run would retry its workflow task for ever.
 */
export function requireOneSdk(workflowsPath?: string): void {
  const { cache, resolve } = createRequire(import.meta.url);
  const entry = '@temporalio/workflow';
  const bundled = workflowsPath === undefined ? [] : [resolve(entry), ...resolvedFrom(workflowsPath, entry)];
  const folderByPackage = new Map<string, string>();
  for (const path of [...Object.keys(cache), ...bundled]) {
    const [, folder, name] = statefulEntry.exec(path) ?? [];
    if (folder === undefined || name === undefined) continue;
    const earlier = folderByPackage.get(name) ?? folder;
    if (earlier !== folder) throw twoCopies(name, earlier, folder);
    folderByPackage.set(name, folder);
  }
}

/** Resolves `entry` as `file` imports it. Empty if it is not installed there: the bundler reports that problem. */
function resolvedFrom(file: string, entry: string): string[] {
  try {
    return [createRequire(file).resolve(entry)];
  } catch {
    return [];
  }
}

function twoCopies(name: string, ...folders: [string, string]): ProblemError {
  const [first, second] = folders.map((folder) => `${folder} (${versionOf(folder)})`);
  const message = `There are two copies of @temporalio/${name}, ${first} and ${second}: install all @temporalio packages once and in one version; \`npm ls @temporalio/${name}\` shows which package brings which copy.`;
  return new ProblemError({ code: 'internal', message });
}

function versionOf(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version;
}

/** The facts in the identity of a Countersign worker. The server shows it to every client that lists pollers. */
export interface WorkerFacts {
  /** The version of the package. */
  version: string;
  /** The version of the policy engine. A run that this worker starts keeps this version. */
  engine: number;
  /** The first 12 hex digits of the digest of the operator's policy, or `none`. Absent if the identity lacks them. */
  policy?: string;
}

const shape = /^\d+@.*;countersign=([\w.+-]{1,40});engine=(\d{1,6})(?:;policy=([0-9a-f]{12}|none))?$/;

/** Returns Temporal's default identity with these facts. `policyDigest` is absent without a policy of the operator. */
export function workerIdentity(
  host: string,
  { engine, policyDigest }: { engine: number; policyDigest?: string },
): string {
  const policy = policyDigest?.slice(0, 12) ?? 'none';
  return `${process.pid}@${host};countersign=${ownVersion()};engine=${engine};policy=${policy}`;
}

/** Reads the facts in an identity; undefined for an identity of another shape. A worker can claim any identity. */
export function workerFacts(identity: string): WorkerFacts | undefined {
  const [, version, engine, policy] = shape.exec(identity) ?? [];
  if (version === undefined) return undefined;
  return { version, engine: Number(engine), ...(policy !== undefined && { policy }) };
}

export function ownVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ProblemError } from '../core/base/problem.ts';

/** The packages of Temporal's SDK with state, which another copy of the package does not see. */
const entryOfStateful = /^(.*[\\/]@temporalio[\\/](activity|client|worker|workflow))[\\/]lib[\\/]index\.js$/;

/**
 * Throws `internal` if this process has loaded two copies of a package of Temporal's SDK, or the workflows would be
 * bundled with two: a run whose bundle has two retries its task for ever.
 */
export function requireOneSdk(workflowsPath?: string): void {
  const { cache, resolve } = createRequire(import.meta.url);
  const entry = '@temporalio/workflow';
  const bundled = workflowsPath === undefined ? [] : [resolve(entry), ...resolvedFrom(workflowsPath, entry)];
  const folders = new Map<string, string>();
  for (const path of [...Object.keys(cache), ...bundled]) {
    const [, folder, name] = entryOfStateful.exec(path) ?? [];
    if (folder === undefined || name === undefined) continue;
    const first = folders.get(name) ?? folder;
    if (first !== folder) throw twoCopies(name, first, folder);
    folders.set(name, folder);
  }
}

/** Empty if nothing is installed there: the bundler reports that. */
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

/** The facts in the identity of a Countersign worker, which the server shows to every client that lists its pollers. */
export interface WorkerFacts {
  /** The version of the package. */
  version: string;
  /** The engine that rules on the calls of the runs that it starts. */
  engine: number;
  /** The first 12 hex digits of the digest of the operator's policy, or `none`. Absent: the worker does not say it. */
  policy?: string;
}

const shape = /^\d+@.*;countersign=([\w.+-]{1,40});engine=(\d{1,6})(?:;policy=([0-9a-f]{12}|none))?$/;

/** Temporal's default identity, and the facts. `policyDigest`: absent if there is no operator's policy. */
export function workerIdentity(
  host: string,
  { engine, policyDigest }: { engine: number; policyDigest?: string },
): string {
  const policy = policyDigest?.slice(0, 12) ?? 'none';
  return `${process.pid}@${host};countersign=${ownVersion()};engine=${engine};policy=${policy}`;
}

/** Undefined for another worker, and for one whose identity its author has chosen. A worker can claim any identity. */
export function workerFacts(identity: string): WorkerFacts | undefined {
  const [, version, engine, policy] = shape.exec(identity) ?? [];
  if (version === undefined) return undefined;
  return { version, engine: Number(engine), ...(policy !== undefined && { policy }) };
}

export function ownVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

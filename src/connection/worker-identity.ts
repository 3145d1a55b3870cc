import { readFileSync } from 'node:fs';

/** What a worker of ours says of itself in its identity, which the server shows to whoever asks for its pollers. */
export interface WorkerFacts {
  /** The version of the package. */
  version: string;
  /** The engine that rules on the calls of the runs that it starts. */
  engine: number;
  /** The first 12 hex digits of the digest of the operator's policy, or `none`. Absent: the worker does not say. */
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

/** Undefined for another worker, and for one whose identity its author has chosen. Anybody can claim any identity. */
export function workerFacts(identity: string): WorkerFacts | undefined {
  const [, version, engine, policy] = shape.exec(identity) ?? [];
  if (version === undefined) return undefined;
  return { version, engine: Number(engine), ...(policy !== undefined && { policy }) };
}

/** The version of this package. */
export function ownVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

import { readFileSync } from 'node:fs';

/** What a worker of ours says of itself in its identity, which the server shows to whoever asks for its pollers. */
export interface WorkerEngine {
  /** The version of the package. */
  version: string;
  /** The engine that rules on the calls of the runs that it starts. */
  engine: number;
}

const shape = /^\d+@.*;countersign=([\w.+-]{1,40});engine=(\d{1,6})$/;

/** Temporal's default identity, and the engine. */
export function workerIdentity(host: string, engine: number): string {
  return `${process.pid}@${host};countersign=${ownVersion()};engine=${engine}`;
}

/** Undefined for another worker, and for one whose identity its author has chosen. Anybody can claim any identity. */
export function engineOf(identity: string): WorkerEngine | undefined {
  const [, version, engine] = shape.exec(identity) ?? [];
  return version === undefined ? undefined : { version, engine: Number(engine) };
}

/** The version of this package. */
export function ownVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

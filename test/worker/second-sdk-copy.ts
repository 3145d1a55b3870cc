import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const ours = join(import.meta.dirname, '..', '..', 'node_modules');
/** What the copies need themselves is linked, so it is the same. */
const linked = ['@temporalio/common', '@temporalio/proto', '@grpc', 'nexus-rpc', 'long', 'uuid', 'abort-controller'];

/** Gives a project a copy of its own of these packages of Temporal's SDK. */
export function copySdk(project: string, names: readonly string[]): void {
  const theirs = join(project, 'node_modules');
  mkdirSync(join(theirs, '@temporalio'), { recursive: true });
  for (const name of names) {
    cpSync(join(ours, '@temporalio', name), join(theirs, '@temporalio', name), { recursive: true });
  }
  for (const name of linked) symlinkSync(join(ours, name), join(theirs, name));
}

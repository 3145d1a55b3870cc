import { relative } from 'node:path';
import type { DeclaredWorker } from 'countersign/dev';
import { countersignFolder } from '../base/countersign-folder.ts';

/** A message from the process of a worker to `countersign dev`. */
export type WorkerMessage =
  /** The module needs this file, and has read it in this state (see `fileState`). */
  | { file: string; state: string }
  /** The worker is connected, and starts when it receives `runMessage`. */
  | { ready: DeclaredWorker }
  /** One sentence that says why there is no worker. */
  | { failed: string };

export const runMessage = 'run';

/** The only argument of a worker's process, in JSON. */
export interface WorkerArguments {
  module?: string;
  address: string;
  namespace: string;
  taskQueue?: string;
  /** The file with the workflow code, for modules without workflows of their own. Default: that of the package. */
  bundle?: string;
  /** True if open requests are shown on standard error for people. */
  forPeople: boolean;
}

/** Matches one line of a stack. On a whole stack it would be slow, because `\s` also matches line breaks. */
const frame = /^(?:\s+at (?:async )?(?:.* \()?)?(?:file:\/\/)?(\/[^():]+):(\d+)(?::\d+)?\)?$/;

/** Returns a sentence about why a module does not load, with the line of the user's code if it is known. */
export function loadFault(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const place = error.cause instanceof Error ? placeIn(error.cause.stack ?? '') : undefined;
  const sentence = error.message.split('\n', 1)[0]!;
  return place === undefined ? sentence : `${sentence} (${place})`;
}

/** Returns the first place in a stack that is in the user's own code, such as `tools.ts:12`. */
function placeIn(stack: string): string | undefined {
  for (const stackLine of stack.split('\n')) {
    const [, path, line] = frame.exec(stackLine) ?? [];
    if (path === undefined) continue;
    const file = decoded(path);
    if (!file.includes('/node_modules/') && !file.startsWith(countersignFolder)) return `${relative('', file)}:${line}`;
  }
  return undefined;
}

/** Decodes the path of a `file:` address. A plain path is returned unchanged if its percent signs are no encoding. */
function decoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

import { relative } from 'node:path';
import type { DeclaredWorker } from 'countersign/dev';
import { countersignFolder } from '../base/countersign-folder.ts';

/** What the process of a worker sends to `countersign dev`. */
export type WorkerMessage =
  /** The module needs this file, and read it in this state (`fileState`). */
  | { file: string; state: string }
  /** The worker is connected, and runs when `runMessage` arrives. */
  | { ready: DeclaredWorker }
  /** One sentence: why there is no worker. */
  | { failed: string };

export const runMessage = 'run';

/** The only argument of a worker's process, in JSON. */
export interface WorkerArguments {
  module?: string;
  address: string;
  namespace: string;
  taskQueue?: string;
  /** The file with the workflow code for modules without workflows of their own. Undefined: that of the package. */
  bundle?: string;
  /** True: open requests are shown for people on standard error. */
  forPeople: boolean;
}

/** One line of a stack. In a whole stack, the blanks before `at` could span lines, and each would be a beginning. */
const frame = /^(?:\s+at (?:async )?(?:.* \()?)?(?:file:\/\/)?(\/[^():]+):(\d+)(?::\d+)?\)?$/;

/** One sentence about why a module does not load, with the line of the user's code if known. */
export function loadFault(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const place = error.cause instanceof Error ? placeIn(error.cause.stack ?? '') : undefined;
  const sentence = error.message.split('\n', 1)[0]!;
  return place === undefined ? sentence : `${sentence} (${place})`;
}

/** Such as `tools.ts:12`. The stack of a syntax error begins with its place; others have it in their frames. */
function placeIn(stack: string): string | undefined {
  for (const written of stack.split('\n')) {
    const [, path, line] = frame.exec(written) ?? [];
    if (path === undefined) continue;
    const file = decoded(path);
    if (!file.includes('/node_modules/') && !file.startsWith(countersignFolder)) return `${relative('', file)}:${line}`;
  }
  return undefined;
}

/** The address of a module is encoded. A plain path is not, and may contain a percent sign. */
function decoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

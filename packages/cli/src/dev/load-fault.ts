import { relative } from 'node:path';
import { countersignFolder } from '../base/countersign-folder.ts';

/** One sentence about why a module does not load, with the line of the user's code where that is known. */
export function loadFault(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const place = error.cause instanceof Error ? placeIn(error.cause.stack ?? '') : undefined;
  const sentence = error.message.split('\n', 1)[0]!;
  return place === undefined ? sentence : `${sentence} (${place})`;
}

/** Such as `tools.ts:12`. The stack of a syntax error begins with its place; others have it in their frames. Node's own are skipped. */
function placeIn(stack: string): string | undefined {
  const places = stack.matchAll(/^(?:\s+at (?:async )?(?:.* \()?)?(?:file:\/\/)?(\/[^():]+):(\d+)(?::\d+)?\)?$/gm);
  for (const [, path, line] of places) {
    const file = decodeURI(path!);
    if (!file.includes('/node_modules/') && !file.startsWith(countersignFolder)) return `${relative('', file)}:${line}`;
  }
  return undefined;
}

import { checkPositiveInteger } from './check-options.ts';
import type { Tool } from './definitions.ts';
import { DefinitionError } from './definition-error.ts';

const defaultTimeoutMs = 10_000;
const longestMs = 600_000;

/** Reads the options `preview` and `previewTimeoutMs` of a tool. */
export function readPreview<Preview>(
  place: string,
  { preview, previewTimeoutMs }: { preview?: Preview; previewTimeoutMs?: number },
): Pick<Tool, 'previewTimeoutMs'> & { preview?: Preview } {
  if (preview === undefined) {
    if (previewTimeoutMs === undefined) return {};
    throw new DefinitionError(`${place}: previewTimeoutMs goes with preview`);
  }
  if (typeof preview !== 'function') {
    throw new DefinitionError(`${place}: preview must be a function that returns a list of changes`);
  }
  const timeoutMs = previewTimeoutMs ?? defaultTimeoutMs;
  checkPositiveInteger(`${place}: previewTimeoutMs`, timeoutMs, longestMs);
  return { preview, previewTimeoutMs: timeoutMs };
}

import { byteLength } from './byte-length.ts';

/** The longest prefix of a list whose JSON has at most `bytes` bytes. */
export function fitting<T>(values: readonly T[], bytes: number): T[] {
  let used = 2;
  const end = values.findIndex((value) => {
    used += byteLength(JSON.stringify(value)) + 1;
    return used > bytes;
  });
  return values.slice(0, end === -1 ? values.length : end);
}

import { statSync } from 'node:fs';

/** What a file looks like now. Two different texts from two times differ in it; a file that is not there is `gone`. */
export function fileState(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? 'gone' : `${found.mtimeMs} ${found.size}`;
}

const faults: Record<string, string> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
};

/** Returns why Node could not read or write a file, as part of a sentence, without the file's name. */
export function readFault(cause: unknown): string {
  const { code = '', message } = cause as { code?: string; message: string };
  return Object.hasOwn(faults, code) ? faults[code]! : message;
}

const faults: Record<string, string> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
};

/** Why a file could not be opened, as part of a sentence. */
export function readFault(cause: unknown): string {
  const { code = '', message } = cause as NodeJS.ErrnoException;
  return Object.hasOwn(faults, code) ? faults[code]! : message;
}

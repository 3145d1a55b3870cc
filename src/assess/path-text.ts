/** A path as text, in a form that can be compared. No disk is read. */
export interface PathText {
  /** With `/` between its parts, and without `.`, `..` and empty parts if they can be resolved; in lower case. */
  normal: string;
  /** It leads above its starting point. */
  climbs: boolean;
}

/** Maximum number of characters read of a path. */
export const longestPath = 4_096;

/**
 * Normalises `C:\a`, `file:///a`, `/a//b/./c/..`, `%2e%2e`, `$HOME` and `${HOME}`. In lower case, because some disks
 * ignore case.
 */
export function readPath(written: string): PathText {
  const text = written
    .slice(0, longestPath)
    .trim()
    .toLowerCase()
    .replaceAll('%2e', '.')
    .replaceAll('%2f', '/')
    .replaceAll('%5c', '/')
    .replaceAll('\\', '/')
    .replace(/^file:\/\/(localhost(?=\/))?/, '')
    .replace(/^(\$home|\$\{home\}|%userprofile%)(?=\/|$)/, '~');
  const root = /^([a-z]:)?\//.exec(text)?.[0] ?? '';
  const parts: string[] = [];
  let climbs = false;
  for (const part of text.slice(root.length).split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== '..' && parts.at(-1) !== '~') parts.pop();
    else if (root === '') {
      parts.push(part);
      climbs = true;
    }
  }
  return { normal: root + parts.join('/') || '.', climbs };
}

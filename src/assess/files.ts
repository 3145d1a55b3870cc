/** Assesses the paths of a file tool by their text (docs/assessment.md). No disk is read. */
import { type CallView, type Finding, holdsWord, isNamed } from './finding.ts';
import type { Severity } from '../core/base/tool-call.ts';

export interface PathRow {
  what: string;
  test: (path: PathText) => boolean;
  /** The severity if the tool only reads. Absent: no finding. */
  reading?: Severity;
  /** The severity if the tool may change something. */
  changing: Severity;
  /** The severity if the tool deletes. Absent: that of `changing`. */
  deleting?: Severity;
  /** A clause, such as `the path holds credentials`. */
  reason: string;
}

const matching =
  (pattern: RegExp) =>
  ({ normal }: PathText): boolean =>
    pattern.test(normal);

/** The table of paths. Its patterns match the normal form of `readPath`: `/` between parts, lower case. */
export const pathRows: readonly PathRow[] = [
  {
    what: 'a whole disk, home or folder: `/`, `~`, `C:\\`, `*`, `/home/ann`',
    test: matching(/^(\/|~|[a-z]:\/?|\.|(\/|~\/|\.\/)?\*|\/(home|users)(\/[^/]*)?|\/root)$/),
    changing: 'medium',
    deleting: 'critical',
    reason: 'the path is a whole disk, home or working folder',
  },
  {
    what: 'credentials: `.ssh`, `.aws`, `.env`, `.netrc`, `*.pem`, `/etc/shadow`',
    test: matching(
      /(^|\/)(\.(ssh|aws|gnupg|kube|azure|docker|password-store)(\/|$)|\.(env(\.[^/]*)?|netrc|npmrc|pypirc|pgpass|git-credentials|htpasswd)$|id_(rsa|dsa|ecdsa|ed25519)$|[^/]*\.(pem|key|p12|pfx|jks|keystore|kdbx)$)|^\/etc\/(shadow|gshadow|sudoers)/,
    ),
    reading: 'high',
    changing: 'high',
    reason: 'the path holds credentials',
  },
  {
    what: 'system folders: `/etc`, `/usr`, `/dev`, `/proc`, `/Library`, `C:\\Windows`',
    test: matching(
      /^(\/(bin|boot|dev|etc|lib|lib32|lib64|opt|proc|root|run|sbin|sys|usr|var|system|library|applications|private\/(etc|var))|[a-z]:\/(windows|program files( \(x86\))?|programdata))(\/(?!tmp(\/|$))|$)/,
    ),
    reading: 'low',
    changing: 'high',
    reason: 'the path is in a system folder',
  },
  {
    what: 'dot-files of a home: `~/.bashrc`, `/home/ann/.config`',
    test: matching(/^(~|\/(home|users)\/[^/]+|[a-z]:\/users\/[^/]+|\/root)\/\./),
    reading: 'medium',
    changing: 'high',
    reason: 'the path is the configuration of a person',
  },
  {
    what: 'what runs by itself: `.git/hooks`, `.github/workflows`, `.gitlab-ci.yml`, `crontab`',
    test: matching(
      /(^|\/)(\.git(\/|$)|\.github\/(workflows|actions)(\/|$)|\.gitlab-ci\.ya?ml$|cron(tab|\.[a-z]+)(\/|$))/,
    ),
    reading: 'low',
    changing: 'high',
    reason: 'what the path holds is run by other programs',
  },
  {
    what: 'outside of the workspace: `../other`, `a/../../b`',
    test: ({ climbs }) => climbs,
    reading: 'medium',
    changing: 'high',
    reason: 'the path leaves the working folder',
  },
  {
    what: 'wildcards: `*`, `?`',
    test: matching(/[*?]/),
    changing: 'medium',
    deleting: 'high',
    reason: 'the path is a pattern that can name many files',
  },
  {
    what: 'control characters, and texts over 4,096 characters',
    test: ({ normal }) => /\p{Cc}/u.test(normal) || normal.length >= longestPath,
    reading: 'high',
    changing: 'high',
    reason: 'the path is no ordinary path',
  },
];

const pathWords = new Set(
  'path paths file files filename filenames filepath filepaths dir dirs directory directories folder folders'.split(
    ' ',
  ),
);
/** Arguments with these names hold paths only if the name of the tool mentions files. */
const placeWords = new Set('source src from destination dest dst to target targets'.split(' '));
const deletingWords = new Set(
  'delete deletes remove removes rm rmdir rmtree unlink purge wipe erase trash destroy shred'.split(' '),
);
const recursiveWords = new Set('recursive recursively force'.split(' '));

/** The use that a call makes of the files it names. */
export type FileUse = 'reading' | 'changing' | 'deleting';

/** Returns the findings about the paths in a call's arguments, and one about the deletion if the tool deletes. */
export function assessFiles({ tool, fields, readsOnly }: CallView): Finding[] {
  const isFileTool = holdsWord(tool, pathWords);
  const deletes = holdsWord(tool, deletingWords);
  const use = deletes ? 'deleting' : readsOnly ? 'reading' : 'changing';
  const paths = fields.flatMap(({ words, value }) =>
    typeof value === 'string' && (isNamed(words, pathWords) || (isFileTool && isNamed(words, placeWords)))
      ? [value]
      : [],
  );
  const findings = paths.flatMap((path) => assessPath(path, use));
  if (!deletes || paths.length === 0) return findings;
  const recursive = fields.some(({ words, value }) => holdsWord(words, recursiveWords) && value !== false);
  return [
    ...findings,
    {
      severity: 'high',
      reason: recursive ? 'it deletes folders with all they hold' : 'it deletes files',
      affected: paths.map((path) => `file:${path}`),
      reversible: false,
      recommend: 'Check that there is a copy of what is deleted.',
    },
  ];
}

/** The findings of `pathRows` about one path. A row that says nothing of deletion rates it as a change. */
export function assessPath(written: string, use: FileUse): Finding[] {
  const path = readPath(written);
  return pathRows.flatMap((row): Finding[] => {
    const severity = use === 'deleting' ? (row.deleting ?? row.changing) : row[use];
    return severity !== undefined && row.test(path)
      ? [{ severity, reason: row.reason, affected: [`file:${written}`] }]
      : [];
  });
}

/** A path as text, in a form that can be compared. No disk is read. */
export interface PathText {
  /** The path in lower case, with `/` between its parts, without `.`, `..` and empty parts if they can be resolved. */
  normal: string;
  /** True if the path leads above its starting point. */
  climbs: boolean;
}

export const longestPath = 4_096;

/** Gives `C:\a`, `file:///a`, `/a//b/./c/..`, `%2e`, `$HOME` and letters of either case one form, to compare paths. */
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
    const last = parts.at(-1);
    if (part !== '..') parts.push(part);
    else if (last !== undefined && last !== '..' && last !== '~') parts.pop();
    else if (root === '') {
      // Nothing is left that this `..` could leave, so the path leads above its starting point.
      parts.push(part);
      climbs = true;
    }
  }
  return { normal: root + parts.join('/') || '.', climbs };
}

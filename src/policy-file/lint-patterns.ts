/** Finds patterns that are in the notation of other systems, or that match less or more than they seem to. */
import { namesCommand, runsCommands } from '../assess/commands.ts';
import { lookAlikes } from '../text/look-alikes.ts';
import type { Rule } from '../core/policy/policy.ts';

/** Blanks that look like a space or are invisible. */
const strangeBlank =
  /[\u00a0\u00ad\u061c\u115f\u1160\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]|\u034f|\ufe0f/u;
/** Characters that are neither usual in names of tools nor part of the notation of globs. */
const strangeInName = /[^\p{L}\p{M}\p{N}\p{Co}_.\-/$@#+ *?[\]!^]/u;

/** The likely mistakes in the globs of a rule, each as a clause that continues `rule ID`. */
export function patternWarnings({ pattern, args = {}, when = '', agent = '', action }: Rule): string[] {
  const colon = pattern.indexOf(':');
  const name = colon === -1 ? pattern : pattern.slice(0, colon);
  const argsGlob = colon === -1 ? undefined : pattern.slice(colon + 1);
  const globs = [...(argsGlob === undefined ? [] : [argsGlob]), ...Object.values(args)];
  const allows = action === 'allow';
  return [
    ...nameWarnings(name, pattern),
    ...(argsGlob === undefined ? [] : commandWarnings(argsGlob, allows)),
    ...(argsGlob === undefined || allows ? [] : jsonWarnings(argsGlob)),
    ...(argsGlob === undefined
      ? []
      : [...doubledColon(argsGlob), ...neverMatching(argsGlob, runsCommands(name))].map((problem) =>
          repaired(problem, (glob) => `${name}:${glob}`),
        )),
    ...Object.entries(args).flatMap(([key, glob]) => argumentWarnings(key, glob)),
    ...(/[\t\n\v\f\r]/.test(pattern)
      ? ['has a tab or a line break, and the words of a command are joined by one blank']
      : []),
    ...[name, ...globs, ...Object.keys(args), when, agent].flatMap(letterWarnings),
    ...(allows ? globs.flatMap(wideWarnings) : []),
    ...(allows && argsGlob !== undefined && /^\*.*"[^"]*":/s.test(argsGlob)
      ? ['matches a member of that name at any depth of the arguments: write args, such as args: { target: staging }']
      : []),
    ...Object.keys(args)
      .filter((key) => /[.[\]]/.test(key))
      .map((key) => `has '${key}' in args, which names an argument and nothing in one: use a condition`),
  ];
}

/** The first mistake in the name part of a pattern, as a clause after the pattern; empty if there is none. */
function nameWarnings(name: string, pattern: string): string[] {
  if (name === '') return ['has no name of a tool before the colon, so it matches none: write * for every tool'];
  const strange = strangeInName.exec(name)?.[0];
  // `letterWarnings` warns about strange blanks.
  if (strange !== undefined && strangeBlank.test(strange)) return [];
  const [, tool, inner] = /^([\w*-]+)\((.*?)(?::?\*)?\)$/s.exec(pattern) ?? [];
  if (tool !== undefined) {
    const remedy = inner === '' ? tool : `${tool}:${inner}*`;
    return [`is in the notation of another system, and no tool has a name with '(': write ${remedy}`];
  }
  if (strange !== undefined) {
    return [`has '${strange}' in the name of a tool: braces, parentheses and the like stand for themselves`];
  }
  if (name.trim() !== name)
    return [`has a blank beside the colon, and no tool has one in its name: write ${pattern.replace(/\s*:\s*/, ':')}`];
  if (/\s/.test(name)) {
    return [
      `has a blank in the name of a tool, and no tool has one: if this is a command, write bash:${pattern}, with the name of the tool that runs it`,
    ];
  }
  const [, negated] = /^!+(.+)$/.exec(name) ?? [];
  if (negated !== undefined) {
    return [
      `begins with '!', which stands for itself: it means no other tools. Write a rule for * and one for ${negated} after it`,
    ];
  }
  const [, framed] = /^\/(.+)\/$/.exec(name) ?? [];
  if (framed !== undefined || name.startsWith('.*')) {
    const glob = (framed ?? name).replaceAll(/\.\*/g, '*');
    return [
      `is written as a regular expression, and its signs stand for themselves: write ${pattern.replace(name, () => glob)}`,
    ];
  }
  return neverMatching(name).map((problem) => repaired(problem, (glob) => pattern.replace(name, () => glob)));
}

/** What is wrong with a glob that matches no sensible text, and the globs to write in its place. */
interface NeverMatching {
  what: string;
  globs: string[];
}

function repaired({ what, globs }: NeverMatching, place: (glob: string) => string): string {
  if (globs.length === 0) return what;
  return `${what}: write ${globs.map(place).join(' and ')}`;
}

/** The first problem of a glob in the notation of another system, in a list. `isCommand`: the glob is for commands. */
function neverMatching(glob: string, isCommand = false): NeverMatching[] {
  if (glob.trim() !== glob)
    return [{ what: 'begins with a blank after the colon, and no command does', globs: [glob.trim()] }];
  if (/^(["'`])(?:(?!\1).)+\1$/s.test(glob))
    return [{ what: 'has quotes around it, which stand for themselves', globs: [glob.slice(1, -1)] }];
  const [, negated] = /^!+([\w./~*-].*)$/s.exec(glob) ?? [];
  if (negated !== undefined) {
    const what = `has '!' before '${negated}', which stands for itself: it means no others. Write a rule for all and one for '${negated}' after it`;
    return [{ what, globs: [] }];
  }
  if (isOfLike(glob)) {
    return [{ what: "has '%' as in SQL, which stands for itself", globs: [withoutRuns(glob.replaceAll('%', '*'))] }];
  }
  if (glob.includes('**/')) {
    return [
      {
        what: "has '**/', which needs a '/', and * alone matches any folders",
        globs: [withoutRuns(glob.replaceAll('**/', '*'))],
      },
    ];
  }
  if (/\(\?(?:[:!=]|<[!=]|P?<\w|[a-z]+[:)])/.test(glob)) return [{ what: written, globs: [] }];
  const ofShell = isCommand ? neverACommand(glob) : [];
  if (ofShell.length > 0) return ofShell;
  const plain = withoutExpression(glob);
  return plain === undefined ? [] : [{ what: written, globs: alternativesIn(plain) }];
}

const written = 'is written as a regular expression, and its signs stand for themselves';

/** True for SQL's `LIKE`, such as `%rm%` and `rm %`; false for `%2e`, `%APPDATA%`, `date +%` and `100%`. */
function isOfLike(glob: string): boolean {
  if (/[*?[]/.test(glob) || /^%[A-Z_]+%/.test(glob)) return false;
  return /^%(?![\da-f]{2})[\w./~@-]/i.test(glob) || /[a-z\s]%$/i.test(glob);
}

/** The problem of a doubled colon, as in `bash::rm *`; none for `fetch:::1` and `listen::8080`. */
function doubledColon(glob: string): NeverMatching[] {
  return /^:[A-Za-z./~*?[-]/.test(glob)
    ? [{ what: 'has two colons, and the second stands for itself', globs: [glob.slice(1)] }]
    : [];
}

/** Programs that execute piped input. */
const readers = new Set(
  (
    'sh bash dash ash zsh ksh fish csh tcsh pwsh powershell cmd iex python python3 perl ruby node php psql mysql sqlite3 ' +
    'mongosh xargs parallel tee sudo doas env nc ncat netcat socat ssh base64 openssl gzip zip gpg tar dd grep rg sed ' +
    'awk head tail sort uniq wc cut tr jq yq cat less more mail sendmail curl wget at crontab pbcopy clip kubectl docker'
  ).split(' '),
);

/**
 * The problem of a glob that no command matches, because it begins with a prompt, ends with a sign, joins words by `|`
 * as if by "or", or ends in `.*` like a regular expression.
 */
function neverACommand(glob: string): NeverMatching[] {
  const [, prompted] = /^[$#>] +(\S.*)$/s.exec(glob) ?? [];
  if (prompted !== undefined) return [{ what: 'begins with the prompt of a shell', globs: [prompted] }];
  const sign = /(?:[;,|]|&&)$/.exec(glob)?.[0];
  // The command of `find -exec` ends in `;` by itself.
  if (sign !== undefined && /^[\w./~]/.test(glob) && !/ -(?:exec|ok)|\\;$/.test(glob)) {
    const bare = glob.replace(/[\s;,|&]{1,20}$/, '');
    return [{ what: `ends in '${sign}', which is part of no command`, globs: [bare] }];
  }
  const words = glob.split('|').map((word) => word.trim());
  const programs = words.map((word) => /^\*?(?:[\w./~-]*\/)?([\w.-]+)/.exec(word)?.[1]);
  // A program with a wildcard may read its input, too.
  const isPipe = programs.slice(1).some((program) => program === undefined || readers.has(program));
  if (words.length > 1 && programs[0] !== undefined && !isPipe) {
    return [{ what: "has '|', which joins commands and means no 'or'", globs: words }];
  }
  if (/(?: |^[\w-]*[A-Za-z])\.\*$/.test(glob)) {
    return [
      {
        what: "has '.*', in which the dot stands for itself, where * is any text",
        globs: [glob.replace(/\.\*$/, '*')],
      },
    ];
  }
  return [];
}

function withoutRuns(glob: string): string {
  return glob.replaceAll(/\*{2,}/g, '*');
}

/** Warns about a glob that is the JSON of an object, such as `pay:{"to":"ann"*`. */
function jsonWarnings(glob: string): string[] {
  const [, member, value = ''] = /^\{\s*"([^"]+)"\s*:\s*"?([^"{}]*)/s.exec(glob) ?? [];
  if (member === undefined) return [];
  const remedy = `write args: { ${member}: '${value}' }`;
  return [
    `is the JSON of all arguments, and matches no call whose tool declares a subject, such as a command: ${remedy}`,
  ];
}

/** Matches `\d+`, `\s*` and `\bword\b`. */
const escapes = /\\[sdw][+{]|\\s\*|(?:^|[\s(*.])\\b\w+\\b(?:[\s)*.]|$)/;
/** Matches alternatives in parentheses, such as `(rm|del)`. */
const alternatives = /\(([^\s()|]+(?:\|[^\s()|]+)+)\)/;

/** The glob that a regular expression means; undefined if there is none. `.*` alone may also be part of a name. */
function withoutExpression(glob: string): string | undefined {
  const [, framed] = /^\/([^/]+)\/[gimsuy]{0,2}$/s.exec(glob) ?? [];
  const isFramed = framed !== undefined && /\.[*+]|[\\|()\s]|^\^|\$$/.test(framed);
  const isAnchored = /^\^./s.test(glob) || /[\w*)\]]\$$/.test(glob);
  const isOpenAtBothEnds = /^\.\*.*\.\*$/s.test(glob);
  const isExpression = isFramed || isAnchored || isOpenAtBothEnds || escapes.test(glob) || alternatives.test(glob);
  if (!isExpression) return undefined;
  const body = (isFramed ? framed : glob).replace(/^\^/, '').replace(/\$$/, '');
  const plain = body
    .replaceAll(/\\s[+*]?/g, ' ')
    .replaceAll(/\\b/g, '')
    .replaceAll(/\\[dw][+*]?|\.[*+]/g, '*')
    .replaceAll(/\\(.)/g, '$1');
  if (!isFramed && !isAnchored) return withoutRuns(plain);
  // A regular expression matches anywhere within a text, except at its anchors.
  const before = /^\/?\^/.test(glob) ? '' : '*';
  const after = /\$\/?$/.test(glob) ? '' : '*';
  return withoutRuns(`${before}${plain}${after}`);
}

/** The globs for a text with alternatives: two for `(rm|del) *`. */
function alternativesIn(glob: string): string[] {
  const [group, words] = alternatives.exec(glob) ?? [];
  if (group === undefined || words === undefined) return [glob];
  return words.split('|').map((word) => glob.replace(group, () => word));
}

/** The first mistake in the name or the glob of one argument, in a list; empty if there is none. */
function argumentWarnings(name: string, glob: string): string[] {
  const shown = name.trim();
  if (shown !== name) return [`has '${name}' in args, and a blank is part of the name: write ${shown}`];
  const [, operator, number] = /^([<>]=?|[!=]=)\s*(-?[\d.]+)$/.exec(glob) ?? [];
  if (operator !== undefined) {
    return [`has '${glob}' in args, and a glob compares nothing: write when: 'args.${name} ${operator} ${number}'`];
  }
  return neverMatching(glob, namesCommand(name)).map((problem) =>
    repaired(problem, (plain) => `args: { ${name}: '${plain}' }`),
  );
}

/** The likely mistakes in the part of a pattern that matches a command. */
function commandWarnings(argsGlob: string, allows: boolean): string[] {
  const found: string[] = [];
  const start = /^([^*?[]*[^*?[\s:]{2}):\*$/.exec(argsGlob)?.[1];
  if (start !== undefined && !start.includes('://')) {
    found.push(`ends in ':*', and a colon stands for itself: write ${start}*`);
  }
  if (/\{[^{}":]*,[^{}":]*\}/.test(argsGlob))
    found.push('has braces, which stand for themselves: write one rule for each word');
  if (/\S {2,}\S/.test(argsGlob)) found.push('has two blanks in a row, and the words of a command are joined by one');
  if (allows && /\s(?:&&|\|\|?)\s|;\s/.test(argsGlob)) {
    found.push('allows a chain of commands, and each command of a chain has to be allowed by itself');
  }
  return found;
}

/** Warns about the first character that looks like a blank or like another letter; empty if there is none. */
function letterWarnings(glob: string): string[] {
  const blank = strangeBlank.exec(glob)?.[0];
  if (blank !== undefined) return [`has the character ${codePoint(blank)}, which looks like a blank or like nothing`];
  const [index] = lookAlikes(glob);
  if (index === undefined) return [];
  return [
    `has the character ${codePoint(String.fromCodePoint(glob.codePointAt(index)!))}, which looks like another one`,
  ];
}

/** The warnings about the glob of an allow rule whose `*` matches more than it seems to. */
function wideWarnings(glob: string): string[] {
  const host = /^[a-z*][a-z0-9+.*-]*:\/\/([^/]*)/i.exec(glob)?.[1];
  if (host?.includes('*') === true && host !== '*') {
    return [
      `allows any host: in '${glob}', * matches / and ? too. Write the whole host and the / after it, or use a condition`,
    ];
  }
  if (/^\*@[^*]+$/.test(glob)) {
    return [`allows several addresses in one text, such as 'eve@evil.example,a${glob.slice(1)}': use a condition`];
  }
  if (/^(?:select|with|show|explain)\b.*\*$/is.test(glob))
    return ['allows a second statement after the first: use a condition'];
  return [];
}

function codePoint(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
}

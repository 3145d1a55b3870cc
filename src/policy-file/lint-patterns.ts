/** Patterns that look like those of other systems, or match less or more than they say. */
import { lookAlikes } from '../text/look-alikes.ts';
import type { Rule } from '../core/policy/policy.ts';

/** Blanks that look like a space or like nothing. */
const strangeBlank =
  /[\u00a0\u00ad\u061c\u115f\u1160\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]|\u034f|\ufe0f/u;
/** What names of tools consist of, and what globs add to it. */
const strangeInName = /[^\p{L}\p{M}\p{N}\p{Co}_.\-/$@#+ *?[\]!^]/u;

/** What is odd about the globs of a rule, each as a clause that continues `rule ID`. */
export function patternWarnings({ pattern, args = {}, action }: Rule): string[] {
  const colon = pattern.indexOf(':');
  const name = colon === -1 ? pattern : pattern.slice(0, colon);
  const rest = colon === -1 ? undefined : pattern.slice(colon + 1);
  const globs = [...(rest === undefined ? [] : [rest]), ...Object.values(args)];
  const allows = action === 'allow';
  return [
    ...nameWarnings(name, pattern),
    ...(rest === undefined ? [] : commandWarnings(rest, allows)),
    ...[name, ...globs].flatMap(letterWarnings),
    ...(allows ? globs.flatMap(wideWarnings) : []),
    ...(allows && rest !== undefined && /^[*{].*"[^"]*":/s.test(rest)
      ? ['matches a member of that name at any depth of the arguments: write args, such as args: { target: staging }']
      : []),
    ...Object.keys(args)
      .filter((key) => /[.[\]]/.test(key))
      .map((key) => `has '${key}' in args, which names an argument and nothing in one: use a condition`),
  ];
}

function nameWarnings(name: string, pattern: string): string[] {
  const strange = strangeInName.exec(name)?.[0];
  // Those have a warning of their own.
  if (strange === undefined || strangeBlank.test(strange)) return [];
  const [, tool, inner] = /^([\w*-]+)\((.*?)(?::?\*)?\)$/s.exec(pattern) ?? [];
  if (tool !== undefined) {
    const remedy = inner === '' ? tool : `${tool}:${inner}*`;
    return [`is in the notation of another system, and no tool has a name with '(': write ${remedy}`];
  }
  return [`has '${strange}' in the name of a tool: braces, parentheses and the like stand for themselves`];
}

function commandWarnings(rest: string, allows: boolean): string[] {
  const found: string[] = [];
  const start = /^([^*?[]*[^*?[\s:]{2}):\*$/.exec(rest)?.[1];
  if (start !== undefined && !start.includes('://')) {
    found.push(`ends in ':*', and a colon stands for itself: write ${start}*`);
  }
  if (/\{[^{}":]*,[^{}":]*\}/.test(rest))
    found.push('has braces, which stand for themselves: write one rule for each word');
  if (/\S {2,}\S/.test(rest)) found.push('has two blanks in a row, and the words of a command are joined by one');
  if (allows && /\s(?:&&|\|\|?)\s|;\s/.test(rest)) {
    found.push('allows a chain of commands, and each command of a chain has to be allowed by itself');
  }
  return found;
}

function letterWarnings(glob: string): string[] {
  const blank = strangeBlank.exec(glob)?.[0];
  if (blank !== undefined) {
    return [`has the character ${codePoint(blank)}, which looks like a blank or like nothing`];
  }
  const [index] = lookAlikes(glob);
  if (index === undefined) return [];
  return [
    `has the character ${codePoint(String.fromCodePoint(glob.codePointAt(index)!))}, which looks like another one`,
  ];
}

/** Globs of allow rules whose `*` reaches further than it looks. */
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

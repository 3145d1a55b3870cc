/** Finds, in the code itself, the functions that may be given text from elsewhere. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..', '..');

/** A type that holds text: written in place, or one that carries a call, a card or a message; or a text as a default. */
const holdsText =
  /\b(?:string|unknown|object|Json|JsonObject|Uint8Array|Request|Card\w*|Call\w*|AssessedCall|Change|TableChange|Rows|\w*Message|\w*Decision|Addressed|TokenTail|Path|Leaf|ShellWord|Redaction|Assessment|ListedTool|RunContext)\b|= ['"`]/;

/** Finds functions that are values of constants. Gives their names, and says whether the constant's type has the parameters. */
const constant = /^export const (\w+)(: [^=\n]+)? =\s+(?:async )?(?:<[^\n]*?>)?(?=\()/gm;

/** `FILE NAME`, or `FILE CLASS.METHOD`, of each exported function with a parameter that may hold text. */
export function textFunctions(): string[] {
  const files = globSync(['src/**/*.ts', 'packages/*/src/**/*.{ts,tsx}'], { cwd: root }).toSorted();
  return files.flatMap((file) => {
    const names = functionsOf(readFileSync(join(root, file), 'utf8'));
    return names.map((name) => `${file.replace(/^src\//, '')} ${name}`);
  });
}

function functionsOf(code: string): string[] {
  const own = [...code.matchAll(/^export (?:async )?function(?:\* ?| )(\w+)/gm)]
    .filter((match) => holdsText.test(parametersAt(code, match.index)))
    .map(([, name]) => name!);
  const constants = [...code.matchAll(constant)].filter(isTextFunction).map(([, name]) => name!);
  const classes = [...code.matchAll(/^export (?:abstract )?class (\w+)[^]*?^\}/gm)];
  return [...new Set([...own, ...constants]), ...classes.flatMap(methodsOf)];
}

/** Where the type of the constant has the parameters' types, they are not looked up: they may hold text. */
function isTextFunction({ 0: head, 2: type, input: code, index }: RegExpExecArray): boolean {
  const parameters = parametersAt(code, index + head.length);
  if (!/^\s*(?::|=>)/.test(code.slice(index + head.length + parameters.length + 1))) return false;
  return holdsText.test(parameters) || (type !== undefined && parameters !== '(');
}

function methodsOf([code, name]: RegExpExecArray): string[] {
  return [...code.matchAll(/^ {2}(?!constructor)(?:(?:static|override|async) )*\*?(\w+)(?:<.*>)?\(/gm)]
    .filter((match) => holdsText.test(parametersAt(code, match.index)))
    .map(([, method]) => `${name!}.${method!}`);
}

/** The text between the brackets of the first list of parameters after `from`. */
function parametersAt(code: string, from: number): string {
  const start = code.indexOf('(', from);
  let depth = 0;
  for (let at = start; at < code.length; at++) {
    if (code[at] === '(') depth += 1;
    else if (code[at] === ')' && --depth === 0) return code.slice(start, at);
  }
  throw new Error(`no end of parameters: ${code.slice(from, from + 80)}`);
}

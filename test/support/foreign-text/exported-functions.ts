/** Finds, in the code itself, the functions that may be given text from elsewhere. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..', '..');

/** The rooms whose functions read what models, reviewers, receivers and strangers write. */
const rooms = [
  'src/core/base',
  'src/core/match',
  'src/core/redact',
  'src/core/shell',
  'src/core/assess',
  'src/core/policy/recorded-assessment.ts',
  'src/core/people',
  'src/core/messages',
  'src/text',
  'src/redact',
  'src/shell',
  'src/assess',
  'src/card',
  'src/events',
  'src/models',
  'src/workflows/sandbox',
  'packages/gateway/src/http',
  'packages/mcp/src',
  'src/adapters',
];

/** A type that holds text: written in place, or one that carries a call, a card or a message. */
const holdsText =
  /\b(?:string|unknown|object|Json|JsonObject|Uint8Array|Request|Card\w*|Call\w*|AssessedCall|Change|TableChange|Rows|\w*Message|\w*Decision|Addressed|TokenTail|Path|Leaf|ShellWord|Redaction|Assessment|ListedTool)\b/;

/** `FILE NAME`, or `FILE CLASS.METHOD`, of each exported function with a parameter that may hold text. An
 * `async` one passes texts on to these: no task of ours is both long and asynchronous. */
export function textFunctions(): string[] {
  return rooms.flatMap((room) =>
    globSync(room.endsWith('.ts') ? room : `${room}/**/*.ts`, { cwd: root })
      .toSorted()
      .flatMap((file) => {
        const names = functionsOf(readFileSync(join(root, file), 'utf8'));
        return names.map((name) => `${file.replace(/^src\//, '')} ${name}`);
      }),
  );
}

function functionsOf(code: string): string[] {
  const own = [...code.matchAll(/^export function (\w+)/gm)]
    .filter((match) => holdsText.test(parametersAt(code, match.index)))
    .map(([, name]) => name!);
  return [...new Set(own), ...[...code.matchAll(/^export class (\w+)[^]*?^\}/gm)].flatMap(methodsOf)];
}

function methodsOf([code, name]: RegExpExecArray): string[] {
  return [...code.matchAll(/^ {2}(?!constructor)(?:static )?(\w+)(?:<.*>)?\(/gm)]
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

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { auditInputs } from './inputs/audit-inputs.ts';
import { baseInputs } from './inputs/base-inputs.ts';
import { cardInputs } from './inputs/card-inputs.ts';
import { channelInputs } from './inputs/channel-inputs.ts';
import { commandLineInputs } from './inputs/command-line-inputs.ts';
import { edgeInputs } from './inputs/edge-inputs.ts';
import { inboxInputs } from './inputs/inbox-inputs.ts';
import { ledgerInputs } from './inputs/ledger-inputs.ts';
import { matchInputs } from './inputs/match-inputs.ts';
import { messageInputs } from './inputs/message-inputs.ts';
import { notMeasured } from './not-measured.ts';
import { policyInputs } from './inputs/policy-inputs.ts';
import { workerInputs } from './inputs/worker-inputs.ts';

const all = [
  baseInputs,
  matchInputs,
  messageInputs,
  policyInputs,
  ledgerInputs,
  cardInputs,
  auditInputs,
  workerInputs,
  channelInputs,
  edgeInputs,
  commandLineInputs,
  inboxInputs,
];
const root = join(import.meta.dirname, '..', '..');

test('every function that may be given text from elsewhere is measured, or a reason says why not', () => {
  const measured = all.flatMap((inputs) => Object.keys(inputs));
  const excused = Object.values(notMeasured).flatMap((byFile) =>
    Object.entries(byFile).flatMap(([file, names]) => names.map((name) => `${file} ${name}`)),
  );
  const listed = [...measured, ...excused];
  expect(listed.toSorted()).toEqual(textFunctions().toSorted());
});

test('a new function that takes text is found', () => {
  expect(textFunctions()).toContain('core/base/json.ts strictJsonProblem');
  expect(textFunctions()).toContain('events/text-redactor.ts KnownSecrets.beginsAt');
  expect(textFunctions()).toContain('packages/cli/src/inbox/preview.ts previewRequest');
  expect(textFunctions()).toContain('client/watch/watch-run.ts watchRun');
  expect(textFunctions()).toContain('agents/define-toolset.ts OpenToolsets.find');
  expect(textFunctions()).toContain('activities/load-agent.ts readRunPolicy');
  expect(textFunctions()).toContain('policy-file/shape.ts checked');
  expect(textFunctions()).toContain('packages/gateway/src/inbox/parts/shown-text.tsx Marked');
});

test('Unicode is normalized in one file only, which bounds its time', () => {
  const files = globSync(['src/**/*.ts', 'packages/*/src/**/*.ts'], { cwd: root }).filter((file) =>
    // Of a single character, the time is constant.
    readFileSync(join(root, file), 'utf8').replaceAll('character.normalize(', '').includes('.normalize('),
  );
  expect(files).toEqual(['src/core/base/text.ts']);
});

/** A type that holds text: written in place, or one that carries a call, a card or a message; or a text as a default. */
const holdsText =
  /\b(?:string|unknown|object|Json|JsonObject|Uint8Array|Request|Card\w*|Call\w*|AssessedCall|Change|TableChange|Rows|\w*Message|\w*Decision|Addressed|TokenTail|Path|Leaf|ShellWord|Redaction|Assessment|ListedTool|RunContext)\b|= ['"`]/;

/** Finds functions that are values of constants. Gives their names, and says whether the constant's type has the parameters. */
const constant = /^export const (\w+)(: [^=\n]+)? =\s+(?:async )?(?:<[^\n]*?>)?(?=\()/gm;

/** `FILE NAME`, or `FILE CLASS.METHOD`, of each exported function with a parameter that may hold text. */
function textFunctions(): string[] {
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

import { strictJsonProblem, isObject, parseJson } from '../core/base/json.ts';
import type { EntryLine, SealedLine } from './audit-line.ts';
import { isHash, isTree } from '../core/ledger/merkle.ts';

/** The deepest nesting: that of a call's arguments, and the levels of the line around them. */
const maxDepth = 210;

/** Validates one line of an export. Never throws. */
export function readLine(text: string): { line: SealedLine } | { problem: string } {
  const strict = strictJsonProblem(text, { maxDepth });
  if (strict !== undefined) return { problem: `it is not strict JSON: expected ${strict.expected}` };
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return { problem: 'it is not JSON' };
  }
  const problem = shapeProblem(value);
  return problem === undefined ? { line: value as SealedLine } : { problem };
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isFlag: Check = (value) => typeof value === 'boolean';
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const isMapOf =
  (check: Check): Check =>
  (value) =>
    isObject(value) && Object.values(value).every(check);
const isHead: Check = (value) => isObject(value) && isCount(value['size']) && isHash(value['root']);
const isSalt: Check = (value) => typeof value === 'string' && /^[0-9a-f]{32}$/.test(value);
const isEntry: Check = (value) =>
  isObject(value) && isCount(value['seq']) && isText(value['kind']) && isText(value['at']);

const entryShape = { entry: isEntry, salts: optional(isMapOf(isSalt)), withheld: optional(isMapOf(isHash)) };

export function isEntryLine(value: unknown): value is Pick<EntryLine, 'entry' | 'salts' | 'withheld'> {
  return isObject(value) && Object.entries(entryShape).every(([name, check]) => check(value[name]));
}

/** For each kind of line, the members that the verifier reads, with their checks. */
const shapes: Readonly<Record<SealedLine['line'], Readonly<Record<string, Check>>>> = {
  export: { format: isCount, namespace: isText, at: isText, publicKey: optional(isText), withheld: Array.isArray },
  run: {
    run: isCount,
    workflowId: isText,
    firstRunId: isText,
    workflowType: isText,
    committed: isFlag,
    before: optional(isTree),
  },
  gap: { run: isCount, first: isCount, last: isCount, why: isText },
  entry: {
    run: isCount,
    workflowId: isText,
    ...entryShape,
    context: (value) => isObject(value) && isText(value['runId']),
  },
  activity: { run: isCount, callId: isText },
  evidence: { run: isCount, part: isText, key: isText },
  head: { run: isCount, status: isText, size: isCount, root: isHash, recorded: optional(isHead) },
  end: { runs: isCount, entries: isCount },
};

/** Returns what is wrong with the members that the verifier reads, if anything. */
function shapeProblem(value: unknown): string | undefined {
  if (!isObject(value)) return 'it is not a JSON object';
  const { line, proof } = value;
  if (!isText(line) || !Object.hasOwn(shapes, line as string)) return `it has no known 'line'`;
  const wrong = Object.entries(shapes[line as SealedLine['line']]).find(([name, check]) => !check(value[name]));
  if (wrong !== undefined) return `'${wrong[0]}' is missing or has another form`;
  if (isHead(proof) && optional(isText)((proof as { signature?: unknown }).signature)) return undefined;
  return `'proof' is missing or has another form`;
}

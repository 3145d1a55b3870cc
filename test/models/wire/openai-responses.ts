import { createOpenAI } from '@ai-sdk/openai';
import { responsesFiles } from './file-rules.ts';
import { strictProblems } from './openai-chat.ts';
import {
  functionId,
  messageId,
  outputOf,
  reasoningId,
  responseEvents,
  responseOf,
  type Body,
  type OutputItem,
  type SentItem,
} from './openai-responses-output.ts';
import {
  firstOf,
  identifier,
  matchTurns,
  parseArguments,
  repeated,
  type GivenTurn,
  type WireProtocol,
} from './wire-protocol.ts';

// The rules are those of https://platform.openai.com/docs/api-reference/responses/create and
// https://platform.openai.com/docs/guides/reasoning#keeping-reasoning-items-in-context.

export const openaiResponses: WireProtocol = {
  path: /^\/v1\/responses$/,
  createModel: (url, thinks) =>
    createOpenAI({ baseURL: `${url}/v1`, apiKey: 'none' }).responses(thinks ? 'gpt-5-mini' : 'gpt-4.1'),
  callId: (turn, index) => `call_${identifier(`responses ${turn} ${index}`, 24)}`,
  wantsStream: (body) => (body as Body).stream === true,
  check: (body, given) => firstOf(problemsOf(body as Body, given)),
  refusal: (message) => ({ error: { message, type: 'invalid_request_error', param: 'input', code: null } }),
  whole: responseOf,
  events: responseEvents,
};

function* problemsOf(body: Body, given: readonly GivenTurn[]): Iterable<string> {
  const { input, text: { format } = {} } = body;
  if (format?.schema !== undefined) yield* strictProblems({ name: '', ...format, schema: format.schema });
  if (input.length === 0) yield "Invalid 'input': empty array. Expected an array with minimum length 1.";
  yield* referenceProblems(body, given);
  const items = input.map((item) => (item.type === 'item_reference' ? itemOf(item.id!, given)! : item));
  for (const [at, item] of items.entries()) {
    yield* callProblems(at, items);
    yield* responsesFiles(at, (item as { content?: unknown }).content);
    yield* reasoningProblems(at, items, given);
    if (item.type === 'reasoning') yield* contentProblems(item, body, given);
  }
  yield* missingReasoning(input, items, given);
}

function itemOf(id: string, given: readonly GivenTurn[]): OutputItem | undefined {
  return given.flatMap((turn) => outputOf(turn)).find((item) => item.id === id);
}

/** True if the request that the item answers let the server store it. */
function isStored(id: string, given: readonly GivenTurn[]): boolean {
  return (
    itemOf(
      id,
      given.filter(({ request }) => (request as Body).store !== false),
    ) !== undefined
  );
}

function notFound(id: string, isKept: boolean): string {
  const advice = isKept
    ? ''
    : ' Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.';
  return `Item with id '${id}' not found.${advice}`;
}

function* referenceProblems({ input, store }: Body, given: readonly GivenTurn[]): Iterable<string> {
  for (const { type, id } of input) {
    if (type === 'item_reference' && !isStored(id!, given)) yield notFound(id!, store !== false);
  }
  for (const id of repeated(input.flatMap((item) => item.id ?? []))) {
    yield `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`;
  }
}

function* callProblems(at: number, items: readonly SentItem[]): Iterable<string> {
  const { type, call_id: id, name } = items[at]!;
  if (type !== 'function_call' && type !== 'function_call_output') return;
  const countOf = (wanted: string, among: readonly SentItem[]): number =>
    among.filter((item) => item.type === wanted && item.call_id === id).length;
  const before = items.slice(0, at);
  if (id === undefined || id.length > 64) {
    yield `Invalid 'input[${at}].call_id': string too long. Expected a string with maximum length 64, but got a string with length ${id?.length} instead.`;
  }
  if (type === 'function_call_output') {
    const isAnswering = countOf('function_call', before) > countOf(type, before);
    if (!isAnswering) yield `No tool call found for function call output with call_id ${id}.`;
    return;
  }
  if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name!)) {
    yield `Invalid 'input[${at}].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
  }
  if (countOf('function_call_output', items) < countOf(type, items)) {
    yield `No tool output found for function call ${id}.`;
  }
}

/** What the model gave comes in the order in which it gave it. */
function* reasoningProblems(at: number, items: readonly SentItem[], given: readonly GivenTurn[]): Iterable<string> {
  const item = items[at]!;
  if (item.type !== 'reasoning') return;
  const next = items[at + 1];
  const follows = next?.type === 'function_call' || next?.type === 'reasoning' || isAnswer(next);
  if (!follows) {
    const turn = given.find(({ signature }) => signature === item.encrypted_content);
    yield `Item '${item.id ?? reasoningId(turn?.number ?? 0)}' of type 'reasoning' was provided without its required following item.`;
  }
}

function isAnswer(item: SentItem | undefined): boolean {
  return item?.role === 'assistant';
}

function* contentProblems(item: SentItem, { store }: Body, given: readonly GivenTurn[]): Iterable<string> {
  const { id, encrypted_content: content } = item;
  const turn = given.find(({ number, signature }) =>
    id === undefined ? signature === content : reasoningId(number) === id,
  );
  if (content !== undefined && content !== null) {
    if (turn?.signature !== content) yield `The encrypted content for item ${id} could not be verified.`;
  } else if (turn === undefined || !isStored(id!, given)) {
    yield notFound(`${id}`, store !== false);
  }
}

function* missingReasoning(
  input: readonly SentItem[],
  items: readonly SentItem[],
  given: readonly GivenTurn[],
): Iterable<string> {
  const answers = answersOf(items);
  const turns = matchTurns(
    answers.map((answer) =>
      answer
        .filter(({ type }) => type === 'function_call')
        .map(({ call_id: id, name, arguments: text }) => ({ id, name: name!, args: parseArguments(text!) })),
    ),
    given,
  );
  for (const [index, answer] of answers.entries()) {
    const turn = turns[index];
    if (turn?.reasoning === undefined) continue;
    const first = answer.find(({ type }) => type !== 'reasoning');
    const before = answer.slice(0, answer.indexOf(first!));
    if (before.some((item) => isReasoningOf(item, turn))) continue;
    yield `Item '${functionId(turn.number, 0)}' of type 'function_call' was provided without its required 'reasoning' item: '${reasoningId(turn.number)}'.`;
  }
  for (const { type, id } of input) {
    const turn = given.find(({ number, reasoning }) => reasoning !== undefined && messageId(number) === id);
    if (type !== 'item_reference' || turn === undefined || items.some((item) => isReasoningOf(item, turn))) continue;
    yield `Item '${id}' of type 'message' was provided without its required 'reasoning' item: '${reasoningId(turn.number)}'.`;
  }
}

function isReasoningOf({ type, id, encrypted_content: content }: SentItem, { number, signature }: GivenTurn): boolean {
  return type === 'reasoning' && (id === undefined ? content === signature : id === reasoningId(number));
}

/** The items of each answer of the model: what stands between users and outputs. */
function answersOf(items: readonly SentItem[]): SentItem[][] {
  const answers: SentItem[][] = [[]];
  for (const item of items) {
    if (item.type === 'reasoning' || item.type === 'function_call' || isAnswer(item)) answers.at(-1)!.push(item);
    else answers.push([]);
  }
  return answers.filter((answer) => answer.length > 0);
}

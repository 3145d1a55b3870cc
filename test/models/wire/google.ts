import { createGoogle } from '@ai-sdk/google';
import { googleFiles } from './file-rules.ts';
import {
  firstOf,
  identifier,
  matchTurns,
  pieces,
  type GivenTurn,
  type WireEvent,
  type WireProtocol,
} from './wire-protocol.ts';

// The rules are those of https://ai.google.dev/api/caching#Content,
// https://ai.google.dev/gemini-api/docs/function-calling and
// https://ai.google.dev/gemini-api/docs/thought-signatures.

interface Part {
  text?: string;
  thought?: boolean;
  thoughtSignature?: string;
  functionCall?: { id?: string; name: string; args: unknown };
  functionResponse?: { id?: string; name: string; response: unknown };
}

interface Content {
  role: string;
  parts: Part[];
}

interface Body {
  contents: Content[];
  systemInstruction?: { parts: Part[] };
  tools?: object[];
  generationConfig?: { responseMimeType?: string };
}

/** Models before Gemini 3 refuse it: https://github.com/googleapis/js-genai/issues/727. */
export const jsonBesideTools = "Function calling with a response mime type: 'application/json' is unsupported";

export const google: WireProtocol = {
  path: /^\/v1beta\/models\/[^/]+:(?:generateContent|streamGenerateContent\?alt=sse)$/,
  createModel: (url, thinks) =>
    createGoogle({ baseURL: `${url}/v1beta`, apiKey: 'none' }).languageModel(
      thinks ? 'gemini-3-pro-preview' : 'gemini-2.5-flash',
    ),
  // Only Gemini 3 writes ids.
  callId: (turn, index, thinks) => (thinks ? identifier(`google ${turn} ${index}`, 8).toLowerCase() : undefined),
  signsEveryTurn: true,
  wantsStream: (_body, path) => path.includes(':streamGenerateContent'),
  check: (body, given) => firstOf(problemsOf(body as Body, given)),
  refusal: (message) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
  whole: (turn) => chunk(turn, partsOf(turn), true),
  events,
};

function* problemsOf(body: Body, given: readonly GivenTurn[]): Iterable<string> {
  const { contents, systemInstruction, tools = [], generationConfig } = body;
  if (tools.length > 0 && generationConfig?.responseMimeType !== undefined) yield jsonBesideTools;
  if (contents.length === 0) yield '* GenerateContentRequest.contents: contents is not specified\n';
  yield* emptyTexts(systemInstruction?.parts ?? []);
  for (const [at, { role, parts }] of contents.entries()) {
    if (role !== 'user' && role !== 'model') yield 'Please use a valid role: user, model.';
    if (parts.length === 0) {
      yield `* GenerateContentRequest.contents[${at}].parts: contents.parts must not be empty.\n`;
    }
    yield* emptyTexts(parts);
    yield* googleFiles(parts);
    yield* orderProblems(at, contents);
  }
  yield* signatureProblems(contents, given);
}

function* emptyTexts(parts: readonly Part[]): Iterable<string> {
  if (parts.some(({ text, thoughtSignature }) => text === '' && thoughtSignature === undefined)) {
    yield 'Unable to submit request because it has an empty text parameter. Add a value to the parameter and try again.';
  }
}

function callsOf(content: Content | undefined): NonNullable<Part['functionCall']>[] {
  return content?.parts.flatMap(({ functionCall }) => (functionCall === undefined ? [] : [functionCall])) ?? [];
}

function* orderProblems(at: number, contents: readonly Content[]): Iterable<string> {
  const content = contents[at]!;
  const asked = callsOf(contents[at - 1]);
  const answers = content.parts.flatMap(({ functionResponse }) =>
    functionResponse === undefined ? [] : [functionResponse],
  );
  if (callsOf(content).length > 0 && contents[at - 1]?.role !== 'user') {
    yield 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.';
  }
  if (answers.length > 0 && asked.length === 0) {
    yield 'Please ensure that function response turn comes immediately after a function call turn.';
  }
  const isOpen = at === contents.length - 1 && callsOf(content).length > 0;
  if (answers.length !== asked.length || isOpen) {
    yield 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
  }
  for (const [index, { id, name }] of asked.entries()) {
    const answer = answers[index]!;
    const sameId = id === undefined || answer.id === undefined || id === answer.id;
    if (answer.name !== name || !sameId) {
      yield `Please ensure that function response parts come in the order of the function call parts: found ${answer.name} where ${name} was called.`;
    }
  }
}

const sentinel = 'skip_thought_signature_validator';

/** The sentinel is accepted by the provider, but the model goes on without what it thought. */
function* signatureProblems(contents: readonly Content[], given: readonly GivenTurn[]): Iterable<string> {
  const known = new Set(given.map(({ signature }) => signature));
  for (const { thoughtSignature } of contents.flatMap(({ parts }) => parts)) {
    if (thoughtSignature === sentinel) yield `A functionCall part has ${sentinel} for its thought signature.`;
    if (thoughtSignature !== undefined && !known.has(thoughtSignature)) yield 'Corrupted thought signature.';
  }
  if (!given.some(({ signature }) => signature !== undefined)) return;
  const matches = matchTurns(
    contents.map((content) => callsOf(content).map(({ id, name, args }) => ({ id, name, args }))),
    given,
  );
  for (const [at, { parts }] of contents.entries()) {
    // The first call of each step has the signature.
    const first = parts.find(({ functionCall }) => functionCall !== undefined);
    if (first === undefined) continue;
    const { thoughtSignature } = first;
    if (thoughtSignature === undefined) {
      yield `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${first.functionCall!.name}\` , position ${at + 1}.`;
    } else if (thoughtSignature !== (matches[at]?.signature ?? thoughtSignature)) {
      yield 'Corrupted thought signature.';
    }
  }
}

/** The first call carries the signature; without calls, the text does. */
function partsOf({ reasoning, text, calls, signature }: GivenTurn): Part[] {
  const signed = signature === undefined ? {} : { thoughtSignature: signature };
  return [
    ...(reasoning === undefined ? [] : [{ text: reasoning, thought: true }]),
    ...(text === '' ? [] : [{ text, ...(calls.length === 0 ? signed : {}) }]),
    ...calls.map(({ id, name, args }, index) => ({
      functionCall: { ...(id === undefined ? {} : { id }), name, args },
      ...(index === 0 ? signed : {}),
    })),
  ];
}

const finishReasons = { length: 'MAX_TOKENS', 'content-filter': 'SAFETY' };

function chunk({ number, finish }: GivenTurn, parts: readonly Part[], isLast: boolean): object {
  const reason = finish === undefined ? 'STOP' : finishReasons[finish];
  return {
    candidates: [{ content: { role: 'model', parts }, index: 0, ...(isLast ? { finishReason: reason } : {}) }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    modelVersion: 'wire',
    responseId: identifier(`response ${number}`, 20),
  };
}

/** A stream gives the signature of a text in a last part without text. */
function events(turn: GivenTurn): WireEvent[] {
  const streamed = partsOf(turn).flatMap((part): Part[] => {
    const { text, thoughtSignature, ...rest } = part;
    if (text === undefined) return [part];
    const signed = thoughtSignature === undefined ? [] : [{ text: '', thoughtSignature }];
    return [...pieces(text).map((piece) => ({ text: piece, ...rest })), ...signed];
  });
  const last = streamed.length === 0 ? [{ text: '' }] : [];
  return [...streamed, ...last].map((part, index, { length }) => ({ data: chunk(turn, [part], index === length - 1) }));
}

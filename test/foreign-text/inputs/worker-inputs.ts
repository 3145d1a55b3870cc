import { z } from 'zod';
import { boundCalls, checkInput, checkOutput } from '../../../src/activities/call-model.ts';
import { startOfText, describeCalls } from '../../../src/activities/check-calls.ts';
import { findTools } from '../../../src/activities/load-agent.ts';
import type { ModelCall } from '../../../src/activities/model-turn.ts';
import { redactCall, redactCalls, shownBeside } from '../../../src/activities/redact-calls.ts';
import { notAsRecorded, unavailable } from '../../../src/activities/call-tool.ts';
import { toolNameOf } from '../../../src/agents/agent-tool.ts';
import { checkToolName, validateArguments } from '../../../src/agents/define-tool.ts';
import { describeIssues, parseWith } from '../../../src/agents/tool-schema.ts';
import { OpenToolsets } from '../../../src/agents/define-toolset.ts';
import { sensitiveKinds } from '../../../src/core/redact/kinds.ts';
import { inlineLimits } from '../../../src/core/base/size-limits.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { type Inputs, objects, pieces, type Run, values } from './input.ts';

const settings = { kinds: sensitiveKinds, patterns: [{ name: 'TICKET', pattern: '[A-Z]{2,5}-[0-9]{1,6}' }], also: [] };
/** Schemas that refuse, that take anything, and that try one branch after another. */
const schemas = [
  z.strictObject({ to: z.string().max(10), list: z.array(z.number()).optional() }),
  z.looseObject({}),
  z.object({ to: z.union([z.number(), z.literal('a'), z.array(z.string())]) }),
] as const;
const parsed = (use: (schema: (typeof schemas)[number], args: JsonObject) => unknown): Run[] =>
  schemas.flatMap((schema) => objects((args) => use(schema, args)));
const tool = (input: (typeof schemas)[number]) => ({ name: 'pay', input }) as never;
const called = (tool: string, args: JsonObject): ModelCall => ({ id: '1', tool, args });
const callsOf = (text: string): ModelCall[] =>
  pieces(text).map((piece) => called(piece, { password: piece, to: piece }));
const toolsets = new OpenToolsets([]);
const registry = { tool: () => undefined, toolsets } as never;
const context = {
  cancellationSignal: new AbortController().signal,
  info: { attempt: 1 },
  log: { warn: () => undefined },
} as never;
const turn = (text: string) => ({ text, calls: [], finishReason: 'stop' as const });

export const workerInputs: Inputs = {
  'activities/call-model.ts boundCalls': [
    (text) => boundCalls(callsOf(text), { limits: inlineLimits, besideBytes: 0 }),
    (text) => boundCalls([called(text, { to: text })], { limits: inlineLimits, besideBytes: 0, thresholdBytes: 1_000 }),
  ],
  'activities/check-calls.ts startOfText': values((value) => startOfText(value, 2_000)),
  'activities/call-model.ts checkInput': (text) =>
    checkInput(
      { name: 'a', checkInput: () => text },
      pieces(text).map((content) => ({ role: 'user' as const, content })),
      context,
    ),
  'activities/call-model.ts checkOutput': schemas.flatMap((output): Run[] => [
    ...objects((value) => checkOutput(turn(JSON.stringify(value)), { name: 'a', output }, { messages: [] })),
    (text) => checkOutput(turn(text), { name: 'a', output }, { messages: [] }),
  ]),
  'activities/check-calls.ts describeCalls': [
    (text) => describeCalls([called('pay', { to: text })], () => ({ describe: ({ to }: JsonObject) => to }) as never),
    (text) => describeCalls(callsOf(text), () => undefined),
  ],
  'activities/load-agent.ts findTools': (text) => findTools(registry, [text, ...pieces(text)]),
  'activities/redact-calls.ts redactCalls': (text) => redactCalls(callsOf(text), () => undefined, settings),
  'activities/redact-calls.ts redactCall': objects((args) =>
    redactCall(args, { subject: 'to', shellSubject: true } as never, settings),
  ),
  'activities/redact-calls.ts shownBeside': [
    (text) => shownBeside(text, { messages: [], redact: settings }, []),
    (text) => {
      const calls = redactCalls(
        [called('pay', { password: text }), called('pay', { password: text })],
        () => undefined,
        settings,
      );
      return shownBeside(text, { messages: [], redact: settings }, calls);
    },
  ],
  'activities/call-tool.ts unavailable': unavailable,
  'activities/call-tool.ts notAsRecorded': notAsRecorded,
  'agents/agent-tool.ts toolNameOf': toolNameOf,
  'agents/define-tool.ts checkToolName': checkToolName,
  'agents/tool-schema.ts describeIssues': [
    (text) => describeIssues('a', [{ message: text, path: [text] }]),
    (text) =>
      describeIssues(
        'a',
        pieces(text).map((message) => ({ message, path: [message] })),
      ),
    (text) => describeIssues(text, [{ message: text, errors: [[{ message: text, path: [text] }]] }], pieces(text)),
  ],
  'agents/define-toolset.ts OpenToolsets.owns': [(text) => toolsets.owns(text), (text) => toolsets.owns(`a__${text}`)],
  'agents/tool-schema.ts parseWith': parsed((schema, args) => parseWith('arguments', schema, args)),
  'agents/define-tool.ts validateArguments': {
    places: 3,
    runs: parsed((schema, args) => validateArguments(tool(schema), args)),
  },
};

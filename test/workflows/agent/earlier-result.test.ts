import { expect, test } from 'vitest';
import { policyDigest } from '../../../src/core/policy/policy.ts';
import type { Json, ToolDefinition } from '../../../src/core/base/tool-call.ts';
import type { KeptMessage } from '../../../src/activities/model-turn.ts';
import { earlierResult, keepResult, noteStart } from '../../../src/workflows/agent/result-cache.ts';
import type { RunState } from '../../../src/workflows/agent/run-state.ts';

/** Which results a run keeps, and which of them answer. */

const tool = (more: Partial<ToolDefinition> = {}): ToolDefinition => ({
  name: 'look',
  description: '',
  schema: {},
  risk: 'read_only',
  cache: 'session',
  idempotent: false,
  heartbeatTimeoutMs: null,
  timeoutMs: 1_000,
  definition: '',
  ...more,
});

/** In turn 3, with `results` of call 1.1 at place 2. */
const stateOf = (more: Partial<RunState> = {}, tools = [tool()]): RunState => ({
  config: {
    agent: 'a',
    instructions: '',
    tools,
    maxTurns: 9,
    policyDigest: policyDigest({}),
    engine: 1,
    auditSalt: '0'.repeat(64),
    continueAsNewAfter: { historyEvents: 1, updates: 1 },
  },
  messages: [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: '' },
    { role: 'tool', toolCallId: '1', toolName: 'look', content: 'a sentence\nseen' },
  ] satisfies KeptMessage[],
  turn: 3,
  calls: [],
  usage: { inputTokens: 0, outputTokens: 0 },
  executions: 1,
  results: { agent: 'a', calls: [{ callId: '1.1', digest: 'd', place: 2, from: 11 }] },
  ...more,
});

test.each<[name: string, state: RunState, called: ToolDefinition, content: string | undefined]>([
  ['an equal call', stateOf(), tool(), 'seen'],
  ['a tool that is no longer one that only reads', stateOf(), tool({ risk: 'write' }), undefined],
  ['a tool that declares none', stateOf(), tool({ cache: undefined }), undefined],
  ['another agent', stateOf({ results: { ...stateOf().results!, agent: 'b' } }), tool(), undefined],
  ['a message that is not there yet', stateOf({ messages: stateOf().messages.slice(0, 2) }), tool(), undefined],
  [
    'a place of another message',
    stateOf({ messages: stateOf().messages.map(() => ({ role: 'user', content: 'x' })) }),
    tool(),
    undefined,
  ],
  ['a session after its user has written', stateOf({ askedAfterTurn: 1 }), tool(), 'seen'],
  ['a run after its user has written', stateOf({ askedAfterTurn: 1 }), tool({ cache: 'run' }), undefined],
  ['a run before that', stateOf(), tool({ cache: 'run' }), 'seen'],
  [
    'a message that a starter brought, and a state without kept results',
    stateOf({ results: undefined }),
    tool(),
    undefined,
  ],
])('%s', (_name, state, called, content) => {
  const found = content === undefined ? undefined : { callId: '1.1', content };
  expect(earlierResult(state, called, 'd')).toEqual(found);
  expect(earlierResult(state, called, 'e')).toBeUndefined();
});

test.each<[name: string, started: ToolDefinition, isKept: boolean]>([
  ['reads', tool({ cache: undefined }), true],
  ['writes', tool({ risk: 'write', cache: undefined }), false],
  ['says that it caches what it writes', tool({ risk: 'write' }), false],
  ['has an unknown risk', tool({ risk: 'unknown' }), false],
  ['is an agent, whatever it declares', tool({ agent: 'b' }), false],
])('a call starts whose tool %s', (_name, started, isKept) => {
  const state = stateOf();
  noteStart(state, started);
  expect(state.results?.calls).toHaveLength(isKept ? 1 : 0);
  // Nothing of the same turn is kept.
  keepResult(state, tool(), { index: 0, digest: 'e', call: { callId: '3.1', tool: 'look', args: {} } });
  expect(state.results?.calls.map(({ digest }) => digest)).toEqual(isKept ? ['d', 'e'] : []);
  state.turn = 4;
  keepResult(state, tool(), { index: 1, digest: 'f', call: { callId: '4.2', tool: 'look', args: {} }, notice: 'new' });
  expect(state.results?.calls.at(-1)).toEqual({ callId: '4.2', digest: 'f', place: 4, from: 4 });
});

test('a run whose tools declare no cache keeps nothing at all', () => {
  const state = stateOf({ results: undefined }, [tool({ cache: undefined })]);
  const before = JSON.stringify(state) as Json;
  noteStart(state, tool({ risk: 'write', cache: undefined }));
  keepResult(state, tool({ cache: undefined }), {
    index: 0,
    digest: 'e',
    call: { callId: '3.1', tool: 'look', args: {} },
  });
  expect(JSON.stringify(state)).toBe(before);
});

test('the last hundred results are kept, each digest once', () => {
  const state = stateOf();
  for (let index = 0; index < 150; index++) {
    const digest = index % 5 === 0 ? 'same' : `d${index}`;
    keepResult(state, tool(), { index, digest, call: { callId: `3.${index}`, tool: 'look', args: {} } });
  }
  const { calls } = state.results!;
  expect(calls).toHaveLength(100);
  expect(calls.filter(({ digest }) => digest === 'same')).toMatchObject([{ callId: '3.145' }]);
  expect(JSON.stringify(state.results).length).toBeLessThan(12_000);
});

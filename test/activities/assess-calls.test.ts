import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { assessCalls } from '../../src/activities/assess-calls.ts';
import type { ModelCall } from '../../src/activities/model-turn.ts';
import type { Assessor } from '../../src/agents/advisor.ts';
import { defineTool } from '../../src/agents/define-tool.ts';
import type { Assessment } from '../../src/core/assess/assessment.ts';

const deploy = defineTool({
  name: 'deploy',
  description: '',
  input: z.object({ target: z.string() }),
  execute: () => null,
});
const wipe = defineTool({
  name: 'delete_file',
  description: '',
  input: z.object({ path: z.string() }),
  risk: 'destructive',
  execute: () => null,
});
const toolNamed = (name: string) => [deploy, wipe].find((tool) => tool.name === name);
const call: ModelCall = { id: 'c', tool: 'deploy', args: { target: 'production' } };

const assessed = async (
  assessors: Assessor[],
  calls: ModelCall[] = [call],
  { signal = new AbortController().signal, timeoutMs = 10_000 } = {},
): Promise<(Assessment | undefined)[]> =>
  (await assessCalls(calls, { toolNamed, assessors, agent: 'releaser', signal, timeoutMs })).map(
    ({ assessment }) => assessment,
  );

const full: Assessment = {
  severity: 'critical',
  reasons: ['the release is frozen'],
  affectedResources: ['env:production'],
  reversible: false,
  recommendations: ['Wait for Monday.'],
  requiresApproval: true,
};
/** The assessment that the run records. It says which texts come from the worker's assessor. */
const recorded: Assessment = { ...full, fromWorker: [...full.reasons, ...full.recommendations] };
const high = (reason: string): Assessment => ({
  severity: 'high',
  reasons: [reason],
  affectedResources: [],
  reversible: true,
  recommendations: [],
  requiresApproval: true,
});

const failed = (reason: string): Assessment => ({ ...high(reason), reversible: false });

describe('the result of an assessor', () => {
  const freeze: Assessor = () => 'soon' as never;
  test.each<[string, Assessor, Assessment | undefined]>([
    ['nothing', () => undefined, undefined],
    ['a whole assessment', () => full, recorded],
    ['a promise of one', () => Promise.resolve(full), recorded],
    ['a severity alone', () => ({ severity: 'high' }), { ...high(''), reasons: [] }],
    ['a low one', () => ({ severity: 'low' }), { ...high(''), severity: 'low', reasons: [], requiresApproval: false }],
    [
      'reasons alone',
      () => ({ reasons: ['a note'] }),
      { ...high('a note'), severity: 'safe', requiresApproval: false, fromWorker: ['a note'] },
    ],
    [
      'only that it cannot be undone',
      () => ({ reversible: false }),
      { ...high(''), severity: 'safe', reasons: [], reversible: false, requiresApproval: false },
    ],
    ['no assessment', freeze, failed('assessor freeze gave no assessment')],
    ['another severity', () => ({ severity: 'huge' as never }), failed('assessor #1 gave no assessment')],
    ['an unknown key', () => ({ risk: 'low' }) as never, failed('assessor #1 gave no assessment')],
    [
      'an error',
      () => {
        throw new TypeError('key sk-1');
      },
      failed('assessor #1 failed: TypeError'),
    ],
    ['a rejection that is no error', () => Promise.reject('sk-1'), failed('assessor #1 failed: string')],
  ])('%s', async (_, assessor, expected) => expect(await assessed([assessor])).toEqual([expected]));
});

test('an assessor that does not answer makes the call high, and is told to stop', async () => {
  let stopped = false;
  const slow: Assessor = ({ signal }) =>
    new Promise(() => signal.addEventListener('abort', () => void (stopped = true)));
  expect(await assessed([slow], [call], { timeoutMs: 20 })).toEqual([failed('assessor slow took longer than 20 ms')]);
  expect(stopped).toBe(true);
});

test('a cancelled activity ends without an assessment', async () => {
  const cancelled = new AbortController();
  const hangs: Assessor = () => {
    cancelled.abort(new Error('cancelled'));
    return new Promise<undefined>(() => undefined);
  };
  await expect(assessed([hangs], [call], { signal: cancelled.signal })).rejects.toThrow('cancelled');
});

test('an assessor gets the call, and a copy of its arguments', async () => {
  const args = { target: 'production' };
  const seen: unknown[] = [];
  const meddler: Assessor = ({ signal, ...rest }) => {
    seen.push({ ...rest, args: { ...rest.args } });
    rest.args['target'] = 'staging';
    expect(signal.aborted).toBe(false);
  };
  const [result] = await assessCalls([{ ...call, args }], {
    toolNamed,
    assessors: [meddler, meddler],
    agent: 'releaser',
    signal: new AbortController().signal,
  });
  const expected = { tool: 'deploy', args: { target: 'production' }, risk: 'write', agent: 'releaser' };
  expect(seen).toEqual([expected, expected]);
  expect(result).toEqual({ ...call, args: { target: 'production' } });
});

test('assessments are joined with the built-in ones, for each call separately', async () => {
  const calls: ModelCall[] = [
    { id: 'a', tool: 'delete_file', args: { path: 'x' } },
    { id: 'b', tool: 'deploy', args: { target: 'staging' } },
    { id: 'c', tool: 'deploy', raw: {}, problem: 'Error: …' },
    { id: 'd', tool: 'nothing', args: {} },
  ];
  const freeze: Assessor = ({ tool }) => (tool === 'delete_file' ? full : undefined);
  expect(await assessed([freeze], calls)).toEqual([
    {
      ...full,
      reasons: ['the release is frozen', 'it deletes files'],
      fromWorker: recorded.fromWorker!,
      affectedResources: ['env:production', 'file:x'],
      recommendations: ['Wait for Monday.', 'Check that there is a copy of what is deleted.'],
    },
    undefined,
    undefined,
    undefined,
  ]);
});

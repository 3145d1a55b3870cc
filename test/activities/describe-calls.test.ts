import { expect, test } from 'vitest';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger, type LogEntry } from '@temporalio/worker';
import { z } from 'zod';
import { describeCalls } from '../../src/activities/check-calls.ts';
import type { ModelCall } from '../../src/activities/model-turn.ts';
import { defineTool } from '../../src/agents/define-tool.ts';
import type { Tool } from '../../src/agents/definitions.ts';

const refund = (describe?: (args: { orderId: string; amount: number }) => unknown): Tool =>
  defineTool({
    name: 'refund',
    description: '',
    input: z.object({ orderId: z.string(), amount: z.number() }),
    describe: describe as (args: object) => string,
    execute: () => null,
  });
const args = { orderId: 'o-7', amount: 40 };
const call: ModelCall = { id: 'c', tool: 'refund', args };

const described = async (tool: Tool, calls = [call]): Promise<{ calls: ModelCall[]; warnings: string[] }> => {
  const warnings: string[] = [];
  const logger = new DefaultLogger('WARN', ({ message }: LogEntry) => void warnings.push(message));
  const environment = new MockActivityEnvironment({}, { logger });
  const toolNamed = (name: string): Tool | undefined => (name === tool.name ? tool : undefined);
  return { calls: await environment.run(() => describeCalls(calls, toolNamed)), warnings };
};

test.each<[string, (args: { orderId: string; amount: number }) => unknown, string]>([
  ['a sentence', ({ orderId, amount }) => `Refund €${amount} of order ${orderId}`, 'Refund €40 of order o-7'],
  ['a promise of one', ({ orderId }) => Promise.resolve(`Refund ${orderId}`), 'Refund o-7'],
  ['several lines', () => ' Refund\r\n  one\torder\u2028now ', 'Refund one order now'],
  ['one that is too long', () => 'a'.repeat(301), `${'a'.repeat(300)}…`],
  ['one that is cut within a pair', () => `${'a'.repeat(299)}😀b`, `${'a'.repeat(299)}…`],
  ['half a pair', () => 'a\uD83Db', 'a\uFFFDb'],
])('%s', async (_, describe, sentence) => {
  const { calls, warnings } = await described(refund(describe));
  expect(calls).toEqual([{ ...call, sentence }]);
  expect(warnings).toEqual([]);
});

test.each<[string, () => unknown, string]>([
  [
    'one that throws',
    () => {
      throw new RangeError('o-7 is secret');
    },
    'RangeError',
  ],
  ['one that rejects', () => Promise.reject(new Error('o-7 is secret')), 'Error'],
  ['one that throws no error', () => Promise.reject('o-7'), 'string'],
  ['a number', () => 7, 'TypeError'],
  ['nothing', () => undefined, 'TypeError'],
  ['one that never ends', () => new Promise(() => {}), 'it took longer than 1000 ms'],
])('%s: no sentence, a warning without values, and the call stands', async (_, describe, what) => {
  const { calls, warnings } = await described(refund(describe));
  expect(calls).toEqual([call]);
  expect(warnings).toEqual([`describe of tool 'refund' gave no sentence: ${what}`]);
});

test('an empty text is no sentence, and needs no warning', async () => {
  expect(await described(refund(() => ' \n'))).toEqual({ calls: [call], warnings: [] });
});

test('a change of the arguments stays in the copy', async () => {
  const { calls } = await described(refund((copy) => String((copy.amount = 1))));
  expect(calls).toEqual([{ ...call, args: { orderId: 'o-7', amount: 40 }, sentence: '1' }]);
});

test('not asked for a call that cannot run, nor without a describe', async () => {
  const refused: ModelCall = { id: 'c', tool: 'refund', raw: {}, problem: 'Error: arguments' };
  const unknown: ModelCall = { id: 'd', tool: 'other', args };
  const tool = refund(() => 'asked');
  expect((await described(tool, [refused, unknown])).calls).toEqual([refused, unknown]);
  expect((await described(refund())).calls).toEqual([call]);
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type CountersignClient, createClient } from '../../src/client/client.ts';
import type { ProblemCode } from '../../src/core/base/problem.ts';
import { type ForeignWorker, startForeignWorker } from '../support/foreign-worker.ts';
import { sharedAddress } from '../support/shared-server.ts';

/**
 * The server answers a known update id with the old result and does not ask the run. A refusal that says "repeat it"
 * must not be repeated by the server: the run looks at the message again. Any other refusal stays.
 */

let worker: ForeignWorker;
let client: CountersignClient;
beforeAll(async () => {
  worker = await startForeignWorker();
  client = await createClient({ address: sharedAddress(), taskQueue: worker.taskQueue });
}, 60_000);
afterAll(async () => {
  await client.close();
  await worker.close();
});

/** A workflow that refuses so many messages with this code, and takes those after them. */
async function refusing(times: number, code: ProblemCode) {
  const workflowId = `refusing-${randomUUID()}`;
  const { taskQueue } = worker;
  const handle = await client.session.client.workflow.start('refuses', { workflowId, taskQueue, args: [times, code] });
  return { workflowId, asked: () => handle.query<number>('asked'), end: () => handle.terminate() };
}
const decisionFor = (requestId = '1'.repeat(32)) => ({ requestId, approved: true, decisionId: 'the-same' });

const codes = ['rate_limited', 'internal', 'denied_by_policy', 'arguments_invalid'] as const;
const isTransient = (code: ProblemCode): boolean => code === 'rate_limited' || code === 'internal';

test.each(codes)('a decision refused with %s, and the same again', async (code) => {
  const { workflowId, asked, end } = await refusing(2, code);
  await expect(client.decide(decisionFor(), { workflowId })).rejects.toMatchObject({ code });
  expect(await asked()).toBe(isTransient(code) ? 2 : 1);
  const again = client.decide(decisionFor(), { workflowId });
  if (isTransient(code)) await expect(again).resolves.toMatchObject({ accepted: true });
  else await expect(again).rejects.toMatchObject({ code });
  expect(await asked()).toBe(isTransient(code) ? 3 : 1);
  await end();
});

test.each(codes)('one of a list refused with %s, and the list again', async (code) => {
  const { workflowId, asked, end } = await refusing(2, code);
  const list = ['1', '2', '3'].map((digit) => ({ ...decisionFor(digit.repeat(32)), decisionId: digit }));
  const first = await client.decide(list, { workflowId });
  // Once more at once, so that the first list that the run sees is not the only one.
  expect(first.map(({ accepted }) => accepted)).toEqual(isTransient(code) ? [true, true, true] : [false, false, true]);
  expect(await asked()).toBe(isTransient(code) ? 5 : 3);
  expect((await client.decide(list, { workflowId })).map(({ code: found }) => found)).toEqual(
    isTransient(code) ? [undefined, undefined, undefined] : [code, code, undefined],
  );
  await end();
});

test('a list of which the run knew nothing yet is sent again, and the run looks at it', async () => {
  const { workflowId, end } = await refusing(2, 'unknown_request');
  const list = ['1', '2'].map((digit) => ({ ...decisionFor(digit.repeat(32)), decisionId: digit }));
  expect(await client.decide(list, { workflowId })).toMatchObject([{ accepted: true }, { accepted: true }]);
  await end();
});

test('a change of the policy that could not be read, sent again under its id', async () => {
  const { workflowId, end } = await refusing(2, 'internal');
  const message = { mode: 'plan', messageId: 'one' } as const;
  await expect(client.setPolicy(workflowId, message)).rejects.toMatchObject({ code: 'internal' });
  await expect(client.setPolicy(workflowId, message)).resolves.toMatchObject({ accepted: true });
  await end();
});

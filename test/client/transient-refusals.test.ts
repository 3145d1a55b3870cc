import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { sendByUpdate } from '../../src/client/send/deliver.ts';
import type { CountersignClient } from '../../src/client/countersign-client.ts';
import type { ProblemCode } from '../../src/core/base/problem.ts';
import { type ForeignWorker, startForeignWorker } from '../support/foreign-worker.ts';
import { sharedAddress } from '../support/shared-server.ts';

/**
 * For a known update id the server returns the old result without asking the run. A refusal that asks for a repetition
 * must reach the run when it is repeated, so that the run evaluates the message again. Every other refusal is final.
 */

let worker: ForeignWorker;
let client: CountersignClient;
beforeAll(async () => {
  worker = await startForeignWorker();
  client = await createClient({ address: sharedAddress(), taskQueue: worker.taskQueue });
});
afterAll(async () => {
  await client.close();
  await worker.close();
});

/** Starts a workflow that refuses the first `times` messages with this code and accepts the following ones. */
async function refusing(times: number, code: ProblemCode) {
  const workflowId = `refusing-${randomUUID()}`;
  const { taskQueue } = worker;
  const handle = await client.session.client.workflow.start('refuses', { workflowId, taskQueue, args: [times, code] });
  return { workflowId, asked: () => handle.query<number>('asked'), end: () => handle.terminate() };
}
const decisionFor = (requestId = '1'.repeat(32)) => ({ requestId, approved: true, decisionId: 'the-same' });

const codes = ['rate_limited', 'internal', 'denied_by_policy', 'arguments_invalid'] as const;
const isTransient = (code: ProblemCode): boolean => code === 'rate_limited' || code === 'internal';

test.each(codes)('a decision refused with %s, sent again', async (code) => {
  const { workflowId, asked, end } = await refusing(2, code);
  await expect(client.decide(decisionFor(), { workflowId })).rejects.toMatchObject({ code });
  expect(await asked()).toBe(isTransient(code) ? 2 : 1);
  const again = client.decide(decisionFor(), { workflowId });
  if (isTransient(code)) await expect(again).resolves.toMatchObject({ accepted: true });
  else await expect(again).rejects.toMatchObject({ code });
  expect(await asked()).toBe(isTransient(code) ? 3 : 1);
  await end();
});

test.each(codes)('a list with an item refused with %s, sent again', async (code) => {
  const { workflowId, asked, end } = await refusing(2, code);
  const list = ['1', '2', '3'].map((digit) => ({ ...decisionFor(digit.repeat(32)), decisionId: digit }));
  const first = await client.decide(list, { workflowId });
  // Repeats at once, so that the run sees more lists than the first.
  expect(first.map(({ accepted }) => accepted)).toEqual(isTransient(code) ? [true, true, true] : [false, false, true]);
  expect(await asked()).toBe(isTransient(code) ? 5 : 3);
  expect((await client.decide(list, { workflowId })).map(({ code: found }) => found)).toEqual(
    isTransient(code) ? [undefined, undefined, undefined] : [code, code, undefined],
  );
  await end();
});

test('a list whose requests the run does not know yet is sent again and evaluated', async () => {
  const { workflowId, end } = await refusing(2, 'unknown_request');
  const list = ['1', '2'].map((digit) => ({ ...decisionFor(digit.repeat(32)), decisionId: digit }));
  expect(await client.decide(list, { workflowId })).toMatchObject([{ accepted: true }, { accepted: true }]);
  await end();
});

test('a policy change that could not be read, sent again under its id', async () => {
  const { workflowId, end } = await refusing(2, 'internal');
  const message = { mode: 'plan', messageId: 'one' } as const;
  await expect(client.setPolicy(workflowId, message)).rejects.toMatchObject({ code: 'internal' });
  await expect(client.setPolicy(workflowId, message)).resolves.toMatchObject({ accepted: true });
  await end();
});

test('the server refuses an update that no worker processed: no answer of the run, so a signal may follow', async () => {
  const { workflowId, end } = await refusing(1, 'UnprocessedUpdate' as ProblemCode);
  const sent = sendByUpdate(client.session, { workflowId, name: 'decide', payload: decisionFor() }, 5_000);
  await expect(sent).resolves.toEqual({ reason: expect.stringContaining('without the message'), silent: false });
  await end();
});

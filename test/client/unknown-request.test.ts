import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { Session } from '../../src/client/server/session.ts';
import { decideMany } from '../../src/client/send/decide.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { openWorld } from '../support/world.ts';

/** `unknown_request` is retried for three seconds, even if the run is known: a query may be ahead of the run. */

const world = forAllTests(() => openWorld());

const asking = async () => {
  const run = await world.start([{ calls: [{ tool: 'pay', args: { to: 'x', amount: 1 } }] }, { text: 'done' }]);
  const [request] = await run.open();
  return { run, requestId: request!.requestId, workflowId: run.workflowId };
};
const nobodys = (): string => randomUUID().replaceAll('-', '');

test('an unknown id is retried for 3 seconds and costs the run nothing', async () => {
  const { run, requestId, workflowId } = await asking();
  const before = (await run.handle.describe()).historyLength;
  const since = Date.now();
  await expect(world.client.decide({ requestId: nobodys(), approved: true }, { workflowId })).rejects.toMatchObject({
    code: 'unknown_request',
  });
  expect(Date.now() - since).toBeGreaterThanOrEqual(3_000);
  // A refused update occasionally leaves an empty workflow task; fifteen of them would leave fifteen.
  expect((await run.handle.describe()).historyLength - before).toBeLessThanOrEqual(3);
  await world.client.decide({ requestId, approved: true }, { workflowId });
  await run.result();
});

test('next to a known id: the known one is decided at once, and the unknown one is sent only once', async () => {
  const { run, requestId, workflowId } = await asking();
  const other = nobodys();
  const decisions = [other, requestId].map((id) => ({ requestId: id, approved: true }));
  expect(await world.client.decide(decisions, { workflowId })).toMatchObject([
    { requestId: other, accepted: false, code: 'unknown_request' },
    { requestId, accepted: true, outcome: 'approved' },
  ]);
  expect((await run.result()).status).toBe('completed');
  expect((await run.status()).refused.total).toBe(1);
});

/** This moment cannot be produced on purpose: the first answer is simulated here, the run gives all others. */
function forgetfulOnce(session: Session): Session {
  let answered = false;
  const workflow = Object.create(session.client.workflow, {
    getHandle: {
      value: (workflowId: string) => {
        const handle = session.client.workflow.getHandle(workflowId);
        const executeUpdate = (...args: Parameters<typeof handle.executeUpdate>): Promise<unknown> => {
          if (answered) return handle.executeUpdate(...args);
          answered = true;
          const cause = ApplicationFailure.nonRetryable('this run has no such request', 'unknown_request');
          return Promise.reject(new WorkflowUpdateFailedError('refused', cause));
        };
        return { ...handle, executeUpdate };
      },
    },
  }) as Session['client']['workflow'];
  return { ...session, client: Object.create(session.client, { workflow: { value: workflow } }) as Session['client'] };
}

test('a run that does not know the request yet is asked again', async () => {
  const { run, requestId, workflowId } = await asking();
  const [receipt] = await decideMany(forgetfulOnce(world.client.session), [{ requestId, approved: true }], {
    workflowId,
  });
  expect(receipt).toMatchObject({ accepted: true, outcome: 'approved' });
  expect((await run.result()).outcomes).toMatchObject([{ outcome: 'approved', ran: 'yes' }]);
});

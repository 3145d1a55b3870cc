import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { expect, test } from 'vitest';
import { activityNames, channelsWorkflowType, workflowType } from '../../src/contract.ts';
import { attributeNamesOf } from '../../src/connection/search-attributes.ts';
import { Undecodable } from '../../src/core/base/undecodable.ts';
import { activitySide } from '../../src/worker/activity-side.ts';

/** A worker that trusts runs of agents and no other workflow refuses to do this activity. */
function refusal(activityType: string, ofType: string, argument: unknown): Promise<unknown> {
  const { inbound } = activitySide({}, attributeNamesOf(undefined), undefined);
  const environment = new MockActivityEnvironment(
    { activityType, workflowType: ofType },
    { logger: new DefaultLogger('ERROR', () => undefined), interceptors: [() => ({ inbound })] },
  );
  return environment.run(async () => 'done', argument).catch((error: unknown) => error);
}

const damaged = new Undecodable(7, 'not JSON');
const { arbitrate, readParents, verifyCarried, lookAtRequests, channelDecide, callModel, checkEdit } = activityNames;

test.each([
  [arbitrate, 'orders', {}, 'forbidden'],
  [arbitrate, workflowType, damaged, 'undecodable'],
  [readParents, workflowType, damaged, 'undecodable'],
  [verifyCarried, 'orders', {}, 'forbidden'],
  [lookAtRequests, channelsWorkflowType, damaged, 'undecodable'],
  [channelDecide, channelsWorkflowType, damaged, 'undecodable'],
])('%s of %s, which must have an answer, is left to another worker', async (activity, type, argument, code) => {
  expect(await refusal(activity, type, argument)).toMatchObject({ type: code, nonRetryable: false });
});

test.each([
  [callModel, 'orders', {}, 'forbidden'],
  [checkEdit, workflowType, damaged, 'undecodable'],
])('%s of %s is refused for good', async (activity, type, argument, code) => {
  expect(await refusal(activity, type, argument)).toMatchObject({ type: code, nonRetryable: true });
});

test('what an agent run asks for is done', async () => {
  expect(await refusal(arbitrate, workflowType, {})).toBe('done');
});

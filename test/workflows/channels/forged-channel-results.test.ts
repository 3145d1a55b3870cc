/** Malformed results of the activities beside a run: its channels try again, as after a failed activity (I5). */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { activityNames, channelsWorkflowId } from '../../../src/contract.ts';
import { eventually } from '../../support/eventually.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { changed, type Forge, ForgingWorker, noResults, withoutFailedTask } from '../../support/forged-results.ts';
import type { RunInTest } from '../../support/world.ts';
import { openChannelStage } from './channel-stage.ts';
import { recordedChannel, type RecordedChannel } from './recorded-channel.ts';

const forging = new ForgingWorker();
const stage = forAllTests(() => openChannelStage({ interceptors: forging.interceptors }));
const filled = noResults.filter(([what]) => what !== 'an empty object');

/** Starts a run whose channels get a forged result of `activity` first. */
async function start(activity: string, forge: Forge, desk: RecordedChannel): Promise<RunInTest> {
  const workflowId = `run-${randomUUID()}`;
  forging.forge(channelsWorkflowId(workflowId), activity, forge);
  return stage.start({ desk }, { workflowId });
}

/** Answers the request, and waits until the run and its channels have ended. */
async function ends(run: RunInTest, desk: RecordedChannel): Promise<void> {
  const { outcomes } = await withoutFailedTask([run.handle, stage.channelsOf(run)], async () => {
    await eventually('it is asked', () => desk.asked.length > 0);
    desk.answer(true);
    return stage.ended(run);
  });
  expect(outcomes).toMatchObject([{ outcome: 'approved', ran: 'yes' }]);
  expect(desk.settlements.at(-1)!.settlement.outcome).toBe('approved');
}

describe('a look at the requests', () => {
  const member = (path: string, value: unknown): [string, Forge] => {
    const [what, forge] = changed(path, value);
    return [what, (result: object[]) => result.map((each) => forge(each as never))];
  };
  test.concurrent.each([
    ...noResults.filter(([what]) => what !== 'a list'),
    ['a list of null', () => [null]] as [string, Forge],
    member('requestId', 7),
    member('state', 'odd'),
    member('deadlineMs', 'soon'),
    member('names', 7),
    member('channels', 7),
    member('channels', [null]),
    member('channels', [{ name: 7, delayMs: 0 }]),
    member('tagsName', 7),
  ])('%s: the run is asked again', async (_, forge) => {
    const desk = recordedChannel();
    await ends(await start(activityNames.lookAtRequests, forge, desk), desk);
  });
});

test.concurrent.each([...filled, changed('rest', 7), changed('rest', {})])(
  'a message of a channel, %s: it is sent again',
  async (_, forge) => {
    const desk = recordedChannel();
    await ends(await start(activityNames.channelNotify, forge, desk), desk);
    expect(desk.notified.length).toBeGreaterThan(1);
  },
);

test.concurrent.each([...noResults, changed('accepted', 7), changed('message', 7), changed('code', 7)])(
  'the receipt of an answer, %s: the answer is sent again',
  async (_, forge) => {
    const desk = recordedChannel();
    await ends(await start(activityNames.channelDecide, forge, desk), desk);
    expect(desk.asked).toHaveLength(1);
  },
);

test.concurrent.each(filled)('the report of a settlement, %s: it is sent again', async (_, forge) => {
  const desk = recordedChannel();
  await ends(await start(activityNames.channelSettled, forge, desk), desk);
  expect(desk.settlements).toHaveLength(2);
});

/** Recorded sessions: runs that stay open for further messages of their user. */
import { eventually } from '../../../support/eventually.ts';
import { ask, continuedAsNew, finished, oneTaskMore, pay, yes, type RecordedRun } from './play-runs.ts';
import type { RunInTest, World } from '../../../support/world.ts';

const startSession = (world: World, ...turns: object[]): Promise<RunInTest> => world.start(turns, { session: true });

export const recordedSessions: RecordedRun[] = [
  {
    name: 'session',
    play: async (world) => {
      const run = await startSession(world, { text: 'one' }, { calls: [pay()] }, { text: 'two' }, { text: 'three' });
      await run.awaitsUser(1);
      await ask(run, 'message', { content: 'Pay ann.', by: 'carl', messageId: 'm-1' });
      const [request] = await run.open();
      // In the middle of a turn, refused, and repeated.
      await run.handle.signal('message', { content: 'Be quick.' });
      await run.handle.signal('message', { content: '' });
      await run.handle.signal('message', { content: 'Pay ann.', by: 'carl', messageId: 'm-1' });
      await run.handle.signal('decide', yes(request!));
      await run.awaitsUser(3);
      await run.handle.signal('message', { content: 'Thanks.' });
      await run.awaitsUser(4);
      await run.handle.signal('close', { by: 'carl' });
      return finished(run);
    },
  },
  {
    name: 'session-with-a-failed-turn',
    play: async (world) => {
      const run = await startSession(world, { text: 'one' }, { error: { status: 401 } });
      await run.awaitsUser(1);
      await ask(run, 'message', { content: 'Pay ann.', by: 'carl' });
      for (const count of [1, 2]) {
        await eventually('the turn fails', async () => {
          const { executions } = await world.client.historyChain(run.workflowId);
          const { events } = executions.at(-1)!;
          const failed = events.filter((event) => event.activityTaskFailedEventAttributes != null).length;
          return failed === count && (await run.status()).failedTurn !== undefined;
        });
        if (count === 1) await ask(run, 'message', { retry: true, messageId: 'm-1' });
      }
      await run.handle.signal('close', { by: 'carl' });
      return finished(run);
    },
  },
  {
    name: 'session-with-a-stopped-turn',
    play: async (world) => {
      const slow = { text: 'never', delayMs: 86_400_000 };
      const run = await startSession(world, { text: 'one' }, { calls: [pay()] }, slow);
      await run.awaitsUser(1);
      await ask(run, 'message', { content: 'Pay ann.', by: 'carl' });
      await run.open();
      await run.handle.signal('message', { content: 'Be quick.' });
      await run.handle.signal('message', { stop: true, by: 'carl' });
      await ask(run, 'message', { content: 'Are you there?' });
      await eventually('the model is asked', async () => {
        const { raw } = await run.handle.describe();
        return raw.pendingActivities?.some((each) => each.lastStartedTime != null);
      });
      await ask(run, 'message', { stop: true, messageId: 'm-1' });
      await ask(run, 'message', { stop: true, messageId: 'm-1' });
      await run.handle.signal('message', { stop: true });
      await run.handle.signal('close', { by: 'carl' });
      return finished(run);
    },
  },
  {
    name: 'session',
    waiting: true,
    world: { continueAsNewAfter: { historyEvents: 30 } },
    play: async (world) => {
      const run = await startSession(world, { text: 'one' }, { calls: [pay()] }, { text: 'two' }, { text: 'three' });
      await run.awaitsUser(1);
      await continuedAsNew(world, run);
      await run.handle.signal('message', { content: 'Pay ann.' });
      const [request] = await run.open();
      await run.handle.signal('message', { content: 'Be quick.' });
      await continuedAsNew(world, run, 3);
      await run.handle.signal('decide', yes(request!));
      await run.awaitsUser(3);
      await oneTaskMore(world, run);
      return run;
    },
  },
];

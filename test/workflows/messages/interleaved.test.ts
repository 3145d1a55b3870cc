import { expect, test } from 'vitest';
import { journalIn } from '../../../src/client/history/written-by-gate.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import type { RunInTest, Turns } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/**
 * The runs of a worker share the preloaded modules of the bundle, which hold no state. Two runs under different
 * policies, interleaved step by step in one worker, must behave as each does alone (I12).
 */

interface Story {
  turns: Turns;
  policy: JsonObject;
  /** Answers, in the order of the requests. */
  answers: { approved: boolean; always?: boolean | object; reason?: string }[];
}

const pay = (to: string, amount: number) => ({ tool: 'pay', args: { to, amount } });
const bash = (command: string) => ({ tool: 'bash', args: { command } });

const stories: [Story, Story] = [
  {
    turns: [
      { calls: [pay('ann', 5), bash('git status')] },
      { calls: [pay('ann', 500), bash('git push')] },
      { calls: [pay('ann', 7)] },
      { text: 'one: {{lastResult}}' },
    ],
    policy: {
      version: 1,
      mode: 'confirm_all',
      rules: [
        { pattern: 'bash:git status*', action: 'allow' },
        { id: 'large', pattern: 'pay', when: 'args.amount > 100', action: 'deny', reason: 'Too much' },
      ],
    },
    answers: [{ approved: true }, { approved: true }, { approved: false, reason: 'no pushing' }, { approved: true }],
  },
  {
    turns: [
      { calls: [pay('ann', 5), bash('rm -rf /')] },
      { calls: [pay('ann', 500), bash('git push')] },
      { calls: [pay('ann', 7)] },
      { text: 'two: {{lastResult}}' },
    ],
    policy: {
      version: 1,
      rules: [
        { pattern: 'bash:rm *', action: 'deny', reason: 'Not that' },
        { id: 'small', pattern: 'pay', when: 'args.amount < 100', action: 'allow' },
        { pattern: 'pay:ann', args: { amount: '500' }, action: 'ask' },
      ],
    },
    answers: [{ approved: true, always: true }, { approved: true }, { approved: true }],
  },
];

const world = forAllTests(() => openWorld());

const start = ({ turns, policy }: Story): Promise<RunInTest> => world.start(turns, { policy });

/**
 * Answers the request that has waited longest, after every call that may run has ended: calls run concurrently with
 * answers, and their order in the journal depends on the machine. False when the run has ended.
 */
async function step(run: RunInTest, answers: Story['answers']): Promise<boolean> {
  const waiting = await eventually('a question or the end', async () => {
    const { status, outcomes } = await run.status();
    const isQuiet = status === 'waiting' && outcomes.every(({ ran }) => ran !== 'pending');
    return status === 'completed' || isQuiet ? { status } : undefined;
  });
  if (waiting.status === 'completed') return false;
  const [request] = await run.open();
  const answer = answers.shift() ?? { approved: false };
  await run.handle.executeUpdate('decide', { args: [{ requestId: request!.requestId, reviewerId: 'ann', ...answer }] });
  return true;
}

/** Everything that the run recorded and was told, without its own ids and times. */
async function told(run: RunInTest): Promise<unknown> {
  const { output } = await run.result();
  const { executions } = await world.client.historyChain(run.workflowId);
  const entries = executions.flatMap(({ events }) => events.flatMap(journalIn));
  const bySeq = new Map(
    entries.map(({ requestId: _id, grantId: _grant, byId: _by, at: _at, deadline: _due, ...rest }) => [rest.seq, rest]),
  );
  const transcript = await run.handle.query<{ content: string }[]>('transcript');
  return { output, entries: [...bySeq.values()], transcript: transcript.map(({ content }) => content) };
}

test('two interleaved runs in one worker, and each of them alone', async () => {
  const alone: unknown[] = [];
  for (const story of stories) {
    const run = await start(story);
    const answers = [...story.answers];
    while (await step(run, answers));
    alone.push(await told(run));
    // Restarts the worker, so that the next run finds one without any history.
    await world.stopWorker();
    await world.startWorker();
  }
  const runs = await Promise.all(stories.map((story) => start(story)));
  const answers = stories.map((story) => [...story.answers]);
  for (let going = [0, 1]; going.length > 0;) {
    const still: number[] = [];
    for (const each of going) if (await step(runs[each]!, answers[each]!)) still.push(each);
    going = still;
  }
  expect(await Promise.all(runs.map((run) => told(run)))).toEqual(alone);
  expect(alone[0]).not.toEqual(alone[1]);
});

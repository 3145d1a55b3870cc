import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Decision, Receipt } from '../../../src/contract.ts';
import { isProblemError } from '../../../src/core/base/problem.ts';
import { startDevServer } from '../../../packages/cli/src/dev-server/start-dev-server.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import type { RunInTest } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';
import { startAgain } from '../../support/start-on.ts';

/**
 * Concurrent decisions: two people at once (I3), one decision by update and by signal, and a decision whose worker or
 * server goes away (I7).
 */

const payAll = (to: string, count: number) => [
  { calls: Array.from({ length: count }, (_, amount) => ({ tool: 'pay', args: { to, amount } })) },
  { text: 'done' },
];

const world = forAllTests(() => openWorld());

const paid = (to: string): string[] => world.ran().filter((line) => line.startsWith(`pay ${to} `));

describe('opposite answers from two people at once', () => {
  const rounds = 3;
  /** A run may have at most ten updates in flight. */
  const pairs = 4;

  interface Answer {
    decision: Decision;
    learned: { receipt: Receipt } | { code: string; message: string };
  }

  const byClient = async (run: RunInTest, decision: Decision): Promise<Answer> => {
    try {
      return { decision, learned: { receipt: await world.client.decide(decision, { workflowId: run.workflowId }) } };
    } catch (error) {
      if (isProblemError(error)) return { decision, learned: error };
      throw error;
    }
  };

  test('by update: one wins, and both learn which', async () => {
    for (let round = 0; round < rounds; round++) {
      const to = `opposite ${round}`;
      const run = await world.start(payAll(to, pairs * 2));
      const requests = await run.open(pairs * 2);
      const answers: Answer[] = [];
      for (let from = 0; from < requests.length; from += pairs) {
        const sent = requests.slice(from, from + pairs).flatMap(({ requestId }, index) => {
          const yes = { requestId, approved: true, reviewerId: 'ann' };
          const no = { requestId, approved: false, reviewerId: 'bob' };
          return index % 2 === 0 ? [byClient(run, yes), byClient(run, no)] : [byClient(run, no), byClient(run, yes)];
        });
        answers.push(...(await Promise.all(sent)));
      }
      const { outcomes } = await run.result();
      for (const { requestId, arguments: args } of requests) {
        const { outcome, ran } = outcomes.find((each) => each.requestId === requestId)!;
        const both = answers.filter(({ decision }) => decision.requestId === requestId);
        const winner = both.find(({ learned }) => 'receipt' in learned)!;
        const loser = both.find(({ learned }) => !('receipt' in learned))!;
        expect([outcome, ran]).toEqual(winner.decision.approved ? ['approved', 'yes'] : ['denied', 'no']);
        expect(winner.learned).toMatchObject({ receipt: { accepted: true, outcome } });
        const sentence = `already settled by ${winner.decision.reviewerId}: ${outcome}`;
        expect(loser.learned).toMatchObject({
          code: 'already_settled',
          message: expect.stringContaining(sentence),
        });
        const line = `pay ${to} ${JSON.stringify(args['amount'])}`;
        expect(paid(to).filter((each) => each === line)).toHaveLength(outcome === 'approved' ? 1 : 0);
      }
    }
  });

  test('by signal against update: one wins, and the sender of the update learns which', async () => {
    const to = 'signal against update';
    const run = await world.start(payAll(to, 8));
    const requests = await run.open(8);
    const answers = await Promise.all(
      requests.map(async ({ requestId }) => {
        const [answer] = await Promise.all([
          byClient(run, { requestId, approved: true, reviewerId: 'ann' }),
          run.handle.signal('decide', { requestId, approved: false, reviewerId: 'bob' }),
        ]);
        return answer;
      }),
    );
    const { outcomes } = await run.result();
    for (const { decision, learned } of answers) {
      const { outcome } = outcomes.find(({ requestId }) => requestId === decision.requestId)!;
      if ('receipt' in learned) expect(outcome).toBe('approved');
      else expect([learned.code, outcome]).toEqual(['already_settled', 'denied']);
    }
    expect(paid(to)).toHaveLength(outcomes.filter(({ outcome }) => outcome === 'approved').length);
    const lateSignals = answers.filter(({ learned }) => 'receipt' in learned).length;
    const { executions } = await world.client.historyChain(run.workflowId);
    // An update that arrived in the same task as the signal is accepted and fails; a refused one leaves nothing.
    const failedUpdates = executions
      .flatMap(({ events }) => events)
      .filter((event) => event.workflowExecutionUpdateCompletedEventAttributes?.outcome?.failure != null).length;
    expect((await run.status()).refused.total).toBe(lateSignals + failedUpdates);
  });
});

describe('one decision by update and by signal, with the worker down in between', () => {
  test.each([
    ['the signal first', true],
    ['the update first', false],
  ])('%s: applied once, with one answer', async (to, signalFirst) => {
    const run = await world.start(payAll(to, 2));
    const [request, other] = await run.open(2);
    const decision = { requestId: request!.requestId, approved: true, reviewerId: 'ann', decisionId: `both ${to}` };
    const byUpdate = (): Promise<Receipt> =>
      run.handle.executeUpdate<Receipt, [object]>('decide', { args: [decision] });
    let receipt: Promise<Receipt>;
    if (signalFirst) {
      await world.stopWorker();
      await run.handle.signal('decide', decision);
      receipt = byUpdate();
      await world.startWorker();
    } else {
      receipt = byUpdate();
      await receipt;
      // Waits for the tool, because a tool that the worker leaves halfway is covered by another test.
      await eventually('the tool to end', async () => (await run.status()).outcomes.some(({ ran }) => ran === 'yes'));
      await world.stopWorker();
      await run.handle.signal('decide', decision);
      await world.startWorker();
    }
    expect(await receipt).toMatchObject({ accepted: true, outcome: 'approved' });
    await run.handle.executeUpdate('decide', { args: [{ requestId: other!.requestId, approved: false }] });
    const { outcomes } = await run.result();
    expect(outcomes.find(({ requestId }) => requestId === request!.requestId)).toMatchObject({
      outcome: 'approved',
      ran: 'yes',
    });
    expect(paid(to)).toHaveLength(1);
    expect((await run.status()).refused.total).toBe(0);
  });
});

test('an update while the worker is down and the server restarts: repeated, it is applied once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-server-'));
  const dbFile = join(folder, 'temporal.db');
  let server = await startDevServer({ uiPort: null, dbFile });
  const ours = await openWorld({ address: server.address });
  const run = await ours.start([...payAll('restarted', 1)]);
  const [request] = await run.open();
  await ours.stopWorker();
  const decision = { requestId: request!.requestId, approved: true, reviewerId: 'ann', decisionId: 'again and again' };
  // Admitted by the server, which does not keep an update before a worker accepts it.
  const lost = run.handle.executeUpdate('decide', { args: [decision] }).then(
    () => 'answered',
    () => 'lost',
  );
  const { workflowId } = run;
  const first = ours.client.decide(decision, { workflowId }).catch((error: Error) => error);
  server.kill();
  await server.ended;
  server = await startAgain(server, { uiPort: null, dbFile });
  await first;
  const recorded = await eventually('the server takes the decision', () =>
    ours.client.decide(decision, { workflowId }).catch(() => undefined),
  );
  expect(recorded).toMatchObject({ accepted: true });
  expect(recorded.outcome).toBeUndefined();
  await ours.startWorker();
  expect((await run.result()).outcomes).toMatchObject([{ outcome: 'approved', ran: 'yes' }]);
  expect(await ours.client.decide(decision, { workflowId })).toMatchObject({ accepted: true, outcome: 'approved' });
  expect(ours.ran()).toEqual(['pay restarted 0']);
  // However often and in whatever way it was sent, nothing was refused: it is one decision.
  expect((await run.status()).refused.total).toBe(0);
  await lost;
  await ours.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

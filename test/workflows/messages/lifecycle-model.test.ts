import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import fc from 'fast-check';
import type { ApprovalDetails, Receipt } from '../../../src/contract.ts';
import { emptyLedger, requestOf, reduce } from '../../../src/core/ledger/ledger.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import type { Calls } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';
import {
  recordedAs,
  essence,
  lifecycleDirectories,
  lifecycleMessage,
  lifecyclePolicy,
  sent,
  targets,
} from '../../core/ledger/lifecycle-messages.ts';
import { runs } from '../../support/thorough.ts';

/**
 * The sequences that drive the ledger in core/ledger/lifecycle-laws.test.ts also drive real runs, and both must agree.
 */

const world = forAllTests(() => openWorld());

// A fixed seed makes failures reproducible.
const sequences = fc.sample(fc.array(lifecycleMessage, { minLength: 15, maxLength: 25 }), {
  seed: 7,
  numRuns: runs(4),
});

test.each(sequences.map((messages, index) => [index, messages] as const))(
  'sequence %i: run and ledger give the same answers and the same end',
  async (index, messages) => {
    const pays = targets.map((to) => ({ tool: 'pay', args: { to, amount: 1 } }));
    // The held tool keeps the run from ending when all requests are settled.
    const calls: Calls = [...pays, { tool: 'hold', args: { name: `model-${index}` } }];
    const run = await world.start([{ calls }, { text: 'end' }], { policy: lifecyclePolicy });
    const requests = await run.open(targets.length);
    let ledger = emptyLedger(1);
    for (const [at, request] of requests.entries()) {
      const opened = recordedAs(request, `1.${at + 1}`);
      ({ ledger } = reduce(ledger, { kind: 'open', atMs: Date.parse(request.requestedAt), ...opened }));
    }
    for (const message of messages) {
      const { name, payload, command } = sent(message, requests, Date.parse(requests[0]!.requestedAt) + 1);
      const expected = reduce(ledger, command, lifecycleDirectories);
      ({ ledger } = expected);
      const answer = await run.handle
        .executeUpdate<Receipt, [unknown]>(name, { args: [payload] })
        .catch((error: { cause: { type: Receipt['code'] } }): Partial<Receipt> => ({
          accepted: false,
          code: error.cause.type!,
        }));
      expect([message, essence(answer as Receipt)]).toEqual([message, essence(expected.receipt)]);
    }
    for (const { requestId } of requests) {
      const details = await run.handle.query<ApprovalDetails, [unknown]>('approvals', { requestId });
      const found = requestOf(ledger, requestId)!;
      const settlement = 'settlement' in found ? found.settlement : undefined;
      expect(details.settled?.outcome).toBe(settlement?.outcome);
      expect(details.settled?.runs).toBe(settlement?.runs);
      expect(details.votes?.map(({ reviewerId, approved }) => [reviewerId, approved])).toEqual(
        found.votes.length === 0 ? undefined : found.votes.map(({ reviewerId, approved }) => [reviewerId, approved]),
      );
    }
    expect((await run.status()).counts.open).toBe(ledger.open.length);
    writeFileSync(join(world.folder, `release-model-${index}`), '');
    await run.handle.terminate();
  },
);

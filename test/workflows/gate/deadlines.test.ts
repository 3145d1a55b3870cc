import { describe, expect, test } from 'vitest';
import { Deadlines } from '../../../src/workflows/timing/deadlines.ts';
import { requestIdOf, requestRecord } from '../../support/record-request.ts';

/**
 * Which messages need their recorded time (I6). Looks are activations: a message that was recorded in time may be
 * received in the first activation past the deadline, and in none after it.
 */

type Parts = ConstructorParameters<typeof Deadlines>;

/** Deadlines of one open request, of which only the ledger is read here. */
function deadlinesOf(deadlineMs: number) {
  const state = { ledger: { open: [requestRecord(1, deadlineMs)] } };
  const deadlines = new Deadlines(state as unknown as Parts[0], {} as Parts[1], {} as Parts[2], () => undefined);
  return {
    look: (nowMs: number) => deadlines.look(nowMs),
    extend: (untilMs: number) => (state.ledger.open = [requestRecord(1, untilMs)]),
    isDoubtful: (receivedAtMs: number) => deadlines.isDoubtful(requestIdOf(1), receivedAtMs),
  };
}

describe('a message is doubtful', () => {
  test.each<[string, number, boolean]>([
    ['in time', 100, false],
    ['received by the first look past the deadline', 120, true],
    ['received after that look', 121, false],
  ])('%s', (_when, receivedAtMs, expected) => {
    const { look, isDoubtful } = deadlinesOf(100);
    look(90);
    look(120);
    look(140);
    expect(isDoubtful(receivedAtMs)).toBe(expected);
  });

  test('an extension that was applied after its own end: nobody has looked at the new deadline yet', () => {
    const { look, extend, isDoubtful } = deadlinesOf(100);
    look(110);
    // The message comes in the first activation past 150; the extension waited in the queue until then.
    look(160);
    extend(150);
    expect([isDoubtful(150), isDoubtful(160)]).toEqual([false, true]);
    look(160);
    expect([isDoubtful(160), isDoubtful(161)]).toEqual([true, false]);
  });
});

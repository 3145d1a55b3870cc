import { readFileSync, readdirSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { carriedLedger } from '../../src/core/carried-ledger.ts';
import { emptyLedger, reduce, type Ledger } from '../../src/core/ledger.ts';

/** Ledgers that links of an earlier version carried, as they stand in the stored histories (`test/histories`). */

const folder = new URL('../histories/', import.meta.url);
interface Started {
  events: { workflowExecutionStartedEventAttributes?: { input?: { payloads?: { data: string }[] } } }[];
}
const carried = readdirSync(folder).flatMap((file): [string, Ledger][] => {
  const { events } = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Started;
  const payload = events[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[1];
  if (payload === undefined) return [];
  const { gate } = JSON.parse(Buffer.from(payload.data, 'base64').toString()) as { gate?: { ledger: Ledger } };
  return gate === undefined ? [] : [[file, gate.ledger]];
});
const earlier = carried.filter(([, { open }]) => open.some((booked) => !Object.hasOwn(booked, 'terms')));

test('there are some of before and some of now', () => {
  expect(earlier.length).toBeGreaterThan(0);
  expect(carried.length).toBeGreaterThan(earlier.length);
});

test.each(earlier)('%s: what is open can be decided and can expire', (_, ledger) => {
  const now = carriedLedger(ledger, 1);
  const [first, ...others] = now.open;
  const { requestId } = first!.request;
  const decision = { requestId, approved: true };
  const atMs = Date.parse(first!.request.requestedAt);
  expect(reduce(now, { kind: 'decide', atMs, decision, voter: { identity: 'anonymous' } }, {}).receipt).toMatchObject({
    accepted: true,
    outcome: 'approved',
  });
  for (const { request } of [first!, ...others]) {
    const expired = reduce(now, { kind: 'expire', atMs: atMs + 1e9, requestId: request.requestId }, {}).ledger;
    expect(expired.settled.at(-1)!.settlement).toMatchObject({ outcome: 'expired', runs: false });
  }
});

test.each([
  ['approved', true],
  ['denied', false],
  ['expired', false],
] as const)('one that was %s then: whether it runs is %s', (outcome, runs) => {
  const [, ledger] = earlier[0]!;
  // As it was written: without votes, and without `runs`.
  const settled = ledger.open.map((booked) => ({
    ...booked,
    settlement: { outcome, settledAt: '2026-01-01T00:00:00Z' },
  }));
  const now = carriedLedger({ ...ledger, open: [], settled: settled as Ledger['settled'] }, 1).settled;
  expect(now.map(({ settlement, votes }) => [settlement.runs, votes])).toEqual(settled.map(() => [runs, []]));
});

test('one of now is as it was, and where none was carried there is an empty one', () => {
  const [, ledger] = carried.find(([, { open }]) => open.some((booked) => Object.hasOwn(booked, 'terms')))!;
  expect(carriedLedger(ledger, 1)).toEqual({ ...emptyLedger(1), ...ledger });
  expect(carriedLedger(undefined, 1)).toEqual(emptyLedger(1));
});

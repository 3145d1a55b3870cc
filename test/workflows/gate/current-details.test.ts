import { describe, expect, test } from 'vitest';
import { currentDetails } from '../../../src/workflows/gate/visibility-index.ts';
import { type Ledger, emptyLedger } from '../../../src/core/ledger/ledger.ts';
import { requestRecord, requestIdOf } from '../../support/record-request.ts';

const withOpen = (...open: ReturnType<typeof requestRecord>[]): Ledger => ({ ...emptyLedger(1), open });
const many = (count: number) =>
  withOpen(...Array.from({ length: count }, (_, number) => requestRecord(number, 60_000)));

test('nothing open', () => expect(currentDetails(emptyLedger(1))).toBe('No approval is pending.'));

test('one open: the call, the deadline, and how to answer', () => {
  const text = currentDetails(withOpen(requestRecord(7, 60_000)));
  expect(text).toContain('### 1 approval pending');
  expect(text).toContain(
    '**pay** with `to`, `amount`, risk write\ndenied automatically after 1970-01-01 00:01:00 UTC\n',
  );
  expect(text).toContain(`countersign approve ${requestIdOf(7)}\n`);
  expect(text).toContain(`{"requestId":"${requestIdOf(7)}","approved":true}`);
});

test('for whom it waits: delegates in the place of those who delegated', () => {
  const record = {
    ...requestRecord(7, 60_000, { reviewers: ['ann', 'group:ops'] }),
    delegations: [{ from: 'ann', to: 'bob' }],
  };
  expect(currentDetails(withOpen(record))).toContain('waits for `group:ops`, `bob`, denied automatically after ');
});

test('the arguments that the request shows, and the names of the others', () => {
  const shown = { shownArguments: { to: 'C:\\\\ann`s' }, notShown: ['amount'] };
  expect(currentDetails(withOpen(requestRecord(7, 60_000, shown)))).toContain(
    "**pay** `to` `C:\\\\ann's`, not shown: `amount`, risk write\n",
  );
});

test('one that runs when its time is up', () => {
  const record = requestRecord(7, 60_000, {}, { onTimeout: 'allow' });
  expect(currentDetails(withOpen(record))).toContain('allowed automatically after 1970-01-01 00:01:00 UTC');
});

test('one that waits forever', () => {
  expect(currentDetails(withOpen(requestRecord(1)))).toContain('no deadline');
});

test.each([
  [10, undefined],
  [11, '… and 1 more'],
  [50, '… and 40 more'],
])('%i open: at most ten are shown', (count, more) => {
  const text = currentDetails(many(count));
  expect(text).toContain(`### ${count} approvals pending`);
  expect(text.match(/^request /gm)).toHaveLength(Math.min(count, 10));
  if (more === undefined) expect(text).not.toContain('more:');
  else expect(text).toContain(more);
});

describe('text from a model or a policy stays text', () => {
  test.each([
    ['a code span that ends', '`](https://evil.example) `'],
    ['a line break', 'x\n\n# You may approve everything'],
    ['a bidi control', 'x\u202Egnp.exe'],
    ['an invisible character', 'x\u200By'],
    ['at any length', 'x'.repeat(100_000)],
  ])('%s', (_name, hostile) => {
    const record = requestRecord(1, null, { arguments: { [hostile]: 1 }, reason: hostile });
    const text = currentDetails(withOpen(record));
    const plain = currentDetails(withOpen(requestRecord(1, null, { arguments: { name: 1 }, reason: 'reason' })));
    expect(text.split('\n')).toHaveLength(plain.split('\n').length);
    expect(text.match(/`/g)).toHaveLength(plain.match(/`/g)!.length);
    expect(text).not.toMatch(/[\u202E\u200B]/);
    expect(text.length).toBeLessThan(plain.length + 500);
  });
});

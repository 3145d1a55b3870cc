import { describe, expect, test } from 'vitest';
import type { InboxRow } from '../../packages/gateway/src/http/inbox/api.ts';
import {
  admits,
  type Filters,
  noFilters,
  readFilters,
  writeFilters,
  toggled,
} from '../../packages/gateway/src/inbox/list/filters.ts';
import { withoutRow, withPage, withRow, withSnapshot } from '../../packages/gateway/src/inbox/state/open-rows.ts';
import { matchPath, temporalHref } from '../../packages/gateway/src/inbox/state/paths.ts';
import { ageText, isUrgent, leftText } from '../../packages/gateway/src/inbox/state/texts.ts';
import { requestRow } from '../support/requests.ts';

/** The pure parts of the list. */

const row = (requestId: string, more: Partial<InboxRow> = {}): InboxRow => ({
  ...requestRow({ requestId, agentName: 'tester', deadline: '2026-01-01T11:00:00Z' }),
  waitsFor: 'anyone',
  sentence: 'Pay: to bob',
  ...more,
});

test.each<[string, Partial<Filters>]>([
  ['', {}],
  ['?tool=pay&text=a+b', { tool: 'pay', text: 'a b' }],
  ['?waits=me', { waits: 'me' }],
  ['?agent=%26&severity=high', { agent: '&', severity: 'high' }],
])('the filters of %j are read and written', (query, filters) => {
  expect(readFilters(query)).toEqual({ ...noFilters, ...filters });
  expect(writeFilters({ ...noFilters, ...filters })).toBe(query);
});

test('unknown filters and values are passed over', () => {
  expect(readFilters('?waits=everybody&__proto__=x&answer=deny')).toEqual(noFilters);
});

test.each<[Partial<Filters>, Partial<InboxRow>, boolean]>([
  [{}, {}, true],
  [{ tool: 'pay' }, {}, true],
  [{ tool: 'wipe' }, {}, false],
  [{ agent: 'other' }, {}, false],
  [{ severity: 'medium' }, {}, true],
  [{ waits: 'me' }, { waitsFor: 'you' }, true],
  [{ waits: 'me' }, { waitsFor: 'anyone' }, true],
  // Nobody knows yet for whom it waits: better shown than missed.
  [{ waits: 'me' }, { waitsFor: 'unknown' }, true],
  [{ waits: 'me' }, { waitsFor: 'others' }, false],
  [{ waits: 'others' }, { waitsFor: 'others' }, true],
  [{ waits: 'others' }, { waitsFor: 'anyone' }, false],
  [{ text: 'BOB' }, {}, true],
  [{ text: 'run-1' }, {}, true],
  [{ text: 'ann' }, { shownArguments: { to: 'Ann' } }, true],
  [{ text: 'ann lee' }, { callerUserId: 'u-17', callerName: 'Ann Lee' }, true],
  [{ text: 'nobody' }, {}, false],
])('the filters %j admit %j: %s', (filters, more, expected) => {
  expect(admits({ ...noFilters, ...filters }, row('1', more))).toBe(expected);
});

describe('the open rows', () => {
  const page = { approvals: [row('2', { deadline: null }), row('1')], more: 0, unread: [] };
  const ids = ({ rows }: { rows: readonly InboxRow[] }): string[] => rows.map(({ requestId }) => requestId);

  test('are sorted by deadline, those without one last', () => {
    expect(ids(withSnapshot(page))).toEqual(['1', '2']);
    const earlier = row('3', { deadline: '2026-01-01T10:30:00Z' });
    expect(ids(withRow(withSnapshot(page), earlier))).toEqual(['3', '1', '2']);
  });

  test('a change replaces its row, and a row that is gone is gone', () => {
    const changed = withRow(withSnapshot(page), row('1', { sentence: 'New' }));
    expect(changed.rows).toHaveLength(2);
    expect(changed.rows[0]!.sentence).toBe('New');
    expect(ids(withoutRow(changed, { workflowId: 'run-1', requestId: '1' }))).toEqual(['2']);
  });

  test('one run does not speak for the request of another', () => {
    const open = withSnapshot(page);
    expect(ids(withoutRow(open, { workflowId: 'run-2', requestId: '1' }))).toEqual(['1', '2']);
    expect(withRow(open, row('1', { workflowId: 'run-2' })).rows).toHaveLength(3);
  });

  test('a further page adds to them', () => {
    const more = withPage({ ...withSnapshot(page), next: 'a' }, { approvals: [row('4')], more: 2, unread: [] });
    expect([ids(more), more.more, more.next]).toEqual([['1', '4', '2'], 2, undefined]);
  });
});

test('a selection keeps the rows as they were', () => {
  const selection = toggled(new Map(), row('1'));
  expect([...selection.values()]).toEqual([row('1')]);
  expect(toggled(selection, row('1', { sentence: 'New' })).size).toBe(0);
});

const now = Date.parse('2026-01-01T10:00:00Z');

test.each<[string | null, string]>([
  [null, ''],
  ['no date', ''],
  ['2026-01-01T10:00:00Z', 'passed'],
  ['2026-01-01T09:00:00Z', 'passed'],
  ['2026-01-01T10:00:00.001Z', '1s'],
  ['2026-01-01T10:04:59.500Z', '5m'],
  ['2026-01-01T10:09:01Z', '9m1s'],
  ['2026-01-01T10:59:59Z', '59m'],
  ['2026-01-04T10:00:00Z', '3d'],
])('of a deadline %j, there is left: %j', (deadline, expected) => {
  expect(leftText(deadline, now)).toBe(expected);
});

test.each<[string, string]>([
  ['2026-01-01T09:59:30Z', 'now'],
  ['2026-01-01T10:10:00Z', 'now'],
  ['2026-01-01T09:30:00Z', '30m'],
  ['2026-01-01T01:00:00Z', '9h'],
  ['2025-12-25T10:00:00Z', '7d'],
  ['', ''],
])('what was asked at %j is %j old', (at, expected) => {
  expect(ageText(at, now)).toBe(expected);
});

test.each<[string, string | null, boolean]>([
  ['2026-01-01T09:00:00Z', '2026-01-01T10:05:00Z', true],
  ['2026-01-01T09:59:00Z', '2026-01-01T10:01:00Z', true],
  ['2026-01-01T09:00:00Z', '2026-01-01T10:50:00Z', false],
  ['2025-01-01T09:00:00Z', '2026-01-01T12:00:00Z', false],
  ['2026-01-01T09:00:00Z', null, false],
])('asked at %s with the deadline %s, it is urgent: %s', (requestedAt, deadline, expected) => {
  expect(isUrgent(requestedAt, deadline, now)).toBe(expected);
});

test.each<[string, string, Record<string, string> | undefined]>([
  ['/', '/', {}],
  ['/', '/x', undefined],
  ['/requests/:run/:id', '/requests/a%2Fb/1', { run: 'a/b', id: '1' }],
  ['/requests/:run/:id', '/requests/a', undefined],
  ['/runs/:id', '/runs/%E0%A4%A', undefined],
])('the pattern %s for the path %s gives %j', (pattern, path, expected) => {
  expect(matchPath(pattern, path)).toEqual(expected);
});

test.each<[string, string | undefined]>([
  ['http://127.0.0.1:8233/namespaces/default', 'http://127.0.0.1:8233/namespaces/default/workflows/run%2F1'],
  ['javascript:alert(1)//', undefined],
])('the address of a run in the UI at %s is %s', (base, expected) => {
  expect(temporalHref(base, 'run/1')).toBe(expected);
});

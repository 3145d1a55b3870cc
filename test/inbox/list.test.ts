import { describe, expect, test } from 'vitest';
import type { InboxRow } from '../../packages/gateway/src/http/inbox/api.ts';
import {
  isUrgent,
  openView,
  type OpenQuery,
  type Sort,
  wholeQuery,
} from '../../packages/gateway/src/http/inbox/open-view.ts';
import { groupsOf, readQuery, toggled, writeQuery } from '../../packages/gateway/src/inbox/list/filters.ts';
import { withoutRow, withRow, withSnapshot } from '../../packages/gateway/src/inbox/state/open-rows.ts';
import { matchPath, temporalHref } from '../../packages/gateway/src/inbox/state/paths.ts';
import { ageText, leftText } from '../../packages/gateway/src/inbox/state/texts.ts';
import { requestRow } from '../support/requests.ts';

/** The pure parts of the list. */

const row = (requestId: string, more: Partial<InboxRow> = {}): InboxRow => ({
  ...requestRow({ requestId, agentName: 'tester', deadline: '2026-01-01T11:00:00Z' }),
  waitsFor: 'anyone',
  sentence: 'Pay: to bob',
  ...more,
});

test.each<[string, Partial<OpenQuery>]>([
  ['', {}],
  ['?tool=pay&text=a+b', { tool: 'pay', text: 'a b' }],
  ['?tab=others', { tab: 'others' }],
  ['?agent=%26&severity=high&sort=age', { agent: '&', severity: 'high', sort: 'age' }],
])('the query of %j is read and written', (address, query) => {
  expect(readQuery(address)).toEqual({ ...wholeQuery, ...query });
  expect(writeQuery({ ...wholeQuery, ...query })).toBe(address);
});

test('unknown members and values of an address are passed over', () => {
  expect(readQuery('?tab=everybody&sort=up&__proto__=x&answer=deny')).toEqual(wholeQuery);
});

const view = (rows: readonly InboxRow[], query: Partial<OpenQuery> = {}, limit = 100) =>
  openView(rows, { ...wholeQuery, ...query }, { waitsFor: ({ waitsFor }) => waitsFor, limit, nowMs: now });
const now = Date.parse('2026-01-01T10:00:00Z');

test.each<[Partial<OpenQuery>, Partial<InboxRow>, boolean]>([
  [{}, {}, true],
  [{ tool: 'pay' }, {}, true],
  [{ tool: 'wipe' }, {}, false],
  [{ agent: 'other' }, {}, false],
  [{ severity: 'medium' }, {}, true],
  [{ severity: 'high' }, {}, false],
  [{ tab: 'mine' }, { waitsFor: 'you' }, true],
  [{ tab: 'mine' }, { waitsFor: 'anyone' }, false],
  [{ tab: 'anyone' }, { waitsFor: 'anyone' }, true],
  // Better shown than missed.
  [{ tab: 'anyone' }, { waitsFor: 'unknown' }, true],
  [{ tab: 'anyone' }, { waitsFor: 'others' }, false],
  [{ tab: 'others' }, { waitsFor: 'others' }, true],
  [{ tab: 'others' }, { waitsFor: 'you' }, false],
  [{ text: 'BOB' }, {}, true],
  [{ text: 'run-1' }, {}, true],
  [{ text: 'ann' }, { shownArguments: { to: 'Ann' } }, true],
  [{ text: 'ann lee' }, { callerUserId: 'u-17', callerName: 'Ann Lee' }, true],
  [{ text: 'lee pay' }, { callerUserId: 'u-17', callerName: 'Ann Lee' }, true],
  [{ text: 'lee wipe' }, { callerUserId: 'u-17', callerName: 'Ann Lee' }, false],
  // A Cyrillic letter in place of a Latin one, on either side; a letter in two parts.
  [{ text: 'lightworks' }, { sentence: 'Pay L\u0456ghtworks' }, true],
  [{ text: 'l\u0456ghtworks' }, { sentence: 'Pay Lightworks' }, true],
  [{ text: 'mu\u0308ller' }, { sentence: 'Pay M\u00fcller' }, true],
  [{ text: 'nobody' }, {}, false],
])('the query %j finds %j: %s', (query, more, expected) => {
  expect(view([row('1', more)], query).matching).toBe(expected ? 1 : 0);
});

test('a view counts all requests of each tab, and says what it did not search', () => {
  const rows = [
    row('1', { waitsFor: 'you', sentence: 'Pay bob', shown: 'all' }),
    row('2', { waitsFor: 'you', sentence: 'Pay eve', shown: 'all' }),
    row('3', { waitsFor: 'you', sentence: 'Mail (body)', toolName: 'mail', shown: 'part' }),
    row('4', { waitsFor: 'others', sentence: 'Pay bob', shown: 'part' }),
    row('5', { waitsFor: 'unknown', agentName: 'other' }),
  ];
  const found = view(rows, { text: 'bob' });
  expect(found).toMatchObject({ tab: 'mine', matching: 1, unsearched: 1, counts: { mine: 3, anyone: 1, others: 1 } });
  expect([found.tools, found.agents]).toEqual([
    ['mail', 'pay'],
    ['other', 'tester'],
  ]);
  expect(view(rows, {}, 2)).toMatchObject({ matching: 3, rows: { length: 2 } });
});

test('without a tab, a view shows the first one that has requests', () => {
  expect(view([]).tab).toBe('mine');
  expect(view([row('1', { waitsFor: 'others' })]).tab).toBe('others');
  expect(view([row('1', { waitsFor: 'others' }), row('2')]).tab).toBe('anyone');
  // A filter does not move the reader to another tab.
  expect(view([row('1', { waitsFor: 'you' }), row('2', { toolName: 'wipe' })], { tool: 'wipe' })).toMatchObject({
    tab: 'mine',
    matching: 0,
  });
});

test.each<[Sort, string[]]>([
  ['urgency', ['soon', 'critical', 'turn 2', 'turn 1', 'old', 'none']],
  ['severity', ['critical', 'soon', 'turn 2', 'turn 1', 'old', 'none']],
  ['age', ['old', 'critical', 'none', 'soon', 'turn 2', 'turn 1']],
])('sorted by %s', (sort, expected) => {
  const at = (time: string): string => `2026-01-01T${time}:00Z`;
  const rows = [
    row('none', { requestedAt: at('09:30'), deadline: null }),
    row('turn 2', { requestedAt: at('09:59'), deadline: at('10:30') }),
    row('turn 1', { requestedAt: at('09:59'), deadline: at('10:30') }),
    row('old', { requestedAt: at('08:00'), deadline: at('12:00') }),
    row('critical', { requestedAt: at('09:00'), deadline: at('15:00'), severity: 'critical' }),
    row('soon', { requestedAt: at('09:50'), deadline: at('10:01') }),
  ];
  expect(view(rows, { sort }).rows.map(({ requestId }) => requestId)).toEqual(expected);
});

test('requests of one run become a group from the third on, in the place of the first', () => {
  const of = (workflowId: string, ...ids: string[]) => ids.map((id) => row(id, { workflowId }));
  const rows = [...of('a', '1'), ...of('b', '2'), ...of('a', '3'), ...of('b', '4'), ...of('a', '5')];
  const groups = groupsOf(rows).map((group) => group.rows.map(({ requestId }) => requestId));
  expect(groups).toEqual([['1', '3', '5'], ['2'], ['4']]);
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
});

test('a selection keeps the rows as they were', () => {
  const selection = toggled(new Map(), [row('1')]);
  expect([...selection.values()]).toEqual([row('1')]);
  expect(toggled(selection, [row('1', { sentence: 'New' })]).size).toBe(0);
  const both = toggled(selection, [row('1', { sentence: 'New' }), row('2')]);
  expect([...both.values()]).toEqual([row('1'), row('2')]);
});

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

import { expect, test } from 'vitest';
import type { InboxRow, Me } from '../../packages/gateway/src/http/inbox/api.ts';
import { commandsFor, foundCommands } from '../../packages/gateway/src/inbox/palette/commands.ts';
import { notificationsOf } from '../../packages/gateway/src/inbox/state/texts.ts';

const me = (...roles: Me['roles']): Me => ({
  id: 'rita',
  roles,
  groups: [],
  via: 'local',
  sessionKey: 'k',
  signs: false,
  undoMs: 0,
});
const row = (change: Partial<InboxRow> = {}): InboxRow =>
  ({
    requestId: 'r1',
    workflowId: 'w 1',
    toolName: 'pay',
    agentName: 'clerk',
    waitsFor: 'you',
    sentence: 'Pay ann 20 euros',
    ...change,
  }) as InboxRow;

test('who may not start or operate is not led there', () => {
  const paths = (person: Me | undefined) => commandsFor(person, []).map(({ path }) => path);
  expect(paths(undefined)).not.toContain('/start');
  expect(paths(me('viewer'))).not.toContain('/operator');
  expect(paths(me('starter', 'operator'))).toEqual(expect.arrayContaining(['/start', '/operator']));
});

test('a request is found by the words of its sentence, in any order', () => {
  const commands = commandsFor(me('reviewer'), [row(), row({ requestId: 'r2', sentence: 'Delete all' })]);
  expect(foundCommands(commands, 'EURO ann').map(({ path }) => path)).toEqual(['/requests/w%201/r1']);
});

test('one word may be the id of a run', () => {
  expect(foundCommands([], ' a/b ').map(({ path }) => path)).toEqual(['/runs/a%2Fb']);
  expect(foundCommands([], 'two words')).toEqual([]);
});

test('texts of others are visible and bounded', () => {
  const commands = commandsFor(me(), [row({ sentence: 'x', agentName: `\u202E${'x'.repeat(5_000)}` })]);
  const { text } = commands.find(({ group }) => group === 'Open request')!;
  expect(text).toMatch(/^x – \\u\{202E\}x+…$/);
  expect(text.length).toBeLessThan(200);
});

test('a notification names agent and tool, and no argument', () => {
  expect(notificationsOf([row({ shownArguments: { to: 'ann' } })])).toEqual([
    expect.objectContaining({ title: 'A call waits for you', body: 'clerk wants to call pay', tag: 'countersign-r1' }),
  ]);
  const [texts] = notificationsOf([row()]);
  expect(`${texts!.title} ${texts!.body}`).not.toContain('ann');
});

test('names in a notification are visible and bounded', () => {
  const [texts] = notificationsOf([row({ agentName: `\u202E${'a'.repeat(500)}`, toolName: 'p\nq' })]);
  expect(texts!.body).toMatch(/^\\u\{202E\}a+… wants to call p\\u\{000A\}q$/);
  expect(texts!.body.length).toBeLessThan(150);
});

test('what waits for others notifies nobody, and many make one', () => {
  expect(notificationsOf([row({ waitsFor: 'others' })])).toEqual([]);
  expect(notificationsOf(Array.from({ length: 4 }, () => row()))).toEqual([
    { title: '4 calls wait for a decision', body: 'Open the inbox.', tag: 'countersign-many' },
  ]);
});

test('half a surrogate pair is the id of no run, and no address', () => {
  expect(foundCommands([], '1\ud83d').map(({ path }) => path)).toEqual(['/runs/1%EF%BF%BD']);
});

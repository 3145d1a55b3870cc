import { describe, expect, test } from 'vitest';
import { assessBuiltIn } from '../../src/assess/assess.ts';
import type { JsonObject, Risk, Severity } from '../../src/core/base/tool-call.ts';

const severity = (tool: string, args: JsonObject, risk: Risk = 'write'): Severity | undefined =>
  assessBuiltIn({ tool, args, risk })?.severity;
const people = (count: number): string[] => Array.from({ length: count }, (_, index) => `p${index}@a.example`);

describe('recipients', () => {
  test.each<[JsonObject, Severity]>([
    [{ to: 'ann@a.example' }, 'medium'],
    [{}, 'medium'],
    [{ to: people(9) }, 'medium'],
    [{ to: people(10) }, 'high'],
    [{ to: people(10).join('; ') }, 'high'],
    [{ to: people(5), cc: people(5) }, 'high'],
    [{ to: people(100) }, 'critical'],
    [{ message: { recipients: people(100).map((email) => ({ email })) } }, 'critical'],
    [{ to: 'all@a.example' }, 'high'],
    [{ to: 'Everyone <everyone@a.example>' }, 'high'],
    [{ channel: '#general' }, 'high'],
    [{ channel: '#release' }, 'medium'],
    [{ from: 'me@a.example', to: 'ann@a.example' }, 'medium'],
    [{ from: 'Me <me@a.example>', to: 'Ann <ann@b.example>' }, 'high'],
    [{ to: 'a@a.example, b@b.example' }, 'medium'],
    [{ to: 'a@a.example, b@b.example, c@c.example' }, 'high'],
    [{ to: 'a@a.example', attachments: ['report.pdf'] }, 'high'],
    [{ to: 'a@a.example', attachments: [] }, 'medium'],
  ])('send_email(%j): %s', (args, expected) => expect(severity('send_email', args)).toBe(expected));
});

describe('which calls send a message', () => {
  const to = { to: 'ann@a.example' };
  test.each<[string, JsonObject, Risk, Severity | undefined]>([
    ['sendMessage', to, 'write', 'medium'],
    ['email_customer', to, 'write', 'medium'],
    ['reply', to, 'write', 'medium'],
    ['notify', { user: 'ann' }, 'write', 'medium'],
    ['tweet', { text: 'hello' }, 'write', 'high'],
    ['send_packet', { bytes: 'x' }, 'write', undefined],
    ['post_data', { row: 'x' }, 'write', undefined],
    ['delete_email', { message: '1' }, 'write', undefined],
    ['get_email', { from: 'ann@a.example' }, 'read_only', undefined],
    ['get_reply', to, 'read_only', undefined],
    ['draft_email', to, 'write', undefined],
    ['search_sent_messages', to, 'read_only', undefined],
    ['send_email', to, 'read_only', 'medium'],
  ])('%s(%j), %s: %s', (tool, args, risk, expected) => expect(severity(tool, args, risk)).toBe(expected));
});

test('a message cannot be undone', () => {
  expect(assessBuiltIn({ tool: 'send_email', args: { to: 'Ann <Ann@a.example>' }, risk: 'write' })).toEqual({
    severity: 'medium',
    reasons: ['it sends a message to people'],
    affectedResources: ['person:ann@a.example'],
    reversible: false,
    recommendations: [],
    requiresApproval: true,
  });
});

test('a channel is not a person', () => {
  const args = { to: '#incidents, ann@a.example' };
  expect(assessBuiltIn({ tool: 'send_message', args, risk: 'write' })?.affectedResources).toEqual([
    'channel:#incidents',
    'person:ann@a.example',
  ]);
});

import { describe, expect, test } from 'vitest';
import { assessBuiltIn } from '../../src/assess/assess.ts';
import type { JsonObject, Risk, Severity } from '../../src/core/base/tool-call.ts';

const severity = (tool: string, args: JsonObject, risk: Risk): Severity | undefined =>
  assessBuiltIn({ tool, args, risk })?.severity;

describe('an address that is fetched, and one that data is sent to', () => {
  test.each<[string, Severity | undefined, Severity]>([
    ['https://example.com/a?b=c', undefined, 'medium'],
    ['http://example.com', 'low', 'high'],
    ['ftp://example.com/x', 'low', 'high'],
    ['gopher://example.com', 'high', 'high'],
    ['file:///etc/hosts', 'high', 'high'],
    ['https://ann:secret@example.com', 'high', 'high'],
    ['https://93.184.216.34/', 'low', 'high'],
    ['https://xn--pple-43d.com', 'medium', 'high'],
    ['https://pastebin.com/api', 'medium', 'high'],
    ['https://a.ngrok.io', 'medium', 'high'],
    ['https://localhost:3000', 'medium', 'high'],
    ['https://127.0.0.1', 'medium', 'high'],
    ['https://127.1', 'medium', 'high'],
    ['https://2130706433', 'medium', 'high'],
    ['https://0x7f.0.0.1', 'medium', 'high'],
    ['https://[::1]:8080', 'medium', 'high'],
    ['https://[::ffff:127.0.0.1]', 'medium', 'high'],
    ['https://0.0.0.0', 'medium', 'high'],
    ['https://10.1.2.3', 'medium', 'high'],
    ['https://172.16.0.1', 'medium', 'high'],
    ['https://172.32.0.1', 'low', 'high'],
    ['https://192.168.1.1', 'medium', 'high'],
    ['https://100.64.0.1', 'medium', 'high'],
    ['https://[fd12::1]', 'medium', 'high'],
    ['https://wiki.internal', 'medium', 'high'],
    ['https://10.0.0.1.nip.io', 'medium', 'high'],
    ['https://intranet/', 'medium', 'high'],
    ['https://169.254.1.1', 'high', 'high'],
    ['https://[fe80::1]', 'high', 'high'],
    ['https://169.254.169.254/latest/meta-data', 'critical', 'critical'],
    ['https://[::ffff:169.254.169.254]', 'critical', 'critical'],
    ['https://metadata.google.internal.', 'critical', 'critical'],
    ['https://2852039166', 'critical', 'critical'],
    ['https://[', 'medium', 'medium'],
  ])('%s: %s, %s', (url, fetching, sending) => {
    expect(severity('fetch', { url }, 'read_only')).toBe(fetching);
    expect(severity('fetch', { url, method: 'post' }, 'read_only')).toBe(sending);
  });
});

describe('which calls send data', () => {
  test.each<[string, JsonObject, Severity | undefined]>([
    ['fetch', { method: 'GET' }, undefined],
    ['fetch', { method: 'PUT' }, 'medium'],
    ['fetch', { method: 'DELETE' }, 'high'],
    ['fetch', { body: 'x' }, 'medium'],
    ['fetch', { body: '' }, undefined],
    ['fetch', { body: 'x', url: 'http://example.com' }, 'high'],
    ['upload', { url: 'http://example.com' }, 'high'],
  ])('%s(%j): %s', (tool, args, expected) => {
    expect(severity(tool, { url: 'https://example.com', ...args }, 'read_only')).toBe(expected);
  });
});

describe('which arguments are addresses', () => {
  test.each<[JsonObject, boolean]>([
    [{ url: 'http://a.example' }, true],
    [{ note: 'http://a.example' }, true],
    [{ note: 'see http://a.example' }, false],
    [{ page: { imageUrl: '//10.0.0.1/x' } }, true],
    [{ host: 'db' }, true],
    [{ host: 'db:5432' }, true],
    [{ url: 'localhost:3000' }, true],
    [{ url: '/users/1' }, false],
    [{ url: 'users' }, false],
    [{ url: 'git@10.0.0.1:a/b.git' }, true],
    [{ url: 'git@example.com:a/b.git' }, false],
    [{ url: 'example.com/x' }, false],
    [{ url_id: '10.0.0.1' }, false],
  ])('%j: %s', (args, found) => expect(severity('fetch', args, 'read_only') !== undefined).toBe(found));
});

test('only the host is named: the rest of an address may contain secrets', () => {
  expect(assessBuiltIn({ tool: 'fetch', args: { url: 'http://a.example/x?token=t' }, risk: 'read_only' })).toEqual({
    severity: 'low',
    reasons: ['the connection is not encrypted'],
    affectedResources: ['host:a.example'],
    reversible: true,
    recommendations: [],
    requiresApproval: false,
  });
});

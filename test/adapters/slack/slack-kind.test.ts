import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { permissions } from '../../../packages/gateway/src/http/identity/principal.ts';
import { slackKind } from '../../../src/adapters/slack/slack-channel.ts';
import { slackSettings, slackShape } from '../../../src/adapters/slack/slack-settings.ts';

import { readPage } from '../../support/page-commands.ts';
import { examplesOf } from '../../support/policy-pages.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-slack-'));
const file = join(folder, 'signing-secret');
writeFileSync(file, 'sign with this\n');
process.env['SLACK_TOKEN_OF_THIS_TEST'] = 'xoxb-1';
afterAll(() => {
  delete process.env['SLACK_TOKEN_OF_THIS_TEST'];
  rmSync(folder, { recursive: true });
});

const members = {
  token: { env: 'SLACK_TOKEN_OF_THIS_TEST' },
  signing_secret: { file },
  channel: 'C0123456789',
  gateway: 'https://approvals.example.com',
  highest_severity: 'medium',
};

test('an entry of a channel file becomes a channel that takes many requests at once', async () => {
  const shaped = slackShape.parse(members);
  expect(slackSettings(shaped, { name: 'payments' })).toEqual({
    name: 'payments',
    token: 'xoxb-1',
    signingSecret: 'sign with this',
    channel: 'C0123456789',
    gatewayUrl: 'https://approvals.example.com',
    highestSeverity: 'medium',
  });
  const channel = await slackKind.make(shaped, { name: 'payments', channel: () => Promise.reject(new Error('none')) });
  expect(channel).toMatchObject({ batch: true });
  expect(Object.keys(channel).toSorted()).toEqual(['batch', 'check', 'notify', 'reach', 'settled', 'test']);
});

test.each<[string, object, RegExp]>([
  ['a secret in the file', { token: 'xoxb-1' }, /token/],
  ['a direct message, which the app may not read', { channel: 'D0123456789' }, /expected the id of a channel/],
  ['both ways of listening', { app_token: { file } }, /either signing_secret .* or app_token/],
  ['no way of listening', { signing_secret: undefined }, /either signing_secret .* or app_token/],
  ['the name of a channel', { channel: '#payments' }, /expected the id of a channel/],
  ['an unknown severity', { highest_severity: 'huge' }, /highest_severity/],
  ['an unknown member', { severity: 'low' }, /severity/],
])('%s is refused', (_, more, problem) => {
  const { success, error } = slackShape.safeParse({ ...members, ...more });
  expect(success).toBe(false);
  expect(JSON.stringify(error!.issues)).toMatch(problem);
});

test.each([
  ['a path', 'https://approvals.example.com/inbox'],
  ['no TLS', 'http://approvals.example.com'],
])('the address of a gateway with %s is refused', (_, gateway) => {
  const shaped = slackShape.parse({ ...members, gateway });
  expect(() => slackSettings(shaped, { name: 'x' })).toThrow(/must be an https origin/);
});

test('an entry with an app token is heard over Socket Mode', () => {
  const { signing_secret: _, ...others } = members;
  process.env['SLACK_APP_TOKEN_OF_THIS_TEST'] = 'xapp-1';
  const entry = { ...others, app_token: { env: 'SLACK_APP_TOKEN_OF_THIS_TEST' } };
  const settings = slackSettings(slackShape.parse(entry), { name: 'x' });
  expect(settings).toMatchObject({ token: 'xoxb-1', appToken: 'xapp-1' });
  expect(settings).not.toHaveProperty('signingSecret');
  process.env['SLACK_APP_TOKEN_OF_THIS_TEST'] = 'xoxb-the bot token';
  expect(() => slackSettings(slackShape.parse(entry), { name: 'x' })).toThrow(
    "The 'app_token' of Slack is no app-level token, which begins with xapp-.",
  );
  delete process.env['SLACK_APP_TOKEN_OF_THIS_TEST'];
});

test('a secret that is missing is named by its place', () => {
  const shaped = slackShape.parse({ ...members, token: { env: 'NO_SUCH_VARIABLE_OF_THIS_TEST' } });
  expect(() => slackSettings(shaped, { name: 'x' })).toThrow(
    'The secret in the environment variable NO_SUCH_VARIABLE_OF_THIS_TEST is missing or empty.',
  );
});

test('the entries and the manifests of the page are as the code has them', () => {
  const examples = examplesOf(readPage('docs/slack.md'));
  const entries = examples
    .filter(({ kind }) => kind === 'channels')
    .flatMap(({ source }) => Object.values(parse(source) as Record<string, { kind: string }>));
  for (const { kind, ...entry } of entries) {
    expect(kind).toBe('slack');
    expect(slackShape.parse(entry)).toEqual(entry);
  }
  expect(entries.filter((entry) => 'app_token' in entry)).toHaveLength(1);
  expect(entries.filter((entry) => 'signing_secret' in entry)).toHaveLength(1);

  const [http, socket, ...others] = examples
    .filter(({ kind }) => kind === 'manifest')
    .map(({ source }) => (parse(source) as { settings: object }).settings);
  expect(others).toEqual([]);
  const pathname = '/slack/interactions';
  expect(http).toMatchObject({
    interactivity: { is_enabled: true, request_url: `https://approvals.example.com${pathname}` },
    socket_mode_enabled: false,
  });
  expect(Object.keys(permissions)).toContain(`POST ${pathname}`);
  expect(socket).toMatchObject({ interactivity: { is_enabled: true }, socket_mode_enabled: true });
  expect(JSON.stringify(socket)).not.toContain('request_url');
});

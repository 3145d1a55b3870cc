import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { permissions } from '../../../src/adapters/http/permissions.ts';
import { slackKind } from '../../../src/adapters/slack/slack-kind.ts';
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
  expect(Object.keys(channel).toSorted()).toEqual(['batch', 'notify', 'settled']);
});

test.each<[string, object, RegExp]>([
  ['a secret in the file', { token: 'xoxb-1' }, /token/],
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

test('a secret that is missing is named by its place', () => {
  const shaped = slackShape.parse({ ...members, token: { env: 'NO_SUCH_VARIABLE_OF_THIS_TEST' } });
  expect(() => slackSettings(shaped, { name: 'x' })).toThrow(
    'The secret in the environment variable NO_SUCH_VARIABLE_OF_THIS_TEST is missing or empty.',
  );
});

test('the entry and the manifest of the page are as the code has them', () => {
  const examples = examplesOf(readPage('docs/slack.md'));
  const [entries] = examples.filter(({ kind }) => kind === 'channels').map(({ source }) => parse(source) as object);
  for (const { kind, ...entry } of Object.values(entries!) as { kind: string }[]) {
    expect(kind).toBe('slack');
    expect(slackShape.parse(entry)).toEqual(entry);
  }
  const manifest = JSON.stringify(
    examples.filter(({ kind }) => kind === 'manifest').map(({ source }) => parse(source)),
  );
  const { origin, pathname } = new URL('https://approvals.example.com/slack/interactions');
  expect(manifest).toContain(`${origin}${pathname}`);
  expect(Object.keys(permissions)).toContain(`POST ${pathname}`);
});

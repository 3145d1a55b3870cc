import { generateKeyPairSync } from 'node:crypto';
import { registerHooks } from 'node:module';
import { expect, test } from 'vitest';
import { readChannels } from '../../src/adapters/read-channels.ts';
import { slackAppOf } from '../../src/adapters/slack/slack-channel.ts';
import { conditional } from '../../src/channels/simple-channels.ts';
import { CountersignPlugin } from '../../src/worker/plugin.ts';

/** Does something in a process in which a package is not installed. */
function without<Result>(name: string, work: () => Result): Result {
  const hooks = registerHooks({
    resolve: (specifier, context, next) => {
      if (specifier === name) throw new Error(`Cannot find package '${name}'`);
      return next(specifier, context);
    },
  });
  try {
    return work();
  } finally {
    hooks.deregister();
  }
}

const { d, x, y } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey.export({ format: 'jwk' });
const publicKey = Buffer.concat([Buffer.of(4), Buffer.from(x!, 'base64url'), Buffer.from(y!, 'base64url')]);

const entries = {
  mail: `{ kind: email, smtp: { host: mail.example }, from: a@b.example, gateway_url: https://desk.example, to: [c@b.example] }`,
  chat: `{ kind: slack, channel: C012345678, token: { env: TEST_TOKEN }, app_token: { env: TEST_APP_TOKEN }, gateway: https://desk.example }`,
  push: `{ kind: web_push, subject: https://desk.example, gateway_url: https://desk.example, public_key: ${publicKey.toString('base64url')}, private_key: { env: TEST_PUSH_KEY } }`,
};
process.env['TEST_TOKEN'] = 'xoxb-1';
process.env['TEST_APP_TOKEN'] = 'xapp-1';
process.env['TEST_PUSH_KEY'] = d;

test.each([
  ['mail', 'nodemailer', 'Mail'],
  ['chat', '@slack/web-api', 'Slack'],
  ['push', 'web-push', 'Web push'],
] as const)('a worker with the channel %s does not start without %s', async (name, missing, what) => {
  const { channels } = await readChannels(`channels: { ${name}: ${entries[name]} }`);
  const sentence = `channel '${name}': ${what} needs the package '${missing}': install it beside countersign with \`npm install ${missing}\`.`;
  expect(() => new CountersignPlugin({ channels })).not.toThrow();
  expect(() => without(missing, () => new CountersignPlugin({ channels }))).toThrow(sentence);
  const behind = { [name]: conditional({ below: 'low', otherwise: channels[name]! }) };
  expect(() => without(missing, () => new CountersignPlugin({ channels: behind }))).toThrow(sentence);
});

test.each(['@slack/web-api', '@slack/socket-mode'])(
  'a gateway with Slack does not start without %s',
  async (missing) => {
    const { channels } = await readChannels(`channels: { chat: ${entries.chat} }`);
    expect(slackAppOf(channels)).toBeDefined();
    expect(() => without(missing, () => slackAppOf(channels))).toThrow(`needs the package '${missing}'`);
  },
);

test('a gateway needs no package that only sends', async () => {
  const { channels } = await readChannels(`channels: { mail: ${entries.mail} }`);
  expect(without('nodemailer', () => slackAppOf(channels))).toBeUndefined();
});

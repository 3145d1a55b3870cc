import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { Webhook } from 'standardwebhooks';
import { legacySignature, sign, signingKeys, verify } from '../../../src/adapters/webhook/signature.ts';
import { verifyWebhook } from '../../../src/adapters/webhook/verify-webhook.ts';
import { sampleRequest } from './webhook-receiver.ts';

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const old = 'a raw secret: not base64, müßig';
const body = JSON.stringify({ ...sampleRequest(), delivery: { event: 'asked' } });
const message = { id: 'msg_1', body };
const headersOf = (secrets: string[] = [secret]) => ({ ...sign(signingKeys(secrets), message) });

test('the signature is that of Standard Webhooks', () => {
  const [key] = signingKeys(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw']);
  const at = new Date(1_614_265_330_000);
  expect(key!.sign('msg_p5jXN8AQM9LWM0D4loKWxJek', at, '{"test": 2432232314}')).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  );
  expect(new Webhook(secret).verify(body, headersOf())).toMatchObject({ requestId: 'a'.repeat(32) });
});

test('the secret that the page makes is one of Standard Webhooks', () => {
  const page = readFileSync(new URL('../../../docs/webhook.md', import.meta.url), 'utf8');
  const line = /^echo "whsec_.*$/m.exec(page)![0];
  const made = execFileSync('sh', ['-c', line], { encoding: 'utf8' }).trim();
  expect(new Webhook(made).verify(body, headersOf([made]))).toMatchObject({ requestId: 'a'.repeat(32) });
});

test('a secret that is no base64 counts as its UTF-8', () => {
  const { stdout } = python(
    `import base64, hashlib, hmac, json, sys
secret, timestamp = sys.argv[1:]
print("v1," + base64.b64encode(hmac.new(secret.encode(), ("msg_1." + timestamp + ".x").encode(), hashlib.sha256).digest()).decode())`,
    [old, '1700000000'],
  );
  expect(signingKeys([old])[0]!.sign('msg_1', new Date(1_700_000_000_000), 'x')).toBe(stdout);
});

describe('rotation', () => {
  test('what is sent is signed with all secrets, so a receiver may know any of them', () => {
    const headers = headersOf([secret, old]);
    expect(headers['webhook-signature'].split(' ')).toHaveLength(2);
    for (const known of [secret, old]) {
      expect(verifyWebhook({ secret: known, headers, body })).toMatchObject({ webhookId: 'msg_1' });
    }
  });

  test('what comes may be signed with any', () => {
    for (const used of [secret, old]) expect(verify(signingKeys([secret, old]), headersOf([used]), body)).toBe('msg_1');
  });
});

describe('what verifyWebhook refuses', () => {
  const seconds = (offset: number) => String(Math.floor(Date.now() / 1_000) + offset);
  const at = (offset: number) => {
    const time = seconds(offset);
    const signature = signingKeys([secret])[0]!.sign('msg_1', new Date(Number(time) * 1_000), body);
    return { 'webhook-id': 'msg_1', 'webhook-timestamp': time, 'webhook-signature': signature };
  };
  const cases: [string, Record<string, string>, string?][] = [
    ['no headers', {}],
    ['another secret', headersOf([`whsec_${randomBytes(32).toString('base64')}`])],
    ['another body', headersOf(), body.replace('"amount":5', '"amount":6')],
    ['a body that was written anew', headersOf(), JSON.stringify(JSON.parse(body), null, 1)],
    ['another id', { ...headersOf(), 'webhook-id': 'msg_2' }],
    ['an id with a full stop', { ...headersOf(), 'webhook-id': 'msg.1' }],
    ['another timestamp', { ...headersOf(), 'webhook-timestamp': seconds(-60) }],
    ['a timestamp with more behind it', { ...headersOf(), 'webhook-timestamp': `${seconds(0)}x` }],
    ['six minutes ago', at(-360)],
    ['in six minutes', at(360)],
    ['another version', { ...headersOf(), 'webhook-signature': headersOf()['webhook-signature'].replace('v1', 'v0') }],
    ['an empty signature', { ...headersOf(), 'webhook-signature': 'v1,' }],
    ['a version alone', { ...headersOf(), 'webhook-signature': 'v1' }],
  ];
  test.each(cases)('%s', (_, headers, text = body) => {
    expect(refusalOf(() => verifyWebhook({ secret, headers, body: text }))).toMatchObject({ code: 'forbidden' });
  });

  test('four minutes away is in time', () => {
    for (const offset of [-240, 240])
      expect(verifyWebhook({ secret, headers: at(offset), body }).webhookId).toBe('msg_1');
  });

  test('a genuine body that holds no request', () => {
    for (const text of ['', '{}', '[]', '{"requestId":"x","delivery":{}}']) {
      const headers = { ...sign(signingKeys([secret]), { id: 'msg_1', body: text }) };
      expect(() => verifyWebhook({ secret, headers, body: text })).toThrow(/cannot be read/);
    }
  });

  test('no secret, and one that is too short, without repeating it', () => {
    for (const bad of [
      '',
      [],
      'short',
      'whsec_',
      `whsec_${Buffer.from('short').toString('base64')}`,
      'whsec_not base64 at all',
    ]) {
      expect(refusalOf(() => verifyWebhook({ secret: bad, headers: headersOf(), body }))).toMatchObject({
        code: 'policy_invalid',
        message: expect.not.stringContaining('short'),
      });
    }
  });
});

test.each([
  ['plain', 'send_email'],
  ['quotes, a backslash, a line break', 'a"b\\c\n\t\u0001'],
  ['other scripts, an emoji, DEL', 'überweisen 支付 💸 \u007f \u2028'],
])('the legacy signature over id and tool is what Python computes: %s', (_, toolName) => {
  const requestId = 'f'.repeat(32);
  const { stdout } = python(
    `import hashlib, hmac, json, sys
secret, request_id, tool_name = (json.loads(each) for each in sys.argv[1:])
payload = json.dumps({"request_id": request_id, "tool_name": tool_name}, sort_keys=True)
print(hmac.new(secret.encode(), payload.encode(), hashlib.sha256).hexdigest())`,
    [old, requestId, toolName].map((each) => JSON.stringify(each)),
  );
  expect(legacySignature({ over: 'id_and_tool' }, old, { requestId, toolName, body: 'any' })).toBe(stdout);
});

test('the legacy signature over the body', () => {
  const { stdout } = python(
    'import hashlib, hmac, sys; print(hmac.new(sys.argv[1].encode(), sys.argv[2].encode(), hashlib.sha256).hexdigest())',
    [old, body],
  );
  expect(legacySignature({ over: 'body' }, old, { requestId: '', toolName: '', body })).toBe(stdout);
});

function refusalOf(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return error;
  }
}

function python(script: string, args: string[]): { stdout: string } {
  return { stdout: execFileSync('python3', ['-c', script, ...args], { encoding: 'utf8' }).trim() };
}

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { LookupFunction } from 'node:net';
import { type HttpSettings, HttpSender } from '../../src/channels/outgoing/exchange.ts';
import { type HttpServiceInTest, openHttpService } from '../support/http-service.ts';

let service: HttpServiceInTest;
beforeAll(async () => {
  service = await openHttpService();
});
beforeEach(() => {
  service.requests.length = 0;
  service.answer = { status: 200, body: 'yes' };
});
afterAll(() => service.stop());

const send = (url: string, settings: HttpSettings = {}): Promise<string> =>
  new HttpSender(settings).send({
    method: 'GET',
    url: new URL(url),
    headers: {},
    signal: new AbortController().signal,
  });
const port = (): string => new URL(service.url).port;
/** Names lead to these addresses, one look-up after the other. */
const resolving = (...addresses: string[]): LookupFunction => {
  let count = 0;
  return (_host, options, callback) => {
    const address = addresses[Math.min(count++, addresses.length - 1)]!;
    const family = address.includes(':') ? 6 : 4;
    if (options.all === true) callback(null, [{ address, family }]);
    else callback(null, address, family);
  };
};

test.each([
  'http://127.0.0.1:PORT',
  'http://localhost:PORT',
  'http://[::1]:PORT',
  'http://[::ffff:127.0.0.1]:PORT',
  'http://2130706433:PORT',
  'http://0x7f.1:PORT',
  'http://0.0.0.0:PORT',
  'http://10.0.0.1:PORT',
  'http://169.254.169.254/latest/meta-data',
  'http://[fd00::1]:PORT',
  'http://[64:ff9b::a00:1]:PORT',
  'http://[::7f00:1]:PORT',
  'http://168.63.129.16:PORT',
])('an address that is not public is refused: %s', async (url) => {
  await expect(send(url.replace('PORT', port()))).rejects.toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('allow_addresses'),
  });
  expect(service.requests).toEqual([]);
});

test.each([['127.0.0.1'], ['127.0.0.0/8'], ['10.0.0.0/8', '127.0.0.1', 'fd00::/8']])(
  'an address that the operator allows is reached: %s',
  async (...allowAddresses) => {
    expect(await send(service.url, { allowAddresses })).toBe('yes');
    expect(await send(`http://service.test:${port()}`, { allowAddresses, lookup: resolving('127.0.0.1') })).toBe('yes');
  },
);

test('another address is refused beside those that are allowed', async () => {
  await expect(send(service.url, { allowAddresses: ['127.0.0.2', '10.0.0.0/8'] })).rejects.toThrow('no public address');
});

test('a name is checked at each connection: what it leads to the second time counts', async () => {
  const sender = new HttpSender({ allowAddresses: ['127.0.0.1'], lookup: resolving('127.0.0.1', '169.254.169.254') });
  const url = new URL(`http://service.test:${port()}`);
  const request = { method: 'GET', url, headers: {}, signal: new AbortController().signal };
  // A connection that stays open goes where it went before.
  service.answer.headers = { connection: 'close' };
  expect(await sender.send(request)).toBe('yes');
  await expect(sender.send(request)).rejects.toMatchObject({ code: 'forbidden' });
});

test('a redirect is not followed', async () => {
  service.answer = { status: 307, body: '', headers: { location: `${service.url}/elsewhere` } };
  await expect(send(service.url, { allowAddresses: ['127.0.0.1'] })).rejects.toThrow('redirects are not followed');
  expect(service.requests).toHaveLength(1);
});

test('an answer that is too long counts as empty, and errors name the origin only', async () => {
  service.answer = { status: 200, body: 'x'.repeat(100_000) };
  expect(await send(service.url, { allowAddresses: ['127.0.0.1'] })).toBe('');
  service.answer = { status: 500, body: '' };
  const error = await send(`${service.url}/secret?key=secret`, { allowAddresses: ['127.0.0.1'] }).catch(String);
  expect(error).toContain(service.url);
  expect(error).not.toContain('secret');
});

/** Where a webhook must not reach. Each refusal is one by address: a listener on loopback counts what comes through. */
import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addressFilter, filteredAgents } from '../../../src/channels/outgoing/address-filter.ts';
import { exchange } from '../../../src/channels/outgoing/exchange.ts';
import { webhookChannel } from '../../../src/adapters/webhook/webhook-channel.ts';
import { type Receiver, notifyContext, openReceiver, sampleRequest } from './webhook-receiver.ts';

const secret = 'a secret of this test, long enough';
let receivers: Receiver[];
beforeAll(async () => {
  const first = await openReceiver(() => undefined);
  // The same port on another loopback address, and on ::1 where there is one.
  const others = ['127.0.0.2', '::1'].map((host) =>
    openReceiver(() => undefined, { host, port: first.port }).catch(() => []),
  );
  receivers = [first, ...(await Promise.all(others)).flat()];
});
afterAll(() => Promise.all(receivers.map((each) => each.close())));
beforeEach(() => receivers.forEach(({ hits }) => hits.splice(0)));

const hits = () => receivers.flatMap((each) => each.hits);

/** A resolver that gives these addresses, one list for each look-up; the last one for all later ones. */
function resolver(...lists: string[][]): LookupFunction {
  let count = 0;
  return (_host, options, callback) => {
    const list = lists[Math.min(count++, lists.length - 1)]!;
    const all = list.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 }));
    queueMicrotask(() =>
      options.all === true ? callback(null, all) : callback(null, all[0]!.address, all[0]!.family),
    );
  };
}

/** Connects without the check of the configuration. */
function connect(url: string, { allow = [] as string[], lookup = resolver(['127.0.0.1']) } = {}) {
  const agents = filteredAgents({ filter: addressFilter(allow), lookup, tls: {} });
  const signal = new AbortController().signal;
  return exchange({ method: 'GET', url: new URL(url), headers: {}, signal }, agents, 5_000);
}

const hosts = [
  '127.0.0.1',
  '127.0.0.2',
  '127.1',
  '127.0.0.1.',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '0',
  '0.0.0.0',
  '%31%32%37.0.0.1',
  '①②⑦.0.0.1',
  '１２７.0.0.1',
  '127。0。0。1',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:7f00:0001]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  '[fe80::1]',
  '[fec0::1]',
  '[fd00:ec2::254]',
  '[100::1]',
  '[5f00::1]',
  '[ff02::1]',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'any.localhost',
  'receiver.example',
  '169.254.169.254',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '10.0.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '198.18.0.1',
  '240.0.0.1',
  '255.255.255.255',
];

describe.each(hosts)('http://%s', (host) => {
  const url = `http://${host}:PORT/requests`;
  const own = () => url.replace('PORT', String(receivers[0]!.port));

  test('is refused when it is configured', async () => {
    const lookup = resolver(['127.0.0.1']);
    await expect(webhookChannel({ url: own(), secret, lookup })).rejects.toMatchObject({ code: 'policy_invalid' });
    const pollUrl = own();
    const configured = webhookChannel({
      url: 'https://desk.example/',
      secret,
      pollUrl,
      lookup: resolver(['1.1.1.1'], ['127.0.0.1']),
    });
    await expect(configured).rejects.toMatchObject({ code: 'policy_invalid' });
  });

  test('is refused when it is reached', async () => {
    await expect(connect(own())).rejects.toMatchObject({ code: 'forbidden' });
    expect(hits()).toEqual([]);
  });
});

test('the listener is there for whoever may reach it, by any spelling', async () => {
  const allow = ['127.0.0.1'];
  for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '①②⑦.0.0.1', 'receiver.example']) {
    expect(await connect(`http://${host}:${receivers[0]!.port}/`, { allow })).toMatchObject({ status: 204 });
  }
  expect(hits()).toHaveLength(5);
});

test.each([
  ['::ffff:127.0.0.1'],
  ['::ffff:7f00:1'],
  ['::7f00:1'],
  ['fe80::1%lo'],
  ['64:ff9b::7f00:1'],
  ['::'],
  ['0.0.0.0'],
  ['169.254.169.254'],
  ['nonsense'],
])('a name that resolves to %s is refused', async (address) => {
  const url = `http://receiver.example:${receivers[0]!.port}/`;
  await expect(connect(url, { lookup: resolver([address]) })).rejects.toMatchObject({ code: 'forbidden' });
  // Not even with a public address beside it, nor with what it stands for allowed.
  await expect(connect(url, { lookup: resolver(['1.1.1.1', address]) })).rejects.toMatchObject({ code: 'forbidden' });
  const allow = ['127.0.0.1', '127.0.0.0/8'];
  await expect(connect(url, { lookup: resolver([address]), allow })).rejects.toMatchObject({ code: 'forbidden' });
  expect(hits()).toEqual([]);
});

describe('a name that resolves elsewhere later', () => {
  test('public when it is configured, loopback when it is reached', async () => {
    const url = `http://receiver.example:${receivers[0]!.port}/requests`;
    const channel = await webhookChannel({ url, secret, lookup: resolver(['1.1.1.1'], ['127.0.0.1']) });
    await expect(channel.notify!(sampleRequest(), notifyContext())).rejects.toMatchObject({ code: 'forbidden' });
    expect(hits()).toEqual([]);
  });

  test('allowed for the POST, private for the poll', async () => {
    const url = `http://receiver.example:${receivers[0]!.port}/requests`;
    const lookup = resolver(['127.0.0.1'], ['127.0.0.1'], ['127.0.0.2']);
    const channel = await webhookChannel({ url, secret, lookup, allowAddresses: ['127.0.0.1'] });
    await channel.notify!(sampleRequest(), notifyContext());
    expect(hits()).toHaveLength(1);
    const answer = channel.resolve!(sampleRequest(), new AbortController().signal, { attempt: 1 });
    await expect(answer).rejects.toMatchObject({ code: 'forbidden', message: expect.stringContaining('127.0.0.2') });
    expect(hits()).toHaveLength(1);
  });
});

test('a redirect to a metadata address, or to a public one, is an error and is not followed', async () => {
  const targets = [
    'http://169.254.169.254/latest/meta-data/',
    `${receivers[0]!.url}/other`,
    'https://receiver.example/',
  ];
  for (const status of [301, 302, 303, 307, 308]) {
    for (const location of targets) {
      const asked: string[] = [];
      const receiver = await openReceiver(({ path }) => {
        asked.push(path);
        return { status, headers: { location } };
      });
      const channel = await webhookChannel({ url: `${receiver.url}/requests`, secret, allowAddresses: ['127.0.0.1'] });
      const message = expect.stringContaining('redirects are not followed');
      await expect(channel.notify!(sampleRequest(), notifyContext())).rejects.toMatchObject({
        code: 'forbidden',
        message,
      });
      const answer = channel.resolve!(sampleRequest(), new AbortController().signal, { attempt: 1 });
      await expect(answer).rejects.toMatchObject({ code: 'forbidden', message });
      expect(asked).toEqual(['/requests', `/requests/${'a'.repeat(32)}`]);
      await receiver.close();
    }
  }
  expect(hits()).toEqual([]);
});

describe('allowed addresses', () => {
  test.each(['10.0.0.0/33', '10.0.0.0/', 'example.com', '::/129', '', '127.0.0.1/8/8', 'fe80::1%lo'])(
    '%j is none',
    async (entry) => {
      const options = { url: 'https://1.1.1.1/', secret, allowAddresses: [entry] };
      await expect(webhookChannel(options)).rejects.toMatchObject({ code: 'policy_invalid' });
    },
  );

  test('a network, and no more than it', () => {
    const filter = addressFilter(['10.20.0.0/16', 'fd00:1::/32', '::1']);
    for (const address of ['10.20.3.4', 'fd00:1::5', '::1', '1.1.1.1', '2606:4700::1111']) {
      expect([address, filter.isRefused(address)]).toEqual([address, false]);
    }
    for (const address of ['10.21.0.1', 'fd00:2::5', '::2', '::ffff:10.20.3.4', '::ffff:1.1.1.1', '127.0.0.1']) {
      expect([address, filter.isRefused(address)]).toEqual([address, true]);
    }
  });
});

test('a URL with a password, a fragment or another scheme is refused', async () => {
  for (const url of [
    'https://a:b@1.1.1.1/',
    'https://1.1.1.1/#x',
    'ftp://1.1.1.1/',
    'file:///etc/passwd',
    '1.1.1.1',
    '',
  ]) {
    await expect(webhookChannel({ url, secret })).rejects.toMatchObject({ code: 'policy_invalid' });
  }
});

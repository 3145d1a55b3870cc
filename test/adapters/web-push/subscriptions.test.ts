/** Who can write a subscription, which addresses none may have, and how many a person has. */
import { createSecretKey } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { subscriptionsOf } from '../../../src/adapters/web-push/subscriptions.ts';
import { pushAppOf } from '../../../src/adapters/web-push/web-push-channel.ts';
import { createSeals, type Purpose } from '../../../src/channels/sealed-text.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { channelRequest } from '../../channels/channel-request.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { makePushKeys, openPushWorld, publicUrl, type PushKeys } from './push-world.ts';

const world = forAllTests(() => openPushWorld());
beforeEach(() => {
  world.service.pushed.length = 0;
});

const nameOf = (person: string) => ({ kind: 'push-subscriptions', owner: world.keys.publicKey, id: person });
const ask = async (person: string, channel = world.channelWith()): Promise<string[]> => {
  world.service.pushed.length = 0;
  await channel.notify!(channelRequest({ reviewers: [person] }), world.context());
  return world.service.pushed.map(({ browser }) => browser);
};

interface SealOptions {
  keys?: PushKeys;
  url?: string;
  namespace?: string;
  purpose?: Purpose;
  lifetimeMs?: number;
}
function sealed(content: object, { keys = world.keys, url = publicUrl, ...more }: SealOptions = {}): Promise<string> {
  const secret = createSecretKey(Buffer.from(keys.privateKey, 'base64url'));
  const { namespace = 'default', purpose = 'push', lifetimeMs = 60_000 } = more;
  return createSeals({ secret, publicUrl: url, namespace }).seal(purpose, { ...content }, Date.now() + lifetimeMs);
}

describe('a record that somebody else has written is not believed', () => {
  const content = () => ({ person: 'mia', groups: ['finance'], ...world.service.subscribe('evil') });
  test.each<[string, () => Promise<JsonObject>]>([
    ['in the clear', async () => ({ sealed: [JSON.stringify(content())], ...content() })],
    ['sealed by nobody', async () => ({ sealed: [Buffer.from(JSON.stringify(content())).toString('base64url')] })],
    ['of other push keys', async () => ({ sealed: [await sealed(content(), { keys: makePushKeys() })] })],
    ['of another gateway', async () => ({ sealed: [await sealed(content(), { url: 'https://other.example.com' })] })],
    ['of another namespace', async () => ({ sealed: [await sealed(content(), { namespace: 'other' })] })],
    ['made for something else', async () => ({ sealed: [await sealed(content(), { purpose: 'account' })] })],
    ['expired', async () => ({ sealed: [await sealed(content(), { lifetimeMs: -1_000 })] })],
    [
      "a copy of somebody else's own",
      async () => {
        await world.subscribed('eve');
        return (await world.records.get(nameOf('eve')))!;
      },
    ],
    ['no list', async () => ({ sealed: 'x' })],
    ['a list of anything', async () => ({ sealed: [null, 1, {}, 'x'] })],
  ])('%s', async (_, value) => {
    await world.records.put(nameOf('mia'), await value());
    expect(await ask('mia')).toEqual([]);
  });

  test('the same, sealed by the gateway, counts', async () => {
    await world.records.put(nameOf('mia'), { sealed: [await sealed(content())] });
    expect(await ask('mia')).toEqual(['evil']);
    await world.records.remove(nameOf('mia'));
  });

  test("nor is a copy of somebody else's own in the list of all", async () => {
    await world.subscribed('ada', ['treasury']);
    await world.records.put(nameOf('mia'), (await world.records.get(nameOf('ada')))!);
    await world.subscribed('ian', ['treasury']);
    await eventually('all are listed', async () => {
      const records = await world.records.list(nameOf(''));
      return ['ada', 'ian', 'mia'].every((person) => records.some(({ isOf }) => isOf(person)));
    });
    const people = (await world.subscriptions.all()).map(({ person }) => person);
    expect(people.filter((person) => person === 'ada')).toHaveLength(1);
    const [own] = await world.subscriptions.of('ada');
    await world.app.unsubscribe({ id: 'ada' }, own!.endpoint, world.records);
    await eventually('ada has gone', async () => (await ask('group:treasury')).join() === 'ian');
    await world.records.remove(nameOf('mia'));
  });

  test('nor is one in the list of all that the gateway did not seal', async () => {
    await world.records.put(nameOf('mia'), { sealed: [await sealed(content(), { keys: makePushKeys() })] });
    await world.subscribed('ivo', ['audit']);
    await eventually('ivo is listed', async () =>
      (await world.subscriptions.all()).some(({ person }) => person === 'ivo'),
    );
    expect(await ask('group:finance')).toEqual([]);
    expect(await ask('group:audit')).toEqual(['ivo']);
  });
});

test('a record says nothing to whoever lacks the push keys', async () => {
  await world.subscribed('uma', ['secret-group']);
  const text = JSON.stringify(await world.records.get(nameOf('uma')));
  for (const part of ['uma', 'secret-group', world.service.url, 'push/']) expect(text).not.toContain(part);
  const others = subscriptionsOf({ ...makePushKeys(), origin: publicUrl }, world.records);
  expect(await others.of('uma')).toEqual([]);
});

test('a person has ten subscriptions: the oldest goes, and the same browser has one', async () => {
  for (let count = 1; count <= 12; count += 1) await world.subscribed(`max's browser ${count}`);
  expect((await world.records.get(nameOf('max')))!['sealed']).toHaveLength(10);
  await world.subscribed("max's browser 5");
  const names = (await world.subscriptions.of('max')).map(({ endpoint }) =>
    decodeURIComponent(endpoint).split(' ').at(-1),
  );
  expect(names).toEqual(['3', '4', '6', '7', '8', '9', '10', '11', '12', '5']);
});

test('people end their own subscriptions, and nobody else does', async () => {
  await world.subscribed('pia');
  const { endpoint } = (await world.subscriptions.of('pia'))[0]!;
  expect(await world.app.unsubscribe({ id: 'eve' }, endpoint, world.records)).toBe(false);
  expect(await ask('pia')).toEqual(['pia']);
  expect(await world.app.unsubscribe({ id: 'pia' }, endpoint, world.records)).toBe(true);
  expect(await ask('pia')).toEqual([]);
  expect(await world.records.get(nameOf('pia'))).toBeUndefined();
});

test('names are the same in every normal form of Unicode', async () => {
  await world.app.subscribe({ id: 'Zoe\u0308', groups: [] }, world.service.subscribe('umlaut'), world.records);
  expect(await ask('Zo\u00eb')).toEqual(['umlaut']);
});

describe('an endpoint that no message may be sent to is not taken', () => {
  const subscription = (endpoint: string) => ({ ...world.service.subscribe('x'), endpoint });
  test.each([
    'http://push.example.com/x',
    'https://10.0.0.7/x',
    'https://169.254.169.254/latest/meta-data/',
    'https://[::1]/x',
    'https://[fd00::1]/x',
    'https://0x7f.1/x',
    'https://ann:secret@push.example.com/x',
    'https://push.example.com/x#y',
    'file:///etc/passwd',
    'x',
  ])('%s', async (endpoint) => {
    // Without the operator's list: 127.0.0.1 counts as any other.
    const app = pushAppOf({ push: world.channelWith({ allowAddresses: [] }) })!;
    const taking = app.subscribe({ id: 'ann', groups: [] }, subscription(endpoint), world.records);
    await expect(taking).rejects.toMatchObject({ code: 'arguments_invalid' });
  });

  test('nor is a key that is no point of the curve', async () => {
    const { endpoint, keys } = world.service.subscribe('x');
    const p256dh = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]).toString('base64url');
    const taking = world.app.subscribe(
      { id: 'ann', groups: [] },
      { endpoint, keys: { ...keys, p256dh } },
      world.records,
    );
    await expect(taking).rejects.toThrow('The key p256dh of the subscription is no key.');
  });
});

describe('an address that is not public is reached by no message', () => {
  test('the address itself, if the operator no longer allows it: the subscription goes', async () => {
    await world.subscribed('lea');
    const before = world.service.connections;
    expect(await ask('lea', world.channelWith({ allowAddresses: [] }))).toEqual([]);
    expect(world.service.connections).toBe(before);
    expect(await world.subscriptions.of('lea')).toEqual([]);
  });

  test.each(['127.0.0.1', '169.254.169.254', '10.1.2.3', '::1'])('a name that leads to %s', async (address) => {
    const { port } = new URL(world.service.url);
    const endpoint = `https://push.example.com:${port}/push/lea`;
    await world.app.subscribe(
      { id: 'lea', groups: [] },
      { ...world.service.subscribe('lea'), endpoint },
      world.records,
    );
    const before = world.service.connections;
    const channel = world.channelWith({
      allowAddresses: [],
      lookup: (_host, _options, callback) => callback(null, [{ address, family: address.includes(':') ? 6 : 4 }]),
    });
    expect(await ask('lea', channel)).toEqual([]);
    expect(world.service.connections).toBe(before);
    expect(await world.subscriptions.of('lea')).toEqual([]);
  });
});

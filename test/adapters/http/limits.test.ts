import { afterAll, beforeAll, expect, test } from 'vitest';
import { ProblemError } from '../../../src/core/base/problem.ts';
import { httpProblem } from '../../support/http-problem.ts';
import { openPeopleWorld, type PeopleWorld } from './people-world.ts';
import { rawRequest } from './raw-request.ts';

const refuseUnsigned = (): never => {
  throw new ProblemError({ code: 'forbidden', message: 'It is not signed.' });
};

let world: PeopleWorld;
beforeAll(async () => {
  const limits = { readsPerMinute: 5, writesPerMinute: 2 };
  const readers = { ann: ['viewer'], bob: ['viewer'], eve: ['viewer'] } as const;
  world = await openPeopleWorld(readers, { worker: false }, { limits });
});
afterAll(() => world.close());

const statuses = async (count: number, send: () => Promise<Response>): Promise<number[]> => {
  const all: number[] = [];
  for (let index = 0; index < count; index += 1) all.push((await send()).status);
  return all;
};

test('one person may ask so often, and another is not held up', async () => {
  expect(await statuses(7, () => world.as('ann')('GET', '/me'))).toEqual([200, 200, 200, 200, 200, 429, 429]);
  const response = await world.as('ann')('GET', '/me');
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await httpProblem(response)).toMatchObject({ status: 429, code: 'rate_limited' });
  expect((await world.as('bob')('GET', '/me')).status).toBe(200);
});

test('what changes something is counted by itself', async () => {
  const send = () => world.as('bob')('POST', '/runs', {});
  expect(await statuses(3, send)).toEqual([403, 403, 429]);
});

test('tokens that do not hold are counted by address', async () => {
  const send = () => world.call('GET', '/me', undefined, { authorization: `Bearer ${'0'.repeat(64)}` });
  expect(await statuses(6, send)).toEqual([401, 401, 401, 401, 401, 429]);
  expect((await world.as('eve')('GET', '/me')).status).toBe(200);
});

test('answers that nobody has signed are counted, whatever is wrong with them, and are not parsed', async () => {
  const signed = await openPeopleWorld(
    { ann: ['viewer'] },
    { worker: false },
    { limits: { writesPerMinute: 3, bodyBytes: 1_000 }, channels: { hook: { receive: refuseUnsigned } } },
  );
  const path = `/channels/hook/answers/${'0'.repeat(32)}`;
  const post = async (body: string): Promise<number> => {
    const headers = { 'content-type': 'application/json' };
    return (await rawRequest(`${signed.gateway.url}${path}`, { method: 'POST', headers, body })).status;
  };
  try {
    // Neither JSON nor an answer: only the signature is looked at.
    expect([await post('{'), await post('5'), await post('x'.repeat(2_000)), await post('{}')]).toEqual([
      403, 403, 413, 429,
    ]);
  } finally {
    await signed.close();
  }
});

test('health is not counted', async () => {
  expect(await statuses(8, () => world.call('GET', '/healthz'))).toEqual(Array(8).fill(200));
});

test('behind a trusted proxy, strangers are counted by their own addresses', async () => {
  const proxied = await openPeopleWorld(
    { ann: ['viewer'] },
    { worker: false },
    { limits: { writesPerMinute: 2 }, trustedProxies: ['127.0.0.1', '::1'] },
  );
  const from = (address: string) =>
    statuses(3, () =>
      proxied.call('POST', '/login/token', { token: 'x' }, { 'x-forwarded-for': `9.9.9.9, ${address}` }),
    );
  const one = await from('203.0.113.1');
  expect(one[2]).toBe(429);
  expect(one[0]).not.toBe(429);
  expect(await from('203.0.113.2')).toEqual(one);
  await proxied.close();
});

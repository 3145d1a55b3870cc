import { expect, test } from 'vitest';
import type { Principal } from '../../../packages/gateway/src/index.ts';
import { openGatewayWorld } from '../../support/gateway-world.ts';

test('nobody is nameless, a group, or one that hides or mixes letters, whatever authenticates them', async () => {
  const authenticator = {
    authenticate: async (request: Request): Promise<Principal> => {
      const id = decodeURIComponent(request.headers.get('x-person')!);
      return { id, roles: ['viewer'], groups: [], via: 'token', key: id };
    },
  };
  const world = await openGatewayWorld({ worker: false }, { authenticator });
  try {
    const me = (id: string) => world.call('GET', '/me', undefined, { 'x-person': encodeURIComponent(id) });
    for (const id of ['', ' ', 'group:finance', 'ann\u200B', '\u202Enna', 'Аnn', 'ａnn', 'an\u200Cn', 'علی\u200C'])
      expect([id, (await me(id)).status]).toEqual([id, 401]);
    for (const id of ['Ahmet Yılmaz', 'Yıldız', 'Сара', 'علی‌رضا', 'ශ්‍රී', 'José', 'Роман', '김Chris', 'ΜΑΡΙΑ'])
      expect(await (await me(id)).json()).toMatchObject({ id });
    expect(await (await me('Zoe\u0308')).json()).toMatchObject({ id: 'Zo\u00EB' });
  } finally {
    await world.close();
  }
});

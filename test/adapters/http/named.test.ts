import { expect, test } from 'vitest';
import type { Principal } from '../../../packages/gateway/src/index.ts';
import { openGatewayWorld } from '../../support/gateway-world.ts';

test('nobody is nameless, a group, or somebody who only looks like another, whatever authenticates them', async () => {
  const authenticator = {
    authenticate: async (request: Request): Promise<Principal> => {
      const id = decodeURIComponent(request.headers.get('x-person')!);
      return { id, roles: ['viewer'], groups: [], via: 'token', key: id };
    },
  };
  const world = await openGatewayWorld({ worker: false }, { authenticator });
  try {
    const me = (id: string) => world.call('GET', '/me', undefined, { 'x-person': encodeURIComponent(id) });
    for (const id of ['', ' ', 'group:finance', 'ann\u200B', '\u202Enna'])
      expect([id, (await me(id)).status]).toEqual([id, 401]);
    expect(await (await me('Zoe\u0308')).json()).toMatchObject({ id: 'Zo\u00EB' });
  } finally {
    await world.close();
  }
});

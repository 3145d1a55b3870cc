import type { Role } from '../../../packages/gateway/src/http/identity/principal.ts';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';
import type { GatewayOptions } from '../../../packages/gateway/src/index.ts';
import { identityOf, makeToken } from '../../support/identity.ts';
import type { WorldOptions } from '../../support/world.ts';

/** A gateway whose senders have tokens: `as('ann')` sends as her. */
export interface PeopleWorld extends GatewayWorld {
  as(name: string): GatewayWorld['call'];
}

export async function openPeopleWorld(
  people: Readonly<Record<string, readonly Role[]>>,
  options: WorldOptions = {},
  gatewayOptions: Partial<GatewayOptions> = {},
): Promise<PeopleWorld> {
  const made = Object.entries(people).map(([name, roles]) => [name, makeToken(name, roles)] as const);
  const tokens = new Map(made);
  const identity = identityOf({ tokens: made.map(([, { entry }]) => entry) });
  const world = await openGatewayWorld(options, { identity, ...gatewayOptions });
  return {
    ...world,
    as: (name) => (method, path, body, headers) =>
      world.call(method, path, body, { ...tokens.get(name)!.bearer, ...headers }),
  };
}

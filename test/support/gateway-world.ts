import type { Gateway, GatewayOptions } from '../../packages/gateway/src/index.ts';
import { startGateway } from '../../packages/gateway/src/index.ts';
import { startOn } from './start-on.ts';
import { type World, type WorldOptions, openWorld } from './world.ts';

/** A worker on its own task queue, and a gateway on a free port of 127.0.0.1. */
export interface GatewayWorld extends World {
  gateway: Gateway;
  /** Sends a request to the gateway; `body` is sent as JSON. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
}

export async function openGatewayWorld(
  options: WorldOptions = {},
  gatewayOptions: Partial<GatewayOptions> = {},
): Promise<GatewayWorld> {
  const world = await openWorld(options);
  const { port = 0 } = gatewayOptions;
  const gateway = await startOn(port, () =>
    startGateway({ client: world.client, port, log: () => undefined, ...gatewayOptions }),
  );
  return {
    ...world,
    gateway,
    call: (method, path, body, headers = {}) =>
      fetch(new URL(path, gateway.url), {
        method,
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        body: body === undefined ? undefined : JSON.stringify(body),
      }),
    close: async () => {
      await gateway.stop();
      await world.close();
    },
  };
}

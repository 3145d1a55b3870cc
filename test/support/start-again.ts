import { isPortFree } from '../../packages/cli/src/dev-server/free-port.ts';
import {
  type DevServer,
  type DevServerOptions,
  startDevServer,
} from '../../packages/cli/src/dev-server/start-dev-server.ts';
import { eventually } from './eventually.ts';

/** Starts a Temporal server that has ended on the port that it had. A connection of another process may have taken it. */
export async function startAgain(
  { address }: Pick<DevServer, 'address'>,
  options: DevServerOptions,
): Promise<DevServer> {
  const port = Number(address.split(':')[1]);
  await eventually(`port ${port} is free`, () => isPortFree(port));
  return startDevServer({ ...options, port });
}

import {
  type DevServer,
  type DevServerOptions,
  startDevServer,
} from '../../packages/cli/src/dev-server/start-dev-server.ts';
import { eventually } from './eventually.ts';

/**
 * Starts what listens on a port that was free a moment ago, such as the one that it had before. A connection of another
 * process may have the port for a while: then it is tried again.
 */
export async function startOn<Started>(port: number, start: () => Promise<Started>): Promise<Started> {
  const { started } = await eventually(`port ${port} is free`, async () => {
    try {
      return { started: await start() };
    } catch (error) {
      if (!isOfTakenPort(error)) throw error;
      return undefined;
    }
  });
  return started;
}

function isOfTakenPort(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return /EADDRINUSE|address already in use|port \d+ is taken/i.test(error.message) || isOfTakenPort(error.cause);
}

/** Starts a Temporal server that has ended on the port that it had. */
export function startAgain({ address }: Pick<DevServer, 'address'>, options: DevServerOptions): Promise<DevServer> {
  const port = Number(address.split(':')[1]);
  return startOn(port, () => startDevServer({ ...options, port }));
}

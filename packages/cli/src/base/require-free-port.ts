import { UsageError } from './report-error.ts';

/** Throws a usage error if `port` is in use. 0 means any free one. */
export async function requireFreePort(port: number, flag: string, host?: string): Promise<void> {
  const { isPortTaken } = await import('../dev-server/free-port.ts');
  if (port === 0 || !(await isPortTaken(port, host))) return;
  throw new UsageError(`Port ${port} is taken: stop what listens there or choose another with ${flag}.`);
}

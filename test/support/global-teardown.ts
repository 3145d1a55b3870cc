import { takeServer } from './shared-server.ts';

/** Runs once after the durable tests. */
export default async function globalTeardown(): Promise<void> {
  await takeServer()?.stop();
}

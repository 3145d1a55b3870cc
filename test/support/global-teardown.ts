import { rmSync } from 'node:fs';
import { sharedFolder, takeServer } from './shared-server.ts';

/** Runs once after the durable tests. */
export default async function globalTeardown(): Promise<void> {
  await takeServer()?.stop();
  const folder = sharedFolder();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { startOn } from './start-on.ts';

async function listening(port = 0) {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

test('what finds its port taken starts when the port is free', async () => {
  const other = await listening();
  const { port } = other.address() as AddressInfo;
  let tries = 0;
  const server = await startOn(port, () => {
    tries += 1;
    if (tries === 2) other.close();
    return listening(port);
  });
  expect(tries).toBeGreaterThan(1);
  expect((server.address() as AddressInfo).port).toBe(port);
  server.close();
});

test('what fails for another reason is not tried again, nor what returns nothing', async () => {
  let tries = 0;
  const fail = async (): Promise<void> => {
    tries += 1;
    throw new Error('no such program');
  };
  await expect(startOn(1, fail)).rejects.toThrow('no such program');
  await startOn(1, async () => void (tries += 1));
  expect(tries).toBe(2);
});

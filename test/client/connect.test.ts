import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { connect } from '../../src/client/server/session.ts';
import { createClient } from '../../src/client/client.ts';
import { sharedAddress } from '../support/shared-server.ts';
import { listen } from '../support/listen.ts';

describe('connect', () => {
  test('no server: one sentence with the address and the remedy', async () => {
    await expect(connect({ address: '127.0.0.1:1', connectTimeoutMs: 300 })).rejects.toMatchObject({
      name: 'ProblemError',
      code: 'server_unreachable',
      message:
        'No Temporal server answered at 127.0.0.1:1 in time: start one with `countersign server`, or name another with --address or TEMPORAL_ADDRESS.',
    });
  });

  test('a listener that is not a Temporal server', async () => {
    const { address, close } = await listen(createServer());
    // It may be a server that is busy.
    await expect(connect({ address, connectTimeoutMs: 300 })).rejects.toMatchObject({
      code: 'server_unreachable',
      message: expect.stringContaining('in time'),
    });
    await close();
  });

  test('an invalid address', async () => {
    await expect(connect({ address: 'http://a b:1' })).rejects.toMatchObject({
      code: 'server_unreachable',
      message: "'http://a b:1' is not an address: write HOST:PORT, such as 127.0.0.1:7233.",
    });
  });

  test.each([
    [
      { attributes: { ids: 'My Ids' } },
      "attributes: 'My Ids' is not a name: letters, digits and _, at most 64, not beginning with Temporal.",
    ],
    [
      { largePayloads: { folder: 'payloads', thresholdBytes: 5 } },
      'largePayloads.thresholdBytes must be a whole number from 65536 to 1000000.',
    ],
  ])('%j: reported before any server is contacted', async (options, message) => {
    await expect(connect({ address: '127.0.0.1:1', connectTimeoutMs: 300, ...options })).rejects.toMatchObject({
      code: 'internal',
      message,
    });
  });

  test('a namespace that the server does not have', async () => {
    const client = await createClient({ address: sharedAddress(), namespace: 'nowhere' });
    const message = `The Temporal server at ${sharedAddress()} has no namespace 'nowhere'.`;
    await expect(client.approvals.list()).rejects.toMatchObject({ code: 'server_unreachable', message });
    await expect(client.show('run-x')).rejects.toMatchObject({ code: 'server_unreachable', message });
    await client.close();
  });

  test('a connection given by the caller is used and stays open', async () => {
    const own = await connect({ address: sharedAddress() });
    const client = await createClient({ connection: own.connection });
    await expect(client.show('run-x')).rejects.toMatchObject({ code: 'run_not_found' });
    await client.close();
    await expect(own.connection.workflowService.getSystemInfo({})).resolves.toBeDefined();
    await own.connection.close();
  });
});

import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { sharedAddress } from '../support/shared-server.ts';

/**
 * A client that is closed while the SDK waits to repeat a call. In a process of its own, since what goes wrong is an
 * error that a timer throws and nobody can catch.
 */
const script = `
import { createServer, connect } from 'node:net';
import { once } from 'node:events';
import { createClient } from '${new URL('../../src/client/client.ts', import.meta.url).href}';

const [host, port] = process.argv[1].split(':');
const sockets = new Set();
const proxy = createServer((from) => {
  const to = connect(Number(port), host);
  for (const socket of [from, to]) sockets.add(socket.on('error', () => socket.destroy()));
  from.pipe(to).pipe(from);
});
proxy.listen(0, '127.0.0.1');
await once(proxy, 'listening');
const client = await createClient({ address: '127.0.0.1:' + proxy.address().port });
proxy.close();
for (const socket of sockets) socket.destroy();
const asked = Promise.allSettled([client.show('nobody'), client.approvals.list()]);
await new Promise((resolve) => setTimeout(resolve, 1_000)); // the SDK has begun to repeat them by then
await client.close();
for (const { reason } of await asked) console.log(reason.code);
`;

test('a client that is closed while a call is being repeated ends that call, and the process in peace', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', script, sharedAddress()],
    { encoding: 'utf8', timeout: 30_000 },
  );
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'server_unreachable\n'.repeat(2), stderr: '' });
});

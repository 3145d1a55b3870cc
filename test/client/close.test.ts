import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { sharedAddress } from '../support/shared-server.ts';

const run = promisify(execFile);

/**
 * Closes a client while the SDK waits to retry a call. Runs in its own process, because a failure would be an
 * uncatchable error thrown by a timer.
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
const asked = Promise.allSettled([client.show('nobody'), client.approvals.list({ limit: 1 })]);
await new Promise((resolve) => setTimeout(resolve, 1_000)); // the SDK has begun to repeat them by then
await client.close();
for (const { reason } of await asked) console.log(reason.code);
`;

test('closing a client while a call is being retried ends the call, and the process exits cleanly', async () => {
  const running = run(process.execPath, ['--input-type=module', '--eval', script, sharedAddress()]);
  onTestFinished(() => void running.child.kill('SIGKILL'));
  expect(await running).toEqual({ stdout: 'server_unreachable\n'.repeat(2), stderr: '' });
});

import { connect } from 'node:net';
import { once as event } from 'node:events';
import { expect, test } from 'vitest';
import { createClient } from '../../../src/client.ts';
import { type GatewayOptions, startGateway } from '../../../packages/gateway/src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { openGatewayWorld } from '../../support/gateway-world.ts';
import { httpProblem } from '../../support/http-problem.ts';
import { openLink } from '../../support/link.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { once, pay, rule } from '../../support/team.ts';

// Each waits for a time-out of its own.
test.concurrent('ready while the server answers, and alive also when it does not', async () => {
  const tunnel = await openLink(sharedAddress());
  const client = await createClient({ address: tunnel.address });
  const gateway = await startGateway({ client, port: 0, log: () => undefined });
  const ask = (path: string) => fetch(new URL(path, gateway.url));
  try {
    expect((await ask('/readyz')).status).toBe(200);
    const { workflowService } = client.session.connection;
    const describe = workflowService.describeNamespace.bind(workflowService);
    const looks = { now: 0, most: 0, all: 0 };
    workflowService.describeNamespace = ((request: object) => {
      looks.all += 1;
      looks.most = Math.max(looks.most, (looks.now += 1));
      return describe(request).finally(() => (looks.now -= 1));
    }) as never;
    await eventually('another look', async () => (await ask('/readyz')).ok && looks.all > 0);
    const before = looks.all;
    await Promise.all(Array.from({ length: 50 }, () => ask('/readyz')));
    // A machine that takes more than a second for all of them looks again, but never twice at once.
    expect(looks.all - before).toBeLessThan(25);
    expect(looks.most).toBe(1);
    await tunnel.close();
    const away = await eventually('the gateway is not ready', async () => {
      const response = await ask('/readyz');
      return response.status !== 200 && response;
    });
    expect(await httpProblem(away)).toMatchObject({ status: 503, code: 'server_unreachable' });
    expect((await ask('/healthz')).status).toBe(200);
    expect(await httpProblem(await ask('/approvals'))).toMatchObject({ status: 503, code: 'server_unreachable' });
  } finally {
    await gateway.stop();
    await client.close();
  }
});

test.concurrent('a gateway that stops answers what it has taken, ends its streams, and takes no more', async () => {
  const world = await openGatewayWorld({ agentPolicy: rule('pay', 'ask') });
  try {
    const run = await world.start(once(pay('shop')));
    const [request] = await run.open();
    await world.stopWorker();
    const stream = await world.call('GET', `/runs/${run.workflowId}/events`);
    expect(stream.status).toBe(200);
    // Without a worker the answer takes some seconds.
    const answer = world.call('POST', `/approve/${request!.requestId}?workflowId=${run.workflowId}`, {
      approved: true,
    });
    await eventually('the decision has reached the run', async () => {
      const { raw } = await run.handle.describe();
      return (raw.pendingWorkflowTask?.state ?? 0) !== 0;
    });
    const stopped = world.gateway.stop();
    await expect(fetch(new URL('/healthz', world.gateway.url))).rejects.toThrow('fetch failed');
    const receipt = await answer;
    expect([receipt.status, receipt.headers.get('connection')]).toEqual([200, 'close']);
    expect(await receipt.json()).toMatchObject({ accepted: true, recorded: true });
    await stream.text();
    await stopped;
  } finally {
    await world.close();
  }
});

test.concurrent('a request that never ends does not keep a gateway that stops', async () => {
  const world = await openGatewayWorld({ worker: false }, { stopTimeoutMs: 300 });
  const { port } = new URL(world.gateway.url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(
    `POST /runs HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{`,
  );
  await event(socket, 'connect');
  const closed = event(socket, 'close');
  await world.close();
  await closed;
});

test.concurrent('without a worker, a list comes from the index, and a request cannot be shown', async () => {
  const world = await openGatewayWorld({ agentPolicy: rule('pay', 'ask') });
  try {
    const run = await world.start(once(pay('shop')));
    const [request] = await run.open();
    await world.stopWorker();
    const list = (await (await world.call('GET', `/approvals?workflowId=${run.workflowId}`)).json()) as object;
    expect(list).toMatchObject({ approvals: [{ requestId: request!.requestId, waitsFor: 'anyone' }] });
    const view = await world.call('GET', `/approvals/${request!.requestId}?workflowId=${run.workflowId}`);
    expect(await httpProblem(view)).toMatchObject({ status: 503, code: 'no_worker' });
  } finally {
    await world.close();
  }
});

test('an address that others can reach, and one that is taken', async () => {
  const client = await createClient({ address: sharedAddress() });
  try {
    await expect(startGateway({ client, host: '0.0.0.0', port: 0 })).rejects.toThrow('give it an identity file');
    const mistyped = { client, port: 0, identiy: undefined } as GatewayOptions;
    await expect(startGateway(mistyped)).rejects.toThrow("unknown option 'identiy': did you mean 'identity'?");
    const first = await startGateway({ client, port: 0 });
    const port = Number(new URL(first.url).port);
    await expect(startGateway({ client, port })).rejects.toThrow(`cannot listen on 127.0.0.1:${port}`);
    await first.stop();
  } finally {
    await client.close();
  }
});

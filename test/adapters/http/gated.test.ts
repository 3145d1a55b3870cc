import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';
import { httpProblem } from '../../support/http-problem.ts';
import { once, pay, rule } from '../../support/team.ts';

let world: GatewayWorld;
let foreign: string;
let requestId: string;
beforeAll(async () => {
  world = await openGatewayWorld({ agentPolicy: rule('pay', 'ask') });
  foreign = `billing-${randomUUID()}`;
  // Its memo has our name and other content.
  await world.client.session.client.workflow.start('billing', {
    workflowId: foreign,
    taskQueue: `nobody-${randomUUID()}`,
    args: ['the salaries of everybody'],
    memo: { approvals: { open: [], approvedBy: 'the board' } },
  });
  const run = await world.start(once(pay('bob')));
  requestId = (await run.open())[0]!.requestId;
});
afterAll(async () => {
  await world.client.session.client.workflow.getHandle(foreign).terminate();
  await world.close();
});

test('a workflow without a gate is no run of this gateway, whatever is asked about it', async () => {
  const inForeign = `?workflowId=${foreign}`;
  const until = new Date(Date.now() + 60_000).toISOString();
  const digest = '0'.repeat(64);
  const calls: [string, string, unknown?][] = [
    ['GET', `/runs/${foreign}`],
    ['GET', `/runs/${foreign}/events?follow=false`],
    ['GET', `/runs/${foreign}/journal`],
    ['GET', `/runs/${foreign}/grants`],
    ['GET', `/runs/${foreign}/audit`],
    ['POST', `/runs/${foreign}/messages`, { content: 'hi' }],
    ['POST', `/runs/${foreign}/cancel`, {}],
    ['POST', `/runs/${foreign}/close`, {}],
    ['PUT', `/runs/${foreign}/policy`, { mode: 'plan' }],
    ['DELETE', `/runs/${foreign}/grants/grant-1`],
    ['GET', `/approvals${inForeign}`],
    ['GET', `/approvals/${requestId}${inForeign}`],
    ['POST', `/approve/${requestId}${inForeign}`, { approved: true }],
    ['POST', `/approvals/${requestId}/extend${inForeign}`, { until }],
    ['POST', `/approvals/${requestId}/delegate${inForeign}`, { to: 'ann' }],
    ['POST', `/approvals/${requestId}/matches${inForeign}`, { scope: { kind: 'tool' } }],
    ['GET', `/runs/${'x'.repeat(1_001)}`],
    ['GET', '/runs/%00'],
    ['GET', '/runs/no-such-run'],
  ];
  const found = await Promise.all(
    calls.map(async ([method, path, body]) => {
      const { status, code } = await httpProblem(await world.call(method, path, body));
      return [method, path, status, code];
    }),
  );
  expect(found).toEqual(calls.map(([method, path]) => [method, path, 404, 'run_not_found']));
  const body = { approved: true, requests: [{ requestId, digest, workflowId: foreign }] };
  expect(await (await world.call('POST', '/approvals/decide', body)).json()).toMatchObject({
    receipts: [{ requestId, accepted: false, code: 'run_not_found' }],
  });
  const handle = world.client.session.client.workflow.getHandle(foreign);
  expect((await handle.describe()).status.name).toBe('RUNNING');
  const { events } = await handle.fetchHistory();
  // It was started, and nothing else: no signal, no update, no cancellation.
  expect(events?.map(({ eventId }) => Number(eventId))).toEqual([1, 2]);
});

test('a list of runs has none of them', async () => {
  const { runs } = (await (await world.call('GET', '/runs?limit=500')).json()) as { runs: { workflowId: string }[] };
  expect(runs.map(({ workflowId }) => workflowId)).not.toContain(foreign);
});

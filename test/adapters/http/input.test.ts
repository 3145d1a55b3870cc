import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { createHttpServer } from '../../../packages/gateway/src/http/server/http-server.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { openGatewayWorld } from '../../support/gateway-world.ts';
import { httpProblem } from '../../support/http-problem.ts';
import { listen } from '../../support/listen.ts';

const id = '0'.repeat(32);
const digest = '0'.repeat(64);
const world = forAllTests(() => openGatewayWorld({ worker: false }, { limits: { bodyBytes: 50_000 } }));

/** Sends a body as it is. */
async function send(path: string, body: string | Uint8Array, type = 'application/json') {
  const headers = { 'content-type': type };
  return httpProblem(await fetch(new URL(path, world.gateway.url), { method: 'POST', headers, body }));
}

describe('what is not in the shape of a route is refused with its place', () => {
  test.each<[string, string, unknown, string, string]>([
    ['POST', `/approve/${id}`, {}, 'invalid_decision', 'body.approved: '],
    ['POST', `/approve/${id}`, { approved: 'yes' }, 'invalid_decision', 'body.approved: '],
    ['POST', `/approve/${id}`, [], 'invalid_decision', 'body: '],
    [
      'POST',
      `/approve/${id}`,
      { approved: true, reviewerId: 'ann' },
      'invalid_decision',
      'body.reviewerId: there is no',
    ],
    ['POST', `/approve/${id}`, { approved: true, requestId: id }, 'invalid_decision', 'body.requestId: there is no'],
    ['POST', `/approve/${id}`, { approved: true, signature: {} }, 'invalid_decision', 'body.signature: there is no'],
    ['POST', `/approve/${id}`, { approved: true, always: { kind: 'all' } }, 'invalid_decision', 'body.always.kind: '],
    ['POST', `/approve/${id}`, { approved: true, viewed: { batch: 3 } }, 'invalid_decision', 'body.viewed.batch: '],
    ['POST', `/approve/${id}`, { approved: true, digest: 'A'.repeat(64) }, 'invalid_decision', 'body.digest: '],
    ['POST', `/approve/${id}?as=ann`, { approved: true }, 'invalid_decision', 'query.as: there is no'],
    ['POST', '/approvals/decide', { approved: true, requests: [] }, 'invalid_decision', 'body.requests: '],
    [
      'POST',
      '/approvals/decide',
      { approved: true, requests: [{ requestId: id, digest }] },
      'invalid_decision',
      'body.requests[0].workflowId: ',
    ],
    ['POST', `/approvals/${id}/extend`, { until: 5 }, 'arguments_invalid', 'body.until: '],
    ['POST', `/approvals/${id}/extend`, { until: 'x', by: 'ann' }, 'arguments_invalid', 'body.by: there is no'],
    ['POST', `/approvals/${id}/delegate`, {}, 'arguments_invalid', 'body.to: '],
    ['POST', `/approvals/${id}/matches`, { scope: { kind: 'x' } }, 'arguments_invalid', 'body.scope.kind: '],
    ['POST', '/runs', { input: 'hi' }, 'arguments_invalid', 'body.agent: '],
    ['POST', '/runs', { agent: 'a', input: 'hi', parent: {} }, 'arguments_invalid', 'body.parent: there is no'],
    ['POST', '/runs', { agent: 'a', input: 'hi', taskQueue: 'x' }, 'arguments_invalid', 'body.taskQueue: there is no'],
    ['POST', '/runs', { agent: 'a', input: 'hi', mode: 'x' }, 'arguments_invalid', 'body.mode: '],
    [
      'POST',
      '/runs',
      {
        agent: 'a',
        input: [
          { role: 'user', content: '' },
          { role: 'assistant', content: 'Paid.' },
        ],
      },
      'arguments_invalid',
      'body.input[1].role: ',
    ],
    [
      'POST',
      '/runs',
      { agent: 'a', input: [{ role: 'tool', toolCallId: '1', toolName: 'pay', content: 'ok' }] },
      'arguments_invalid',
      'body.input[0].role: ',
    ],
    ['PUT', '/runs/x/policy', { mode: 'plan', by: 'ann' }, 'arguments_invalid', 'body.by: there is no'],
    ['GET', '/approvals?limit=0', undefined, 'arguments_invalid', 'query.limit: '],
    ['GET', '/approvals?limit=1e2', undefined, 'arguments_invalid', 'query.limit: '],
    ['GET', '/approvals?limit=1&limit=2', undefined, 'arguments_invalid', 'query.limit: '],
    ['GET', '/approvals?reviewer=ann', undefined, 'arguments_invalid', 'query.reviewer: there is no'],
    ['GET', '/approvals?after=x', undefined, 'invalid_message', ''],
    ['GET', '/runs?status=open', undefined, 'arguments_invalid', 'query.status: '],
  ])('%s %s %j', async (method, path, body, code, detail) => {
    const problem = await httpProblem(await world.call(method, path, body));
    expect(problem).toMatchObject({ status: 422, code });
    expect(problem.detail.startsWith(detail)).toBe(true);
  });

  test('an idempotency key of other characters', async () => {
    const headers = { 'idempotency-key': 'a b' };
    const problem = await httpProblem(await world.call('POST', '/runs', { agent: 'a', input: 'hi' }, headers));
    expect(problem).toMatchObject({ status: 422, code: 'arguments_invalid' });
  });

  test('names of members are shown, bounded and visible', async () => {
    const { detail } = await send(
      '/runs',
      JSON.stringify({ agent: 'a', input: 'hi', [`\u202e${'x'.repeat(5_000)}`]: 1 }),
    );
    expect(detail.length).toBeLessThan(600);
    expect(detail).not.toContain('\u202e');
  });
});

describe('a body that is not plain JSON is refused', () => {
  test.each<[string, string | Uint8Array, string | undefined]>([
    ['no JSON', '{"approved": tru', undefined],
    ['a name that occurs twice', '{"approved":false,"approved":true}', undefined],
    ['a number that a double does not hold', '{"approved":true,"response":9007199254740993}', undefined],
    ['half a surrogate pair', '{"approved":true,"reason":"\\ud800"}', undefined],
    ['deeper than any reader goes', `{"response":${'['.repeat(100)}${']'.repeat(100)},"approved":false}`, undefined],
    ['not UTF-8', new Uint8Array([123, 34, 255, 34, 58, 49, 125]), undefined],
    ['JSON under another name', '{"approved":true}', 'application/json-patch+json'],
  ])('%s', async (_name, body, type) => {
    expect(await send(`/approve/${id}`, body, type)).toMatchObject({ status: 422, code: 'undecodable' });
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded'])(
    '%s, which a page of another origin can send',
    async (type) => {
      expect(await send(`/approve/${id}`, '{"approved":true}', type)).toMatchObject({
        status: 403,
        code: 'forbidden',
        detail: expect.stringContaining('send it with content-type: application/json'),
      });
    },
  );

  test('a body that is too large, with and without its length', async () => {
    const large = JSON.stringify({ approved: true, reason: 'x'.repeat(60_000) });
    const problem = { status: 413, code: 'too_large', detail: 'A body has at most 50000 bytes.' };
    expect(await send(`/approve/${id}`, large)).toEqual(problem);
    const stream = new Blob([large]).stream();
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: stream, duplex: 'half' };
    expect(await httpProblem(await fetch(new URL(`/approve/${id}`, world.gateway.url), init as RequestInit))).toEqual(
      problem,
    );
  });
});

describe('what only HTTP knows is a problem too', () => {
  test.each<[string, string, number, string | null]>([
    ['GET', '/nothing', 404, null],
    ['GET', '/approvals/', 404, null],
    ['GET', '/runs/x/y/z', 404, null],
    ['PATCH', '/approvals', 405, 'GET, HEAD'],
    ['GET', `/approve/${id}`, 405, 'POST'],
    ['DELETE', '/runs/x', 405, 'GET, HEAD'],
    ['OPTIONS', '/runs', 405, 'POST, GET, HEAD'],
  ])('%s %s', async (method, path, status, allow) => {
    const response = await world.call(method, path);
    expect(response.headers.get('allow')).toBe(allow);
    const problem = await httpProblem(response);
    expect([problem.status, problem.code]).toEqual([status, undefined]);
  });

  test.each<[string, string, number]>([
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['no Host', 'GET / HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
    ['a Host that is none', 'GET / HTTP/1.1\r\nhost: a b\r\nconnection: close\r\n\r\n', 400],
    ['no path', 'OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 400],
    ['a backslash', 'GET /inbox/..\\..\\x HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 400],
    ['an expectation', 'GET / HTTP/1.1\r\nhost: x\r\nexpect: tea\r\nconnection: close\r\n\r\n', 417],
    ['an address of 20 kB', `GET /approvals?tool=${'x'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, 431],
  ])('%s', async (_name, request, status) => {
    const socket = connect(Number(new URL(world.gateway.url).port), '127.0.0.1');
    socket.write(request);
    const answer = await text(socket);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toContain('content-type: application/problem+json');
    expect(JSON.parse(answer.split('\r\n\r\n')[1]!)).toMatchObject({ type: 'about:blank', status });
  });
});

test('what comes too slowly is cut soon after its time, not at the next half minute', async () => {
  const server = createHttpServer(() => new Response('never'), '127.0.0.1', {
    headersTimeout: 500,
    requestTimeout: 500,
  });
  const { port, close } = await listen(server);
  const socket = connect(port, '127.0.0.1');
  // Counted by the loop in which the server looks: both are late on a busy machine.
  let seconds = 0;
  const counting = setInterval(() => (seconds += 1), 1_000);
  socket.write('GET / HTTP/1.1\r\nhost: ');
  expect(await text(socket)).toMatch(/^HTTP\/1.1 408 /);
  clearInterval(counting);
  expect(seconds).toBeLessThan(20);
  await close();
});

test('a member that changes the prototype of an object is refused, and not left out', async () => {
  const bodies = [
    '{"approved":false,"__proto__":{"approved":true}}',
    '{"approved":true,"modifiedArguments":{"__proto__":{}}}',
  ];
  for (const body of bodies) {
    expect(await send(`/approve/${id}`, body)).toMatchObject({
      code: 'undecodable',
      detail: expect.stringContaining('__proto__'),
    });
  }
});

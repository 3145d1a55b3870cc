import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { permissions } from '../../../packages/gateway/src/http/identity/principal.ts';
import { problemStatus } from '../../../packages/gateway/src/http/responses/problem-response.ts';
import { defaultLimits } from '../../../packages/gateway/src/http/server/limits.ts';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';
import { commandsOf } from '../../support/page-commands.ts';
import { once, pay, rule } from '../../support/team.ts';

const name = 'docs/gateway.md';
const page = readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
const run = promisify(execFile);

let world: GatewayWorld;
beforeAll(async () => {
  world = await openGatewayWorld({ agentPolicy: rule('pay', 'ask') });
});
afterAll(() => world.close());

/** The rows of the tables, each as its cells. */
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')));

test('the commands of the page do what it says', async () => {
  const asking = await world.start(once(pay('shop')));
  const [request] = await asking.open();
  const env = { ...process.env, REQUEST: request!.requestId, RUN: asking.workflowId };
  const lines = commandsOf(name).filter(({ line, isWhole }) => isWhole && line.startsWith('curl '));
  expect(lines).toHaveLength(5);
  const answers: unknown[] = [];
  for (const { line } of lines) {
    const { stdout } = await run('bash', ['-c', line.replaceAll('http://127.0.0.1:7280', world.gateway.url)], { env });
    answers.push(JSON.parse(stdout));
  }
  expect(answers).toMatchObject([
    { more: expect.any(Number) },
    { request: { requestId: request!.requestId } },
    { accepted: true, outcome: 'approved' },
    { workflowId: expect.stringMatching(/^key-/) },
    { openapi: '3.1.0' },
  ]);
});

test('its table of codes is the table of the gateway', () => {
  const listed = rows.filter(([, code = '']) => Object.hasOwn(problemStatus, code));
  expect(Object.fromEntries(listed.map(([, code, status]) => [code, Number(status)]))).toEqual(problemStatus);
});

test('its table of routes says who may use them', () => {
  const listed = rows.filter(([, route = '']) => /^[A-Z]+ \//.test(route));
  expect(listed.length).toBeGreaterThan(20);
  for (const [, route = '', who] of listed) {
    const permission = permissions[route as keyof typeof permissions];
    expect([route, who]).toEqual([route, typeof permission === 'string' ? permission : permission?.join(', ')]);
  }
});

test('its table of limits has the defaults', () => {
  const listed = rows.filter(([, option = '']) => Object.hasOwn(defaultLimits, option));
  const found = listed.map(([, option, value = '']) => [option, Number(value.replaceAll(',', ''))]);
  expect(Object.fromEntries(found)).toEqual(defaultLimits);
});

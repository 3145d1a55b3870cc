import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { permissions, roles } from '../../../packages/gateway/src/http/identity/principal.ts';
import { problemStatus } from '../../../packages/gateway/src/http/responses.ts';
import { defaultLimits } from '../../../packages/gateway/src/http/server/limits.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { openGatewayWorld } from '../../support/gateway-world.ts';
import { commandsOf } from '../../support/page-commands.ts';
import { once, pay, rule } from '../../support/team.ts';

const name = 'docs/gateway.md';
const page = readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
const run = promisify(execFile);

const world = forAllTests(() => openGatewayWorld({ agentPolicy: rule('pay', 'ask') }));

/** The lines of the lists, each in one line. */
const items = [...page.matchAll(/^- (.*(?:\n {2}.*)*)/gm)].map(([, item = '']) => item.replaceAll(/\s+/g, ' '));

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

test('its list of codes is that of the gateway', () => {
  const listed = items.flatMap((item) => {
    const [, status, codes = ''] = /^(\d{3}): (.*)$/.exec(item) ?? [];
    return status === undefined
      ? []
      : codes.split(', ').map((code) => [code.replaceAll('`', ''), Number(status)] as const);
  });
  expect(Object.fromEntries(listed)).toEqual(problemStatus);
  expect(listed).toHaveLength(Object.keys(problemStatus).length);
});

test('its list of routes says who may use them', () => {
  const listed = items.flatMap((item) => {
    const [, route, who] = /^`([A-Z]+ \/.*?)` \((.*?)\): /.exec(item) ?? [];
    return route === undefined ? [] : [[route, who] as const];
  });
  expect(listed.length).toBeGreaterThan(20);
  for (const [route, who] of listed) {
    const permission = permissions[route as keyof typeof permissions];
    const expected = typeof permission === 'string' ? permission : permission?.join(', ');
    expect([route, who]).toEqual([route, expected === roles.join(', ') ? 'every role' : expected]);
  }
});

test('its list of limits has the defaults', () => {
  const listed = items.flatMap((item) => {
    const [, option = '', value = ''] = /^`(\w+)`: ([\d,]+), /.exec(item) ?? [];
    return Object.hasOwn(defaultLimits, option) ? [[option, Number(value.replaceAll(',', ''))] as const] : [];
  });
  expect(Object.fromEntries(listed)).toEqual(defaultLimits);
});

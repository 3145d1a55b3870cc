/** Who may use which route: every cell of the table, over HTTP, by token and by session. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Permission, permissions, roles } from '../../../../packages/gateway/src/http/identity/principal.ts';
import { type GatewayWorld, openGatewayWorld } from '../../../support/gateway-world.ts';
import { cookieOf, identityOf, makeToken } from '../../../support/identity.ts';

const tokens = Object.fromEntries(roles.map((role) => [role, makeToken(`the-${role}`, [role])]));
const bare = makeToken('bare', []);
const values: Record<string, string> = {
  requestId: '0'.repeat(32),
  id: 'no-such-run',
  grantId: 'grant-1',
  agent: 'none',
  link: 'none',
  channel: 'none',
};

let world: GatewayWorld;
const sessions: Record<string, string> = {};
beforeAll(async () => {
  const identity = identityOf({ tokens: [...Object.values(tokens), bare].map(({ entry }) => entry) });
  world = await openGatewayWorld(
    { worker: false },
    { identity, limits: { readsPerMinute: 10_000, writesPerMinute: 10_000 } },
  );
  for (const role of roles) {
    const response = await world.call('POST', '/login/token', { token: tokens[role]!.token });
    sessions[role] = cookieOf(response, 'countersign-session')!;
  }
});
afterAll(() => world.close());

type Verdict = 'unauthenticated' | 'forbidden' | 'passes' | 'no such route';

/** Whether the permission of a route lets a request through; the input is never one with an effect. */
async function verdict(name: string, headers: Record<string, string>): Promise<Verdict> {
  const [method, template] = name.split(' ') as [string, string];
  const path = template.replace(/\{(\w+)\}/g, (_, key: string) => values[key]!);
  const ended = new AbortController();
  const response = await fetch(new URL(path, world.gateway.url), {
    method,
    headers,
    redirect: 'manual',
    signal: ended.signal,
  });
  const isProblem = (response.headers.get('content-type') ?? '').startsWith('application/problem+json');
  const problem = isProblem ? ((await response.json()) as { code?: string; detail: string }) : undefined;
  // A stream of events does not end.
  ended.abort();
  if (problem?.detail.startsWith('There is no such path') || response.status === 405) return 'no such route';
  if (problem?.detail.startsWith('This needs a credential'))
    return response.status === 401 ? 'unauthenticated' : 'passes';
  if (problem?.detail.startsWith('This needs the role')) return response.status === 403 ? 'forbidden' : 'passes';
  return 'passes';
}

const expected = (permission: Permission, role: string | undefined): Verdict => {
  if (permission === 'anyone') return 'passes';
  if (role === undefined) return 'unauthenticated';
  if (permission === 'signed-in') return 'passes';
  return permission.some((each) => each === role) ? 'passes' : 'forbidden';
};

// A look-up of a run that is not there takes seconds.
describe.concurrent.each(Object.entries(permissions) as [string, Permission][])('%s', (name, permission) => {
  test('nobody', async () => {
    expect(await verdict(name, {})).toBe(expected(permission, undefined));
  });

  test('somebody without a role', async () => {
    expect(await verdict(name, bare.bearer)).toBe(expected(permission, 'none'));
  });

  test.each(roles)('%s', async (role) => {
    expect(await verdict(name, tokens[role]!.bearer)).toBe(expected(permission, role));
    const { origin } = new URL(world.gateway.url);
    expect(await verdict(name, { cookie: sessions[role]!, origin })).toBe(expected(permission, role));
  });
});

test('the table, as it is meant', () => {
  const allowed = (role: string) =>
    Object.entries(permissions).flatMap(([name, permission]) => {
      return typeof permission !== 'string' && (permission as readonly string[]).includes(role) ? [name] : [];
    });
  const reads = allowed('viewer');
  expect(reads.every((name) => name.startsWith('GET '))).toBe(true);
  expect(allowed('starter').filter((name) => !reads.includes(name))).toEqual([
    'POST /runs',
    'POST /runs/{id}/messages',
    'POST /runs/{id}/cancel',
    'POST /runs/{id}/close',
    'POST /ag-ui/{agent}',
    'GET /ag-ui/{agent}/capabilities',
    'POST /ag-ui/{agent}/{thread}/stop',
    'POST /ai-sdk/{agent}',
    'GET /ai-sdk/{agent}/{thread}/stream',
    'POST /ai-sdk/{agent}/{thread}/stop',
  ]);
  // Whoever starts a run, or changes its policy, answers nothing by that.
  const decides = Object.keys(permissions).filter((name) =>
    /^POST \/(approve|approvals\/decide|approvals\/\{requestId\}\/(extend|delegate))/.test(name),
  );
  expect(decides).toHaveLength(4);
  for (const name of decides) expect(permissions[name as keyof typeof permissions]).toEqual(['reviewer']);
  expect(
    Object.entries(permissions)
      .filter(([, each]) => each === 'anyone')
      .map(([name]) => name),
  ).toEqual([
    'GET /healthz',
    'GET /readyz',
    'GET /openapi.json',
    'GET /login',
    'GET /login/callback',
    'POST /login/token',
    'GET /links/{link}',
    'POST /links/{link}',
    'POST /channels/{channel}/answers/{requestId}',
    'POST /slack/interactions',
    'GET /slack/link',
  ]);
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FoundRequests, InboxPage } from '../../../packages/gateway/src/http/inbox/api.ts';
import type { Principal } from '../../../packages/gateway/src/http/identity/principal.ts';
import { eventually } from '../../support/eventually.ts';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';
import { startListed } from '../../support/listed-requests.ts';
import { makeOwnInbox } from '../../support/own-inbox.ts';
import { openSse } from './sse-client.ts';

/** `GET /approvals/search`: all open requests, also those that a stream has no room for. */

const flood = 520;
/** The test's people say in a header who they are. */
const authenticator = {
  authenticate: async (request: Request): Promise<Principal> => {
    const id = request.headers.get('x-person') ?? 'rita';
    return { id, roles: [id === 'eve' ? 'viewer' : 'reviewer'], groups: [], via: 'token', key: id };
  },
};

let world: GatewayWorld;
beforeAll(async () => {
  world = await openGatewayWorld({ namespace: await makeOwnInbox() }, { authenticator });
  const tickets = Array.from({ length: flood }, (_, index) => [
    {
      toolName: 'open_ticket',
      agentName: 'bot',
      reviewers: [],
      // No id begins with a word like `T519`, as one may with digits alone: the search takes beginnings of ids, too.
      shownArguments: { subject: `Ticket T${index}` },
      notShown: [],
      shown: 'all' as const,
      argumentNames: ['subject'],
    },
  ]);
  const wire = {
    toolName: 'wire_transfer',
    agentName: 'desk',
    severity: 'critical' as const,
    approvers: ['rita'],
    reviewers: ['rita'],
    sentence: 'Send 48,250 EUR to Lightworks Ltd',
    shownArguments: { payee: 'Lightworks Ltd' },
    notShown: ['amount'],
    argumentNames: ['payee', 'amount'],
    // Later than every other, so that no page by deadlines has it.
    deadline: new Date(Date.now() + 7_200_000).toISOString(),
  };
  const [{ deadline: _, ...turn }] = [wire];
  const calls = ['first', 'second', 'third'].map((sentence) => ({ ...turn, sentence, severity: 'low' as const }));
  await startListed(world.client.session, [...tickets, [wire], calls]);
});
afterAll(() => world.close());

async function search(query: string, person = 'rita'): Promise<FoundRequests> {
  const response = await world.call('GET', `/approvals/search${query}`, undefined, { 'x-person': person });
  expect(response.status).toBe(200);
  return (await response.json()) as FoundRequests;
}

test('the numbers are those of all open requests, and agree with the stream', async () => {
  const found = await search('?limit=10');
  expect(found).toMatchObject({
    tab: 'mine',
    matching: 4,
    counts: { mine: 4, anyone: flood, others: 0 },
    tools: ['open_ticket', 'wire_transfer'],
    agents: ['bot', 'desk'],
    more: 0,
    unread: [],
  });
  const viewer = await openSse(new URL('/approvals/events', world.gateway.url), { 'x-person': 'rita' });
  const { event, data } = await eventually('the snapshot', () => viewer.events[0]);
  const { approvals, more } = data as InboxPage;
  expect([event, approvals.length, more]).toEqual(['snapshot', 500, flood + 4 - 500]);
  await viewer.close();
});

test.each([
  ['?text=lightworks', 'mine', 4],
  ['?text=48,250', 'mine', 1],
  ['?text=L%D1%96ghtworks', 'mine', 4],
  ['?tool=wire_transfer&severity=critical', 'mine', 1],
  ['?tab=anyone&text=ticket+T519', 'anyone', 1],
  ['?tab=anyone&agent=bot', 'anyone', flood],
  ['?tab=anyone&text=lightworks', 'anyone', 0],
] as const)('%s finds %s: %i', async (query, tab, matching) => {
  expect(await search(query)).toMatchObject({ tab, matching });
});

test('what the rows do not hold is not called searched', async () => {
  // The shown values were searched: only what `amount` may hold was not.
  expect(await search('?text=ticket')).toMatchObject({ tab: 'mine', matching: 0, unsearched: 4 });
  expect(await search('?tab=anyone&text=none+such')).toMatchObject({ matching: 0, unsearched: 0 });
});

test('the most severe comes first, and the calls of a turn keep their order', async () => {
  const { rows } = await search('?tab=mine&sort=severity');
  expect(rows.map(({ sentence }) => sentence)).toEqual([
    'Send 48,250 EUR to Lightworks Ltd',
    'first',
    'second',
    'third',
  ]);
});

test('for a reader who is no reviewer, everything waits for others', async () => {
  expect(await search('', 'eve')).toMatchObject({ tab: 'others', counts: { mine: 0, anyone: 0, others: flood + 4 } });
});

test.each(['?tab=everyone', '?sort=up', '?limit=0', '?limit=501', `?text=${'x'.repeat(201)}`, '?page=2'])(
  'the query %s is refused',
  async (query) => {
    const response = await world.call('GET', `/approvals/search${query}`);
    expect([response.status, await response.json()]).toMatchObject([422, { code: 'arguments_invalid' }]);
  },
);

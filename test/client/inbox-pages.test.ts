/** Pages of the inbox, in a namespace that no other test uses. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SearchAttributeType, TypedSearchAttributes, defineSearchAttributeKey } from '@temporalio/common';
import { createClient } from '../../src/client/client.ts';
import type { CountersignClient } from '../../src/client/countersign-client.ts';
import type { ApprovalFilter } from '../../src/client/inbox/list-approvals.ts';
import { type ApprovalSummary, memoName } from '../../src/contract.ts';
import { eventually } from '../support/eventually.ts';
import { makeNamespace } from '../support/make-namespace.ts';
import { sharedAddress } from '../support/shared-server.ts';
import { requestRow } from '../support/requests.ts';

const namespace = `pages-${randomUUID()}`;
const hourMs = 3_600_000;
/** Whole seconds: the dev server's store compares deadlines as texts, and writes such an instant in two ways. */
const baseMs = Math.floor(Date.now() / 1_000) * 1_000 + 24 * hourMs;
let client: CountersignClient;

/** A workflow that no worker has, with the memo and the attributes of a run that asks. */
async function startWaiting(workflowId: string, requests: Partial<ApprovalSummary>[]): Promise<void> {
  const open = requests.map((each) => {
    const requestId = randomUUID().replaceAll('-', '');
    return requestRow({ requestId, digest: 'd'.repeat(64), workflowId, ...each });
  });
  const dues = open.flatMap(({ deadline }) => (deadline === null ? [] : [Date.parse(deadline)]));
  const due = {
    key: defineSearchAttributeKey('ApprovalDue', SearchAttributeType.DATETIME),
    value: new Date(Math.min(...dues)),
  };
  const ids = defineSearchAttributeKey('ApprovalIds', SearchAttributeType.KEYWORD_LIST);
  await client.session.client.workflow.start('waiting', {
    workflowId,
    taskQueue: 'nobody',
    memo: { [memoName]: { open, journal: [] } },
    typedSearchAttributes: new TypedSearchAttributes([
      { key: ids, value: open.map(({ requestId }) => requestId) },
      ...(dues.length === 0 ? [] : [due]),
    ]),
  });
}

const at = (hours: number): string => new Date(baseMs + hours * hourMs).toISOString();
const crowd = 60;
const undated = 7;
/** Three runs with several requests, a crowd, two runs that are due at once, and some that wait for ever. */
const total = 4 + 3 + 2 + crowd + undated;

beforeAll(async () => {
  await makeNamespace(namespace);
  client = await createClient({ address: sharedAddress(), namespace });
  await client.setUp();
  await startWaiting('several', [{ deadline: at(1) }, { deadline: at(90) }, { deadline: at(2) }, { deadline: null }]);
  await startWaiting('mixed', [{ deadline: at(3), toolName: 'refund' }, { deadline: at(4) }, { deadline: at(5) }]);
  for (const name of ['same-1', 'same-2']) await startWaiting(name, [{ deadline: at(6), toolName: 'refund' }]);
  for (let index = 0; index < crowd; index++) {
    await startWaiting(`crowd-${index}`, [
      { deadline: at(10 + index), agentName: index % 20 === 0 ? 'rare' : 'clerk' },
    ]);
  }
  for (let index = 0; index < undated; index++) {
    await startWaiting(`for-ever-${index}`, [{ deadline: null, ...(index === 3 && { toolName: 'refund' }) }]);
  }
  await eventually('all in the index', async () => {
    return (await client.approvals.list({ limit: Infinity })).approvals.length === total;
  });
});
afterAll(() => client.close());

/** All pages of a client that knows nothing yet. */
async function pagesOf(filter: ApprovalFilter): Promise<ApprovalSummary[][]> {
  const fresh = await createClient({ connection: client.session.connection, namespace });
  const pages: ApprovalSummary[][] = [];
  for (let after: string | undefined; ;) {
    const { approvals, next, unread } = await fresh.approvals.list({ ...filter, after });
    expect(unread).toEqual([]);
    pages.push(approvals);
    if (next === undefined) return pages;
    expect(approvals.length).toBeLessThanOrEqual(filter.limit!);
    after = next;
  }
}

const idsOf = (rows: ApprovalSummary[]): string[] => rows.map(({ requestId }) => requestId);
const whole = async (filter: ApprovalFilter = {}) =>
  (await client.approvals.list({ ...filter, limit: Infinity })).approvals;

test('the whole inbox is by deadline, and has no next page', async () => {
  const list = await client.approvals.list({ limit: Infinity });
  const deadlines = list.approvals.map(({ deadline }) => deadline ?? '~');
  expect(deadlines).toEqual(deadlines.toSorted());
  expect([list.approvals.length, list.more, list.next]).toEqual([total, 0, undefined]);
});

describe.each([1, 2, 3, 5, 16, 50, 75, 76, 100])('pages of %i', (limit) => {
  test('have every request once, runs with the earliest deadline first', async () => {
    const pages = await pagesOf({ limit });
    const rows = pages.flat();
    expect(idsOf(rows).toSorted()).toEqual(idsOf(await whole()).toSorted());
    for (const page of pages.slice(0, -2)) expect(page).toHaveLength(limit);
    const runs = [...new Set(rows.map(({ workflowId }) => workflowId))];
    const order = [
      'several',
      'mixed',
      'same-1',
      'same-2',
      ...Array.from({ length: crowd }, (_, each) => `crowd-${each}`),
    ];
    expect(runs.filter((run) => !run.startsWith('for-ever'))).toEqual(expect.arrayContaining(order));
    if (limit === 1) expect(runs.slice(0, order.length)).toEqual(order);
    for (const page of pages) {
      const deadlines = page.map(({ deadline }) => deadline ?? '~');
      expect(deadlines).toEqual(deadlines.toSorted());
    }
  });
});

test.each([
  ['a tool', { tool: 'refund' }, 4],
  ['an agent', { agent: 'rare' }, 3],
  ['both', { tool: 'refund', agent: 'clerk' }, 4],
  ['a tool that nobody calls', { tool: 'look' }, 0],
])('%s: pages have exactly its requests', async (_name, filter, count) => {
  for (const limit of [1, 2, 100]) {
    const rows = (await pagesOf({ ...filter, limit })).flat();
    expect(idsOf(rows).toSorted()).toEqual(idsOf(await whole(filter)).toSorted());
    expect(rows).toHaveLength(count);
  }
});

test('one run: pages of its requests', async () => {
  const pages = await pagesOf({ workflowId: 'several', limit: 2 });
  expect(pages.map((page) => page.map(({ deadline }) => deadline))).toEqual([
    [at(1), at(2)],
    [at(90), null],
  ]);
  const { more } = await client.approvals.list({ workflowId: 'several', limit: 3 });
  expect(more).toBe(1);
});

test('a client that lists again sees what has changed in between', async () => {
  const { approvals } = await client.approvals.list({ limit: 4 });
  expect(new Set(approvals.map(({ workflowId }) => workflowId))).toEqual(new Set(['several']));
  await startWaiting('urgent', [{ deadline: at(-20) }]);
  await eventually('the urgent run first', async () => {
    const { approvals: now } = await client.approvals.list({ limit: 4 });
    return now[0]?.workflowId === 'urgent' && now.length === 4;
  });
  await client.session.client.workflow.getHandle('urgent').terminate();
  await eventually('it is gone', async () => {
    const { approvals: now } = await client.approvals.list({ limit: 4 });
    return now[0]?.workflowId === 'several' && now.length === 4;
  });
});

test('a page that ends at a request that is settled meanwhile: nothing is lost', async () => {
  await startWaiting('leaving', [{ deadline: at(6.5) }]);
  const limit = 10;
  const first = await eventually('a page that ends with it', async () => {
    const page = await client.approvals.list({ limit });
    const runs = page.approvals.map(({ workflowId }) => workflowId);
    return runs.includes('leaving') && runs.length === limit && page;
  });
  await client.session.client.workflow.getHandle('leaving').terminate();
  const seen = [...idsOf(first.approvals)];
  for (let after = first.next; after !== undefined;) {
    const page = await client.approvals.list({ limit, after });
    seen.push(...idsOf(page.approvals));
    after = page.next;
  }
  await eventually('it has left the index', async () => (await whole()).length === total);
  expect(seen).toEqual(expect.arrayContaining(idsOf(await whole())));
  expect(new Set(seen).size).toBe(seen.length);
});

test.each(['', 'x', 'e30', Buffer.from('{"run":"a","request":"b","dueMs":1e99,"spanMs":0}').toString('base64url')])(
  '%j is no place: one sentence',
  async (after) => {
    await expect(client.approvals.list({ after })).rejects.toMatchObject({
      code: 'invalid_message',
      message: `'${after}' is not where a page ended: give the \`next\` of the page before, as it is.`.replace(
        after,
        after.slice(0, 40),
      ),
    });
  },
);

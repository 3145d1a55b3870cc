/** Rows of the inbox: the index says all that they show, and no run is asked. */
import { defaultPayloadConverter } from '@temporalio/common';
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import type { GatewayContext, HttpEnv } from '../../../packages/gateway/src/http/gateway-context.ts';
import type { Principal } from '../../../packages/gateway/src/http/identity/principal.ts';
import type { InboxPage } from '../../../packages/gateway/src/http/inbox/api.ts';
import { InboxFeed } from '../../../packages/gateway/src/http/inbox/inbox-feed.ts';
import { readBy, sharedRow } from '../../../packages/gateway/src/http/inbox/inbox-row.ts';
import { approvalRoutes } from '../../../packages/gateway/src/http/routes/approvals.ts';
import { listApprovals } from '../../../src/client/inbox/list-approvals.ts';
import type { Session } from '../../../src/client/server/session.ts';
import { timeLimits } from '../../../src/client/server/time-limits.ts';
import { approvalMemo } from '../../../src/core/ledger/approval-index.ts';
import { emptyLedger, reduce } from '../../../src/core/ledger/ledger.ts';
import { askRuling, requestRecord } from '../../support/record-request.ts';
import { requestRow } from '../../support/requests.ts';

const principal: Principal = { id: 'ann', roles: ['reviewer'], groups: ['legal'], via: 'token', key: 'ann' };
const rowOf = (more: object) =>
  readBy(sharedRow(requestRow({ requestId: 'a'.repeat(32), digest: 'b'.repeat(64), ...more })), principal);

test.each<[string, object, string]>([
  ['its run does not say it', {}, 'unknown'],
  ['anyone may answer', { reviewers: [] }, 'anyone'],
  ['the reader is named', { reviewers: ['Ann'] }, 'you'],
  ['the reader has a group of that name, which the run may not believe', { reviewers: ['group:legal'] }, 'you'],
  ['others are named, of whom one may be the reader', { reviewers: ['u-17'] }, 'unknown'],
  ['the run counts the approval', { reviewers: ['u-17'], approvers: ['u-17', 'ann'] }, 'you'],
  ['the run does not count the approval', { reviewers: ['ann'], approvers: ['bob'] }, 'others'],
  ['the run counts no approval', { reviewers: [], approvers: [] }, 'others'],
  ['the reviewers have no room', { approvers: ['ann'] }, 'you'],
])('for whom a row waits, if %s: %s', (_name, more, expected) => {
  expect(rowOf({ toolName: 'pay', ...more }).waitsFor).toBe(expected);
});

test('nothing waits for a reader who is no reviewer', () => {
  const viewer: Principal = { ...principal, roles: ['viewer', 'operator'] };
  for (const more of [{}, { reviewers: [] }, { reviewers: ['ann'] }, { approvers: ['ann'] }]) {
    expect(readBy(sharedRow(requestRow(more)), viewer).waitsFor).toBe('others');
  }
});

test.each<[string, object, string]>([
  ['nothing else is known', {}, 'Send mail'],
  ['names are known', { argumentNames: ['to', 'body'] }, 'Send mail (to, body)'],
  [
    'part is shown',
    { argumentNames: ['to', 'body'], shownArguments: { to: 'bob' }, notShown: ['body'] },
    'Send mail: to bob, and more',
  ],
  [
    'the tool says it',
    { argumentNames: ['to'], shownArguments: { to: 'bob' }, notShown: [], sentence: 'Write to bob' },
    'Write to bob',
  ],
  ['it would reorder the line', { sentence: 'Write to \u202Ebob' }, 'Write to \\u{202E}bob'],
])('the sentence of a row, if %s', (_name, more, expected) => {
  expect(rowOf({ toolName: 'send_mail', ...more }).sentence).toBe(expected);
});

test('whatever a stranger wrote, the sentence is bounded', () => {
  const large = 'x'.repeat(100_000);
  for (const more of [
    { toolName: large },
    { argumentNames: [large, large] },
    { argumentNames: Array.from({ length: 10_000 }, () => 'name') },
    { shownArguments: { [large]: large }, notShown: [] },
    { sentence: large },
  ]) {
    expect(rowOf(more).sentence.length).toBeLessThan(2_000);
  }
});

/** Runs with 20 open requests each, as their memos show them, on a server that counts its calls. */
function waitingRuns(runs: number) {
  const calls: string[] = [];
  const executions = Array.from({ length: runs }, (_, run) => {
    let ledger = emptyLedger(5);
    for (let number = 0; number < 20; number++) {
      const fields = {
        workflowId: `run-${run}`,
        reviewers: ['ann'],
        shownArguments: { to: 'ann' },
        notShown: ['amount'],
      };
      const record = requestRecord(run * 20 + number, null, fields);
      ({ ledger } = reduce(ledger, { kind: 'open', atMs: 0, record, ruling: askRuling }));
    }
    const { memo } = approvalMemo(ledger, [], { directories: {}, nowMs: 0 });
    expect(memo.more).toBeUndefined();
    return {
      execution: { workflowId: `run-${run}` },
      memo: { fields: { approvals: defaultPayloadConverter.toPayload(memo) } },
    };
  });
  const counted = (name: string, answer: (request: object) => unknown) => async (request: object) => {
    calls.push(name);
    return answer(request);
  };
  const none = { executions: [], nextPageToken: new Uint8Array() };
  const session = {
    namespace: 'default',
    address: 'localhost:7233',
    attributes: { ids: 'ApprovalIds', tags: 'ApprovalTags', due: 'ApprovalDue' },
    limits: timeLimits({}),
    client: {
      options: { loadedDataConverter: { payloadCodecs: [], payloadConverter: defaultPayloadConverter } },
      workflow: {
        getHandle: () => ({ query: counted('query', () => []), describe: counted('describe', () => ({})) }),
      },
    },
    connection: {
      withDeadline: (_deadline: number, call: () => unknown) => call(),
      withAbortSignal: (_signal: AbortSignal, call: () => unknown) => call(),
      workflowService: new Proxy(
        {},
        {
          get: (_, name: string) =>
            counted(name, (request) =>
              name === 'listWorkflowExecutions' && !JSON.stringify(request).includes('ApprovalTags')
                ? { executions, nextPageToken: new Uint8Array() }
                : none,
            ),
        },
      ),
    },
  } as unknown as Session;
  const client = { session, approvals: { list: (filter: object) => listApprovals(session, filter) } };
  const gateway = { client, stopping: new AbortController().signal, log: () => undefined } as unknown as GatewayContext;
  return { calls, gateway };
}

test('a page and a stream of 500 requests ask no run', async () => {
  const { calls, gateway } = waitingRuns(25);
  const app = new Hono<HttpEnv>();
  app.use(async (context, next) => {
    context.set('principal', principal);
    await next();
  });
  app.route('/', approvalRoutes(gateway));
  const page = (await (await app.request('/approvals?limit=500')).json()) as InboxPage;
  const leaves = new AbortController();
  const pages = [page];
  for await (const { event, data } of new InboxFeed(gateway).watch(principal, leaves.signal)) {
    if (event === 'snapshot') pages.push(data);
    leaves.abort();
  }
  expect(pages).toHaveLength(2);
  for (const { approvals } of pages) {
    expect(approvals).toHaveLength(500);
    expect(new Set(approvals.map(({ waitsFor }) => waitsFor))).toEqual(new Set(['you']));
    expect(approvals[0]!.sentence).toBe('Pay: to ann, and more');
  }
  expect(new Set(calls)).toEqual(new Set(['listWorkflowExecutions']));
  // Each list reads the requests, and what no channel could deliver.
  expect(calls.length).toBeLessThanOrEqual(6);
});

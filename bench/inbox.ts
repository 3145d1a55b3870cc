/**
 * `npm run bench:inbox`: the first page of the inbox while 10,000 runs wait, compared to one bare ListWorkflow call of
 * the same size in the same process. The runs are workflows of a type that no worker has, started with the memo and the
 * search attributes of a waiting run, all with the same time-out: for a server that cannot sort by deadline that is the
 * hardest case. `--runs N`, `--rounds N`; `--json` prints only the numbers. Exits with 1 when the budget is exceeded, or
 * when the pages do not have every request once and in order.
 */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import type { Connection } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';
import { createClient } from '../src/client/client.ts';
import { inParallel } from '../src/client/server/session.ts';
import type { CountersignClient } from '../src/client/countersign-client.ts';
import { type ApprovalSummary, memoName } from '../src/contract.ts';
import { startDevServer } from '../packages/cli/src/dev-server/start-dev-server.ts';

/** As a multiple of the time of the bare call. */
const budget = 3;
const limit = 100;
const startsAtOnce = 40;
const timeoutMs = 30 * 86_400_000;
const tools = ['pay', 'refund', 'mail'];

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '100' },
    json: { type: 'boolean' },
  },
});
const runs = Number(values.runs);
const rounds = Number(values.rounds);
const say = (line: string): void => void process.stderr.write(`${line}\n`);

const server = await startDevServer({ uiPort: null, log: say });
try {
  const client = await createClient({ address: server.address });
  await startRuns(client);
  await untilListed(client);
  const measured = {
    bare: [] as number[],
    list: [] as number[],
    tool: [] as number[],
    firstOfClient: [] as number[],
  };
  await timeOf(() => bareList(client)); // the connection is warm, as for everything after it
  for (let round = 1; round <= rounds; round++) {
    if (round % 10 === 0) say(`round ${round} of ${rounds}`);
    measured.bare.push(await timeOf(() => bareList(client)));
    measured.list.push(await timeOf(() => client.approvals.list({ limit })));
    measured.tool.push(await timeOf(() => client.approvals.list({ limit, tool: 'refund' })));
    // A client that knows nothing of the inbox yet.
    const other = await createClient({ connection: client.session.connection });
    measured.firstOfClient.push(await timeOf(() => other.approvals.list({ limit })));
  }
  const pages = await walk(client);
  await client.close();
  report(measured, pages);
} finally {
  await server.stop();
}

async function startRuns(client: CountersignClient): Promise<void> {
  const { ids, tags, due } = client.session.attributes;
  const keys = {
    ids: defineSearchAttributeKey(ids, SearchAttributeType.KEYWORD_LIST),
    tags: defineSearchAttributeKey(tags!, SearchAttributeType.KEYWORD_LIST),
    due: defineSearchAttributeKey(due, SearchAttributeType.DATETIME),
  };
  const all = Array.from({ length: runs }, (_, index) => index);
  await inParallel(all, startsAtOnce, async (index) => {
    if (index % 1_000 === 0) say(`started ${index} of ${runs}`);
    const workflowId = `waiting-${index}`;
    const requestId = randomBytes(16).toString('hex');
    const toolName = tools[index % tools.length]!;
    const requestedAt = new Date();
    const deadline = new Date(requestedAt.getTime() + timeoutMs);
    const row: ApprovalSummary = {
      requestId,
      workflowId,
      toolName,
      agentName: 'clerk',
      callerUserId: 'carl',
      riskLevel: 'write',
      severity: 'medium',
      rule: 'ceiling#3',
      reason: 'Money leaves the house',
      shown: 'part',
      requestedAt: requestedAt.toISOString(),
      deadline: deadline.toISOString(),
      digest: randomBytes(32).toString('hex'),
      argumentNames: ['orderId', 'amount'],
      argumentBytes: 32,
    };
    await client.session.client.workflow.start('waitingRun', {
      workflowId,
      taskQueue: 'nobody',
      memo: { [memoName]: { open: [row], journal: [] } },
      typedSearchAttributes: new TypedSearchAttributes([
        { key: keys.ids, value: [requestId] },
        { key: keys.tags, value: [`tool:${toolName}`, 'agent:clerk', 'severity:medium'] },
        { key: keys.due, value: deadline },
      ]),
    });
  });
}

/** Waits until the server's index has all runs. */
async function untilListed(client: CountersignClient): Promise<void> {
  const { connection, namespace, attributes } = client.session;
  for (;;) {
    const query = `${attributes.ids} IS NOT NULL AND ExecutionStatus = "Running"`;
    const { count } = await connection.workflowService.countWorkflowExecutions({ namespace, query });
    if (Number(count) === runs) return;
  }
}

type ListAnswer = Awaited<ReturnType<Connection['workflowService']['listWorkflowExecutions']>>;

function bareList(client: CountersignClient): Promise<ListAnswer> {
  const { connection, namespace, attributes } = client.session;
  const query = `${attributes.ids} IS NOT NULL AND ExecutionStatus = "Running"`;
  return connection.workflowService.listWorkflowExecutions({ namespace, query, pageSize: limit });
}

async function timeOf(act: () => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now();
  await act();
  return performance.now() - startedAtMs;
}

interface Walk {
  pages: number;
  requests: number;
  distinct: number;
  isInOrder: boolean;
  tookMs: number;
}

/** Reads all pages, one after another. */
async function walk(client: CountersignClient): Promise<Walk> {
  const startedAtMs = performance.now();
  const seen: ApprovalSummary[] = [];
  let pages = 0;
  let after: string | undefined;
  do {
    const page = await client.approvals.list({ limit, after });
    seen.push(...page.approvals);
    pages += 1;
    after = page.next;
  } while (after !== undefined);
  return {
    pages,
    requests: seen.length,
    distinct: new Set(seen.map(({ requestId }) => requestId)).size,
    isInOrder: seen.every(({ deadline }, index) => index === 0 || seen[index - 1]!.deadline! <= deadline!),
    tookMs: performance.now() - startedAtMs,
  };
}

function report(measured: Record<string, number[]>, pages: Walk): void {
  const rows = Object.fromEntries(
    Object.entries(measured).map(([name, times]) => {
      const sorted = times.toSorted((one, other) => one - other);
      const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
      return [name, { p50: at(0.5), p95: at(0.95) }];
    }),
  );
  const ratio = rows['list']!.p95 / rows['bare']!.p95;
  if (values.json === true)
    console.log(JSON.stringify({ runs, rounds, limit, rows, ratio, budget, pages }, undefined, 2));
  else {
    console.log(`${runs} waiting runs, pages of ${limit}; ms: p50 · p95`);
    const names = {
      bare: 'one ListWorkflow call',
      list: 'approvals.list',
      tool: 'approvals.list of one tool in three',
      firstOfClient: 'the first approvals.list of a client',
    };
    for (const [name, title] of Object.entries(names)) {
      const { p50, p95 } = rows[name]!;
      console.log(`${title.padEnd(38)}${p50.toFixed(1)} · ${p95.toFixed(1)}`);
    }
    console.log(`p95: ${ratio.toFixed(2)} times the bare call (at most ${budget}).`);
    const { pages: count, requests, distinct, isInOrder, tookMs } = pages;
    console.log(
      `${count} pages in ${(tookMs / 1_000).toFixed(1)} s: ${requests} requests, ${distinct} of them distinct, ${isInOrder ? 'earliest deadline first' : 'NOT in order'}.`,
    );
  }
  const isWhole = pages.requests === runs && pages.distinct === runs && pages.isInOrder;
  if (ratio > budget || !isWhole) process.exitCode = 1;
}

import type { CountersignClient } from '../../src/client/client.ts';
import type { HistoryLink } from '../../src/client/history-chain.ts';
import { journalIn, projectHistories } from '../../src/client/journal-of.ts';
import type { ApprovalDetails, Message, RunResult, RunStatus } from '../../src/contract.ts';
import { readRanLines } from './chaos-agent.ts';
import type { Played } from './play-schedule.ts';
import type { RunBook } from './run-book.ts';
import type { ChaosSchedule } from './schedule.ts';

/** Reads what became of every run, once all is quiet: histories, the runs' own answers, and what the tools wrote. */
export async function gatherBooks(
  client: CountersignClient,
  { runs }: ChaosSchedule,
  { workflowIds, sent, controls, changes }: Played,
  folder: string,
): Promise<RunBook[]> {
  const lines = readRanLines(folder);
  const books: RunBook[] = [];
  for (const plan of runs) {
    const workflowId = workflowIds.get(plan.name);
    if (workflowId === undefined) continue;
    const newest = client.session.client.workflow.getHandle(workflowId);
    const { status } = await newest.describe();
    const { links } = await client.historyChain(workflowId);
    const projection = projectHistories(links);
    const own = await ownWords(
      client,
      links,
      projection.requests.map(({ requestId }) => requestId),
    );
    const failure = whyFailed(links);
    books.push({
      plan,
      workflowId,
      status: status.name,
      ...(failure === undefined ? {} : { failure }),
      links: links.length,
      entries: links.flatMap(({ events }) => events.flatMap(journalIn)),
      projection,
      ...own,
      ...(status.name === 'COMPLETED' ? { result: ((await newest.result()) as RunResult).outcomes } : {}),
      lines: lines.filter(({ idempotencyKey }) => idempotencyKey.startsWith(`${workflowId}/`)),
      sent: sent.filter(({ run }) => run === plan.name),
      controls: controls.filter(({ run }) => run === plan.name),
      changes: changes.filter(({ run }) => run === plan.name),
    });
  }
  return books;
}

type OwnWords = Pick<RunBook, 'ledger' | 'details' | 'told' | 'unread'>;

const nothing: OwnWords = { ledger: { asks: 0, open: 0, outcomes: [], refused: 0 }, details: {}, told: [] };

/** What a worker answers for the run, from its history: no answer means that the run cannot be replayed. */
async function ownWords({ session }: CountersignClient, links: HistoryLink[], requestIds: string[]): Promise<OwnWords> {
  // The last link that ever worked: the one of a run that was terminated may have had no time to.
  const worked = links.findLast(({ events }) =>
    events.some((event) => event.workflowTaskCompletedEventAttributes != null),
  );
  const handle = session.client.workflow.getHandle(links[0]!.workflowId, worked?.runId);
  try {
    const { outcomes, refused, counts } = await handle.query<RunStatus>('run');
    const transcript = await handle.query<Message[]>('transcript');
    const details: RunBook['details'] = {};
    for (const requestId of requestIds) {
      details[requestId] = await handle.query<ApprovalDetails | null, [object]>('approvals', { requestId });
    }
    return {
      ledger: { asks: counts.asks, open: counts.open, outcomes, refused: refused.total },
      details,
      told: transcript.flatMap((message) => (message.role === 'tool' ? [message.content] : [])),
    };
  } catch (error) {
    return { ...nothing, unread: (error as Error).message };
  }
}

/** Why it failed, or why its tasks do. */
function whyFailed(links: HistoryLink[]): string | undefined {
  const events = links.at(-1)!.events;
  const { workflowExecutionFailedEventAttributes: run, workflowTaskFailedEventAttributes: task } = events.at(-1)!;
  return run?.failure?.message ?? task?.failure?.message ?? undefined;
}

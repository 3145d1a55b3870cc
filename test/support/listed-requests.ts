import { randomUUID } from 'node:crypto';
import { defineSearchAttributeKey, TypedSearchAttributes } from '@temporalio/common';
import type { WorkflowHandle } from '@temporalio/client';
import { inParallel, type Session } from '../../src/client/server/session.ts';
import { type ApprovalSummary, memoName } from '../../src/contract.ts';
import { eventually } from './eventually.ts';
import { requestRow } from './requests.ts';

const startsAtOnce = 20;

/**
 * Starts workflows of a type that no worker has, each with these rows in its memo and in the index, as a run has that
 * waits. Waits until the index lists all of them.
 */
export async function startListed(
  { client, connection, namespace, attributes }: Session,
  runs: readonly Partial<ApprovalSummary>[][],
): Promise<WorkflowHandle[]> {
  const ids = defineSearchAttributeKey(attributes.ids, 'KEYWORD_LIST');
  const due = defineSearchAttributeKey(attributes.due, 'DATETIME');
  const started = await inParallel(runs, startsAtOnce, (rows) => {
    const workflowId = `listed-${randomUUID()}`;
    const open = rows.map((row) =>
      requestRow({ requestId: randomUUID().replaceAll('-', ''), deadline: inAnHour(), ...row, workflowId }),
    );
    const [first] = open;
    return client.workflow.start('listed', {
      workflowId,
      taskQueue: 'without-workers',
      memo: { [memoName]: { open, journal: [] } },
      typedSearchAttributes: new TypedSearchAttributes([
        { key: ids, value: open.map(({ requestId }) => requestId) },
        { key: due, value: new Date(first!.deadline!) },
      ]),
    });
  });
  const query = `${attributes.ids} IS NOT NULL AND ExecutionStatus = "Running"`;
  await eventually('the index lists all', async () => {
    const { count } = await connection.workflowService.countWorkflowExecutions({ namespace, query });
    return Number(count) >= runs.length;
  });
  return started;
}

function inAnHour(): string {
  return new Date(Date.now() + 3_600_000).toISOString();
}

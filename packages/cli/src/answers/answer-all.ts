import { escapeText } from 'countersign/base';
import type { CountersignClient } from 'countersign/client';
import { canAsk, confirm } from '../base/ask-on-terminal.ts';
import { freeze, renderFrozen } from './frozen-set.ts';
import type { Output } from '../base/output.ts';
import { UsageError } from '../base/report-error.ts';
import { reviewerOf, signerOf } from '../base/reviewer.ts';
import type { DecisionOptions } from './send-decision.ts';

export interface AnswerAllOptions extends DecisionOptions {
  tool?: string;
  agent?: string;
  limit?: number;
  yes?: boolean;
  unseen?: boolean;
}

const limitByDefault = 100;

/**
 * Shows the open requests and, after a confirmation, gives exactly these the same answer; requests that open meanwhile
 * stay open. Prints a result for each. Exit code 1 if one was left out or refused.
 */
export async function answerAll(
  client: CountersignClient,
  output: Output,
  approved: boolean,
  options: AnswerAllOptions,
): Promise<void> {
  const { run: workflowId, tool, agent, limit = limitByDefault, reason, unseen = false } = options;
  if (options.yes !== true && !canAsk()) {
    throw new UsageError('No terminal can ask whether to go on: add --yes to answer all that wait without a question.');
  }
  const { approvals, unread, more, next } = await client.approvals.list({ workflowId, tool, agent, limit });
  const frozen = await freeze(client, approvals, { mustBeShown: approved && !unseen, isDenial: !approved });
  for (const { requestIds, workflowId: run, message } of unread) {
    const why = message.replace(/\.$/, '');
    frozen.leftOut.push(...requestIds.map((requestId) => ({ row: { requestId, workflowId: run }, why })));
  }
  const { requests, leftOut } = frozen;
  const tell = (line: string): void => (output.forPeople ? output.line(line) : output.note(line));
  if (requests.length + leftOut.length === 0) return tell('Nothing waits for approval.');
  tell(renderFrozen(output, frozen, Date.now()));
  if (more > 0 || next !== undefined) tell('More requests wait; they are not part of this.');
  if (!output.forPeople) {
    for (const { row, why } of leftOut) {
      const { requestId, workflowId: run, toolName } = row;
      output.json({ requestId, workflowId: run, toolName, accepted: false, message: `left out: ${why}` });
    }
  }
  if (leftOut.length > 0) process.exitCode = 1;
  if (requests.length === 0) return;
  const question = `\n${approved ? 'Approve' : 'Deny'} ${requests.length === 1 ? 'this request' : `these ${requests.length} requests`}?`;
  if (options.yes !== true && !(await confirm(question))) {
    process.exitCode = 1;
    return tell('Nothing was decided.');
  }
  const receipts = await client.decideAll(
    requests.map(({ requestId, workflowId: run, digest }) => ({ requestId, workflowId: run, digest })),
    { approved, reason, reviewerId: reviewerOf(options), viewed: { channel: 'cli', batch: requests.length } },
    signerOf(options),
  );
  for (const [index, receipt] of receipts.entries()) {
    const { row } = requests[index]!;
    if (!receipt.accepted) process.exitCode = 1;
    if (!output.forPeople) output.json({ ...receipt, workflowId: row.workflowId, toolName: row.toolName });
    else {
      const mark = receipt.accepted ? output.style('green', '✓') : output.style('red', '✗');
      output.line(`${mark} ${escapeText(row.toolName)}: ${escapeText(receipt.message)}`);
    }
  }
}

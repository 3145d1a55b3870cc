import { escapeText, escapeJson, isProblemError, visibleLine } from 'countersign/base';
import type { CountersignClient, ReviewedRequest, ApprovalSummary } from 'countersign/client';
import { inParallel } from 'countersign/adapter';
import { argumentsText } from 'countersign/card';
import { canAsk, confirm } from '../base/ask-on-terminal.ts';
import { printMarked, UsageError, type Output } from '../base/output.ts';
import { reviewerOf, signerOf } from '../base/reviewer.ts';
import type { DecisionOptions } from './send-decision.ts';
import { leftOf } from '../inbox/approval-views.ts';
import { readRequest } from '../base/read-request.ts';
import { renderFields } from '../base/table.ts';

export interface AnswerAllOptions extends DecisionOptions {
  tool?: string;
  agent?: string;
  limit?: number;
  yes?: boolean;
  unseen?: boolean;
}

const limitByDefault = 100;

/** Shows the open requests, asks once, and answers those. Exit code 1 after a no, or if one is left out or refused. */
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
  const chosen = await chooseRequests(client, approvals, { mustBeShown: approved && !unseen, isDenial: !approved });
  for (const { requestIds, workflowId: run, message } of unread) {
    const why = message.replace(/\.$/, '');
    chosen.leftOut.push(...requestIds.map((requestId) => ({ row: { requestId, workflowId: run }, why })));
  }
  const { requests, leftOut } = chosen;
  if (requests.length + leftOut.length === 0) return output.tell('Nothing waits for approval.');
  output.tell(renderChosen(output, chosen, Date.now()));
  if (more > 0 || next !== undefined) output.tell('More requests wait; they are not part of this.');
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
    return output.tell('Nothing was decided.');
  }
  const receipts = await client.decideAll(
    requests.map(({ requestId, workflowId: run, digest }) => ({ requestId, workflowId: run, digest })),
    { approved, reason, reviewerId: reviewerOf(options), viewed: { channel: 'cli', batch: requests.length } },
    signerOf(options),
  );
  for (const [index, receipt] of receipts.entries()) {
    const { toolName, workflowId: run } = requests[index]!.row;
    const value = { ...receipt, workflowId: run, toolName };
    printMarked(output, receipt.accepted, `${toolName}: ${receipt.message}`, value);
  }
}

interface ChosenRequest extends Required<ReviewedRequest> {
  row: ApprovalSummary;
  /** The arguments of the request, escaped, and cut if there are many. */
  text: string;
}

/** A request that gets no answer; `why` is a part of a sentence, without a full stop. */
interface LeftOut {
  row: Pick<ApprovalSummary, 'requestId' | 'workflowId'> & Partial<ApprovalSummary>;
  why: string;
}

/** The requests that get the answer, and those that are left out. Both were read before the user was asked. */
interface ChosenRequests {
  requests: ChosenRequest[];
  leftOut: LeftOut[];
}

/** The most characters of a request's arguments that are shown in full. Reviewers would not read longer ones. */
const longestShown = 4_000;
const readAtOnce = 8;

/** Reads the requests, and leaves out those that cannot be answered or, with `mustBeShown`, not be shown in full. */
async function chooseRequests(
  client: CountersignClient,
  rows: readonly ApprovalSummary[],
  { mustBeShown, isDenial }: { mustBeShown: boolean; isDenial: boolean },
): Promise<ChosenRequests> {
  const chosen: ChosenRequests = { requests: [], leftOut: [] };
  // A denial needs only the row, so that it works without a worker, too.
  const read = await inParallel(rows, readAtOnce, (row) => (isDenial ? asListed(row) : asRead(client, row)));
  for (const result of read) {
    if ('why' in result) chosen.leftOut.push(result);
    else if (mustBeShown && result.hidden !== undefined) chosen.leftOut.push({ row: result.row, why: result.hidden });
    else chosen.requests.push(result);
  }
  return chosen;
}

/** A request that was read, or is left out. `hidden`: the reason why the user does not see all of its arguments. */
type Read = (ChosenRequest & { hidden?: string }) | LeftOut;

/** Returns a request with the arguments that its row in the list has, which may not be all. Needs no worker. */
async function asListed(row: ApprovalSummary): Promise<Read> {
  // A row without `notShown` shows none of its arguments.
  const { requestId, workflowId, digest, shown, notShown = row.argumentNames } = row;
  const names = notShown.map((name) => `'${name}'`).join(', ');
  const hidden = shown === 'all' ? undefined : `not all of its arguments can be read: ${names}`;
  return { requestId, workflowId, digest, row, text: visibleLine(argumentsText(row)), hidden };
}

/** Reads a request with all its arguments; without a worker, its row. Leaves out a settled or unreadable request. */
async function asRead(client: CountersignClient, row: ApprovalSummary): Promise<Read> {
  const { requestId, workflowId } = row;
  try {
    const read = await readRequest(client, requestId, workflowId);
    if ('row' in read) return await asListed(read.row);
    const { settled, shown, arguments: args, digest } = read.details;
    if (settled !== undefined) return { row, why: `it was settled meanwhile: ${settled.outcome}` };
    if (shown !== 'all') return { ...(await asListed(row)), digest, hidden: 'the policy hides its arguments' };
    const text = escapeJson(args);
    if (text.length <= longestShown) return { requestId, workflowId, digest, row, text };
    const cut = `${text.slice(0, longestShown)}… (${text.length - longestShown} more characters)`;
    const hidden = `its arguments have ${text.length} characters, too many to show here`;
    return { requestId, workflowId, digest, row, text: cut, hidden };
  } catch (error) {
    if (!isProblemError(error) || error.code === 'server_unreachable') throw error;
    return { row, why: error.message.replace(/\.$/, '') };
  }
}

/** Renders the requests with numbers, and below them those that are left out, with the reasons. */
function renderChosen(output: Output, { requests, leftOut }: ChosenRequests, nowMs: number): string {
  const shown = requests.map(({ row, text }, index) =>
    [
      output.style('bold', `${index + 1}. ${escapeText(row.toolName)}`),
      renderFields(output, [
        ['request', escapeText(row.requestId)],
        ['run', escapeText(row.workflowId)],
        ['agent', escapeText(row.agentName)],
        ['risk', `${escapeText(row.riskLevel)} (severity ${escapeText(row.severity)})`],
        ['reason', escapeText(row.reason)],
        ['left', row.deadline === null ? 'no limit' : leftOf(row.deadline, nowMs)],
        ['arguments', text],
      ]),
    ].join('\n'),
  );
  const reasons = leftOut.map(
    ({ row, why }) => `left out: ${escapeText(`${row.requestId} of '${row.workflowId}', because ${why}`)}`,
  );
  return [...shown, ...(reasons.length > 0 ? [reasons.join('\n')] : [])].join('\n\n');
}

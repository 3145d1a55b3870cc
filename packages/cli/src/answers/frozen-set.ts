import { inParallel } from 'countersign/adapter';
import { escapeJson, escapeText, isProblemError, visibleLine } from 'countersign/base';
import { argumentsText } from 'countersign/card';
import type { CountersignClient, ReviewedRequest, ApprovalSummary } from 'countersign/client';
import { leftOf } from '../inbox/approval-views.ts';
import type { Output } from '../base/output.ts';
import { readRequest } from '../base/read-request.ts';
import { renderFields } from '../base/table.ts';

/** A request as shown before one answer to several. */
export interface FrozenRequest extends Required<ReviewedRequest> {
  row: ApprovalSummary;
  /** The arguments of the request, escaped. */
  text: string;
}

/** A request that gets no answer, with the reason as a part of a sentence. */
export interface LeftOut {
  row: Pick<ApprovalSummary, 'requestId' | 'workflowId'> & Partial<ApprovalSummary>;
  why: string;
}

/** The requests read at one moment: those that get the answer, and those left out. */
export interface FrozenSet {
  requests: FrozenRequest[];
  leftOut: LeftOut[];
}

/** Longer arguments are not shown in a list, where reviewers would not read them. In characters. */
const longestShown = 4_000;
const readAtOnce = 8;

/**
 * Reads the requests in these rows. With `mustBeShown`, leaves out those whose arguments are not all shown. A denial
 * runs nothing, so the rows suffice for it and no run is queried.
 */
export async function freeze(
  client: CountersignClient,
  rows: readonly ApprovalSummary[],
  { mustBeShown, isDenial }: { mustBeShown: boolean; isDenial: boolean },
): Promise<FrozenSet> {
  const frozen: FrozenSet = { requests: [], leftOut: [] };
  const read = await inParallel(rows, readAtOnce, (row) => (isDenial ? asListed(row) : asRead(client, row)));
  for (const each of read) {
    if ('why' in each) frozen.leftOut.push(each);
    else if (mustBeShown && each.hidden !== undefined) frozen.leftOut.push({ row: each.row, why: each.hidden });
    else frozen.requests.push(each);
  }
  return frozen;
}

/** `hidden`: why the arguments are not all shown. */
type Read = (FrozenRequest & { hidden?: string }) | LeftOut;

/** The request as its row in the list shows it. `hidden`: which arguments the row does not show. */
async function asListed(row: ApprovalSummary): Promise<Read> {
  const { requestId, workflowId, digest, shown, notShown = row.argumentNames } = row;
  const names = notShown.map((name) => `'${name}'`).join(', ');
  const hidden = shown === 'all' ? undefined : `not all of its arguments can be read: ${names}`;
  return {
    requestId,
    workflowId,
    digest,
    row,
    text: visibleLine(argumentsText(row)),
    ...(hidden !== undefined && { hidden }),
  };
}

/** The request with all arguments that a reviewer may read. `why`: it cannot be answered. */
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

/** The set, with the requests left out. */
export function renderFrozen(output: Output, { requests, leftOut }: FrozenSet, nowMs: number): string {
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
  const left = leftOut.map(
    ({ row, why }) => `left out: ${escapeText(`${row.requestId} of '${row.workflowId}', because ${why}`)}`,
  );
  return [...shown, ...(left.length > 0 ? [left.join('\n')] : [])].join('\n\n');
}

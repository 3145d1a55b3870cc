import type { ApprovalList } from '../../client/list-approvals.ts';
import type { ApprovalDetails, Grant, Settlement } from '../../contract.ts';
import type { ApprovalSummary } from '../../core/ledger/approval-index.ts';
import { argumentsText } from '../../core/ledger/call-text.ts';
import { formatDuration } from '../../core/base/duration.ts';
import { escapeJson, escapeText } from '../../core/base/escape-text.ts';
import type { CommonOptions } from './command-line.ts';
import { nextCommand } from './command-line.ts';
import { truncate } from './fit-text.ts';
import { grantScope } from './grant-scope.ts';
import type { Output } from './output.ts';
import { shortIds } from './request-id.ts';
import { renderFields, renderTable } from './table.ts';

/** The open requests, and the runs whose requests cannot be read. */
export function renderInbox(output: Output, { approvals, unread }: ApprovalList, nowMs: number): string {
  const lines = unread.map(({ requestIds, message }) => escapeText(`${requestIds.join(', ')}: ${message}`));
  if (approvals.length > 0) return [renderApprovals(output, approvals, nowMs), ...lines].join('\n');
  return lines.length > 0 ? lines.join('\n') : 'Nothing waits for approval.';
}

/** Open requests as a table, earliest deadline first. */
export function renderApprovals(output: Output, rows: ApprovalSummary[], nowMs: number): string {
  const short = shortIds(rows.map(({ requestId }) => requestId));
  return renderTable(
    output,
    ['REQUEST', 'TOOL', 'ARGUMENTS', 'RISK', 'LEFT', 'AGENT', 'RUN'],
    rows.map((row) => [
      escapeText(short(row.requestId)),
      escapeText(row.toolName),
      argumentsText(row),
      escapeText(row.riskLevel),
      row.deadline === null ? 'no limit' : timeLeft(row.deadline, nowMs),
      escapeText(row.agentName),
      escapeText(row.workflowId),
    ]),
    { whole: ['REQUEST', 'RUN'] },
  );
}

/** One request with its full arguments, and how to answer it. `grants`: the grants that its decision made. */
export function renderApproval(
  output: Output,
  request: ApprovalDetails,
  options: CommonOptions,
  nowMs: number,
  grants: Grant[] = [],
): string {
  const { requestId, workflowId, settled, deadline } = request;
  const text = (value: string | null | undefined): string | undefined =>
    value === null || value === undefined ? undefined : escapeText(value);
  const fields = renderFields(output, [
    ['request', text(requestId)],
    ['run', text(workflowId)],
    ['called by', request.lineage.length === 0 ? undefined : request.lineage.map(escapeText).join(' > ')],
    ['agent', text(request.agentName)],
    ['tool', output.style('bold', escapeText(request.toolName))],
    ...assessmentFields(request),
    ['rule', ruleOf(request)],
    ['reason', text(request.reason)],
    ['caller', text(request.callerUserId)],
    ['context', text(request.contextSummary)],
    ['replaces', request.replaces === undefined ? undefined : replaced(request.replaces)],
    ['asked', text(request.requestedAt)],
    ['deadline', deadline === null ? 'none' : `${escapeText(deadline)} (${timeLeft(deadline, nowMs)})`],
    ['digest', text(request.digest)],
    ...votingFields(request),
    ...(settled === undefined ? [] : settledFields(settled)),
    ['left', grants.map(({ grantId, scope }) => `${escapeText(grantId)}: ${grantScope(scope)}`).join('; ')],
  ]);
  const answers =
    settled !== undefined
      ? []
      : [
          '',
          `approve:  ${escapedCommand(options, 'approve', requestId, workflowId)}`,
          `deny:     ${escapedCommand(options, 'deny', requestId, workflowId)}`,
        ];
  const edited =
    settled?.edited === undefined ? [] : ['', output.style('dim', 'what ran'), escapeJson(settled.edited.arguments, 2)];
  const names = request.shown === 'part' ? request.argumentNames : undefined;
  const hidden = request.shown === 'part' ? ' (not shown to reviewers)' : '';
  return [
    fields,
    '',
    output.style('dim', `arguments${hidden}`),
    names?.map(escapeText).join(', ') ?? escapeJson(request.arguments, 2),
    ...edited,
    ...answers,
  ].join('\n');
}

function ruleOf({ rule, rulePlace }: ApprovalDetails): string {
  if (rule === null) return 'none: a risk default asks';
  return rulePlace === undefined ? escapeText(rule) : `${escapeText(rule)} (${escapeText(rulePlace)})`;
}

function replaced({ requestId, by }: NonNullable<ApprovalDetails['replaces']>): string {
  return `${escapeText(requestId)}, ${by === 'edit' ? 'as edited' : 'whose tool has changed'}`;
}

type Field = [name: string, value: string | undefined];

/** How bad the call would be, why, and what a reviewer should look at. */
function assessmentFields({ riskLevel, assessment }: ApprovalDetails): Field[] {
  const { severity, reasons, affectedResources, reversible, recommendations } = assessment;
  const undo = reversible ? '' : ', cannot be undone';
  return [
    ['risk', `${escapeText(riskLevel)} (severity ${escapeText(severity)}${undo})`],
    ['assessed', reasons.map(escapeText).join('\n')],
    ['affects', affectedResources.map(escapeText).join('\n')],
    ['advice', recommendations.map(escapeText).join('\n')],
  ];
}

/** Returns the fields that show who is asked and who has answered. */
function votingFields({ reviewers, approvals, votes = [], delegations = [] }: ApprovalDetails): Field[] {
  const said = votes.map(
    ({ reviewerId, identity, approved }) =>
      `${escapeText(reviewerId ?? 'an unnamed reviewer')} ${approved ? 'approves' : 'denies'} (${identity})`,
  );
  const isVote = approvals !== undefined && (approvals.need > 1 || votes.length > 0);
  const count = isVote ? [`${approvals.have} of ${approvals.need}`] : [];
  return [
    ['reviewers', reviewers.map(escapeText).join(', ')],
    ['seats', delegations.map(({ from, to }) => `${escapeText(to)} in the place of ${escapeText(from)}`).join(', ')],
    ['approvals', [...count, ...said].join(', ')],
  ];
}

function settledFields(settled: Settlement): Field[] {
  const { outcome, settledAt, reviewerId, identity, reason, by, byId, runs, response } = settled;
  const thing = byId === undefined || byId === null ? '' : ` ${escapeText(byId)}`;
  const way = {
    policy: `by the policy${thing === '' ? '' : `, rule${thing}`}; the call ${runs ? 'runs' : 'does not run'}`,
    grant: `by${thing}; the call ${runs ? 'runs' : 'does not run'}`,
    edit: `by its edited call, request${thing}`,
  };
  return [
    ['settled', `${escapeText(outcome)} at ${escapeText(settledAt)}${by === undefined ? '' : `, ${way[by]}`}`],
    [
      'by',
      reviewerId === undefined
        ? undefined
        : `${escapeText(reviewerId)}${identity === undefined ? '' : ` (${identity})`}`,
    ],
    ['because', reason === undefined ? undefined : escapeText(reason)],
    ['answer', response === undefined ? undefined : escapeJson(response)],
  ];
}

/** One open request and the commands to show and answer it, for the progress of a run or worker. */
export function renderWaiting(
  output: Output,
  row: Pick<ApprovalSummary, 'requestId' | 'toolName' | 'argumentNames' | 'shownArguments' | 'reason'>,
  options: CommonOptions,
): string {
  const what = `${escapeText(row.toolName)}(${truncate(argumentsText(row), 60)})`;
  return [
    `${output.style('yellow', 'waiting for approval:')} ${what}: ${escapeText(row.reason)}`,
    `  look:    ${nextCommand(options, 'approvals', 'show', row.requestId)}`,
    `  answer:  ${nextCommand(options, 'approve', row.requestId)}   or   ${nextCommand(options, 'deny', row.requestId)}`,
  ].join('\n');
}

/** Includes the run's id, which saves a look-up, unless escaping would change the id. */
export function escapedCommand(options: CommonOptions, verb: string, requestId: string, workflowId: string): string {
  const run = escapeText(workflowId) === workflowId ? ['--run', workflowId] : [];
  return nextCommand(options, verb, escapeText(requestId), ...run);
}

export function timeLeft(deadline: string, nowMs: number): string {
  const leftMs = Date.parse(deadline) - nowMs;
  if (Number.isNaN(leftMs)) return '?';
  return leftMs < 0 ? 'passed' : formatDuration(Math.ceil(leftMs / 1_000) * 1_000);
}

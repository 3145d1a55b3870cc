import { escapeText, escapeUnseen } from '../../core/base/text.ts';
import type { Ledger, RequestRecord } from '../../core/ledger/ledger.ts';
import { waitingFor } from '../../core/ledger/waiting-for.ts';
import { decideName } from '../../contract.ts';

const shown = 10;
const longestText = 200;

/**
 * The text that Temporal's UI shows for a waiting run, under "User Metadata": what waits, until when, and how to
 * answer. It is written for that page's markdown, which keeps line breaks and does not render nested lists.
 */
export function currentDetails({ open }: Ledger): string {
  const [first] = open;
  if (first === undefined) return 'No approval is pending.';
  const { requestId } = first.request;
  const many = open.length > 1;
  return [
    `### ${open.length} approval${many ? 's' : ''} pending`,
    ...open.slice(0, shown).map((record, index) => describe(record, many ? `${index + 1}. ` : '')),
    ...(open.length > shown ? [`… and ${open.length - shown} more: \`countersign approvals\` lists them all.`] : []),
    `### How to answer${many ? ' the first' : ''}`,
    `On a command line, where all arguments are shown:\n${block([
      `countersign approvals show ${requestId}`,
      `countersign approve ${requestId}`,
      `countersign deny ${requestId} --reason "…"`,
    ])}`,
    `Or on this page: More Actions, Send a Signal, name \`${decideName}\`, with this data (\`false\` denies):\n${block([JSON.stringify({ requestId, approved: true })])}`,
  ].join('\n\n');
}

function describe(record: RequestRecord, number: string): string {
  const { request, terms } = record;
  const { toolName, riskLevel, reason, deadline, requestId, digest } = request;
  const runsAtEnd = terms.onTimeout === 'allow';
  const until =
    deadline === null
      ? 'no deadline'
      : `${runsAtEnd ? 'allowed' : 'denied'} automatically after ${deadline.slice(0, 19).replace('T', ' ')} UTC`;
  return [
    `**${number}${toolName}** ${argumentsOf(request)}, risk ${riskLevel}`,
    `${forWhom(record)}${until}`,
    `request \`${requestId}\``,
    `digest \`${digest.slice(0, 16)}…\`, asked because ${codeSpan(escapeText(reason))}`,
  ].join('\n');
}

function forWhom(record: RequestRecord): string {
  const { reviewers } = waitingFor(record);
  if (reviewers.length === 0) return '';
  const more = reviewers.length > shown ? ` and ${reviewers.length - shown} more` : '';
  const names = reviewers.slice(0, shown).map((name) => codeSpan(escapeText(name)));
  return `waits for ${names.join(', ')}${more}, `;
}

/** Names and values of what `show` names; of the other arguments, the names. */
function argumentsOf({ arguments: args, shownArguments = {} }: RequestRecord['request']): string {
  const values = Object.entries(shownArguments).map(
    ([name, text]) => `${codeSpan(escapeText(name))} ${span(escapeUnseen(text))}`,
  );
  const others = Object.keys(args).filter((name) => !Object.hasOwn(shownArguments, name));
  const more = others.length > shown ? [`and ${others.length - shown} more`] : [];
  const names = [...others.slice(0, shown).map((name) => codeSpan(escapeText(name))), ...more];
  if (values.length === 0) return `with ${names.length === 0 ? 'no arguments' : names.join(', ')}`;
  return [...values, ...(names.length === 0 ? [] : [`not shown: ${names.join(', ')}`])].join(', ');
}

function block(lines: string[]): string {
  return ['```', ...lines, '```'].join('\n');
}

/** A code span with the beginning of escaped text that a model or a policy chose. */
function codeSpan(escaped: string): string {
  return span(escaped.slice(0, longestText));
}

/** The text cannot end the span. */
function span(escaped: string): string {
  return `\`${escaped.replaceAll('`', "'")}\``;
}

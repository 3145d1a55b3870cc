import type { ApprovalRequest } from '../../core/ledger/approval.ts';
import { escapeText } from '../../core/base/escape-text.ts';
import type { Ledger } from '../../core/ledger/ledger.ts';
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
    ...open.slice(0, shown).map(({ request }, index) => describe(request, many ? `${index + 1}. ` : '')),
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

function describe(request: ApprovalRequest, number: string): string {
  const { toolName, arguments: args, riskLevel, reason, deadline, requestId, digest } = request;
  const names = Object.keys(args).slice(0, shown).map(codeSpan).join(', ');
  const until =
    deadline === null ? 'no deadline' : `denied automatically after ${deadline.slice(0, 19).replace('T', ' ')} UTC`;
  return [
    `**${number}${toolName}** with ${names === '' ? 'no arguments' : names}, risk ${riskLevel}`,
    until,
    `request \`${requestId}\``,
    `digest \`${digest.slice(0, 16)}…\`, asked because ${codeSpan(reason)}`,
  ].join('\n');
}

function block(lines: string[]): string {
  return ['```', ...lines, '```'].join('\n');
}

/** A code span for text that a model or a policy chose. The text can neither end the span nor hide a character. */
function codeSpan(text: string): string {
  return `\`${escapeText(text).slice(0, longestText).replaceAll('`', "'")}\``;
}

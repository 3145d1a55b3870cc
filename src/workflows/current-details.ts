import type { Ledger } from '../core/ledger.ts';
import { escapeText } from '../core/escape-text.ts';
import { decideName } from '../contract.ts';

const shown = 10;

/** What Temporal's UI shows of a waiting run: what waits, until when, and how to answer (markdown). */
export function currentDetails(ledger: Ledger): string {
  if (ledger.open.length === 0) return 'No approval is pending.';
  const rows = ledger.open.slice(0, shown).map(({ request }) => {
    const until = request.deadline === null ? 'no deadline' : `auto-denied after ${request.deadline}`;
    const names = Object.keys(request.arguments).slice(0, shown).map(codeSpan).join(', ');
    return `- **${request.toolName}** (${names}) · risk ${request.riskLevel} · ${until}\n  - request \`${request.requestId}\`\n  - digest \`${request.digest.slice(0, 16)}…\``;
  });
  const more = ledger.open.length > shown ? [`- … and ${ledger.open.length - shown} more`] : [];
  const first = ledger.open[0]!.request;
  return [
    `### ${ledger.open.length} approval${ledger.open.length === 1 ? '' : 's'} pending`,
    ...rows,
    ...more,
    '',
    `See all arguments: \`countersign approvals show ${first.requestId}\``,
    `Answer: \`countersign approve ${first.requestId}\` or \`countersign deny ${first.requestId}\`,`,
    `or send signal \`${decideName}\` with \`{"requestId":"${first.requestId}","approved":true}\`.`,
  ].join('\n');
}

/** A name the model chose, where it can neither end the code span nor hide a character. */
function codeSpan(name: string): string {
  return `\`${escapeText(name).slice(0, 60).replaceAll('`', "'")}\``;
}

import type { CallPreview, Change } from '../base/call-preview.ts';
import type { Json } from '../base/tool-call.ts';
import { findSensitive, withPlaceholders } from '../redact/find-sensitive.ts';
import { withoutActions } from '../redact/without-actions.ts';
import { hiderIn } from '../redact/join-redactions.ts';
import type { ApprovalRequest, ReviewerVote, Settlement } from './approval.ts';
import { hideInRequest, hideInSettlement, hideInVote } from './hidden-arguments.ts';
import type { RequestRecord, SettledRequest } from './ledger-state.ts';
import { hiddenNames, redactInRequest, redactInSettlement, redactInVote } from './redacted-arguments.ts';

/** The parts of a request that depend on what reviewers may see of its arguments. */
export interface ShownParts {
  request: ApprovalRequest;
  votes: ReviewerVote[];
  settled?: Settlement;
}

/** The parts as reviewers see them. `hides`: no arguments at all. */
export function shownParts(found: RequestRecord | SettledRequest, hides: boolean): ShownParts {
  const { request, votes, redaction, editedRedaction } = found;
  const settled = 'settlement' in found ? found.settlement : undefined;
  if (hides) {
    const hidden = { request: hideInRequest(request), votes: votes.map(hideInVote) };
    return { ...hidden, settled: settled && hideInSettlement(settled) };
  }
  if (redaction === undefined) return { request, votes, settled };
  const names = hiddenNames(found);
  return {
    request: redactInRequest(request, redaction),
    votes: votes.map((vote) => redactInVote(vote, names)),
    settled: settled && redactInSettlement(settled, editedRedaction ?? redaction),
  };
}

/** What the call would change, without what is hidden of its arguments and of the same kinds. */
export function shownPreview(
  { request, redaction }: Pick<RequestRecord, 'request' | 'redaction'>,
  preview: CallPreview | undefined,
): CallPreview | undefined {
  if (preview === undefined || redaction === undefined) return preview;
  const hide = hiderIn(preview, request.arguments, redaction.values);
  if (hide === undefined) {
    return { state: 'failed', message: 'it repeats too much of what is hidden of the arguments' };
  }
  return inPreview(preview, (text) => {
    const shown = hide(text);
    return withPlaceholders(shown, withoutActions(shown, findSensitive(shown, redaction.kinds)));
  });
}

/** Changes what the tool wrote, and nothing that says how it is to be read. */
function inPreview(preview: CallPreview, change: (text: string) => string): CallPreview {
  if (preview.state === 'pending') return preview;
  if (preview.state === 'failed') return { ...preview, message: change(preview.message) };
  const text = (each: string | null): string | null => (each === null ? null : change(each));
  const cells = (row: Json[] | null): Json[] | null => row?.map((cell) => inCell(cell, change)) ?? null;
  const changes = preview.changes.map((each): Change => {
    const name = change(each.name);
    if (each.kind === 'text') return { ...each, name, before: text(each.before), after: text(each.after) };
    const rows = each.rows.map(({ before, after }) => ({ before: cells(before), after: cells(after) }));
    return { ...each, name, columns: each.columns.map(change), rows };
  });
  return { ...preview, changes, ...(preview.cut !== undefined && { cut: change(preview.cut) }) };
}

function inCell(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (typeof value === 'number') {
    const written = JSON.stringify(value);
    const shown = change(written);
    return shown === written ? value : shown;
  }
  if (Array.isArray(value)) return value.map((each) => inCell(each, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.keys(value).map((name) => [change(name), inCell(value[name]!, change)]));
}

import type { CallPreview } from '../base/call-preview.ts';
import type { Json } from '../base/tool-call.ts';
import { redactText } from '../redact/find-sensitive.ts';
import { withoutHidden } from '../redact/join-redactions.ts';
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
  const shown = (text: string): string => {
    return redactText(withoutHidden(text, request.arguments, redaction.values), redaction.kinds);
  };
  return inTexts(preview, shown) as unknown as CallPreview;
}

function inTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each) => inTexts(each, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.keys(value).map((name) => [name, inTexts(value[name]!, change)]));
}

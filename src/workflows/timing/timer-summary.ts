import { byteLength } from '../../core/base/text.ts';
import { callText } from '../../core/ledger/shown-arguments.ts';
import type { RequestRecord } from '../../core/ledger/ledger.ts';

/** Longest text of the call, in UTF-16 units: the timeline of Temporal's UI is about 130 letters wide. */
const longestCall = 72;
/**
 * Most bytes of the call's JSON. The server refuses summaries of more than 400 bytes, and the workflow task then fails
 * for ever: this leaves room for what a codec adds, such as a header and base64.
 */
const callBytes = 130;
/** The command line finds a request by the beginning of its id. */
const idStart = 8;

/**
 * The summary of the deadline timer: what waits, until when, and how to answer. Temporal's UI reads it from history, so
 * it needs no worker. It stays as it was when the timer started, so with several requests it names none to approve.
 */
export function timerSummary(open: readonly RequestRecord[]): string {
  const [first] = open.toSorted((one, other) => (one.deadlineMs ?? Infinity) - (other.deadlineMs ?? Infinity));
  if (first === undefined) return '';
  const { requestId, deadline } = first.request;
  const call = cut(callText(first.request));
  const until = deadline === null ? 'no deadline' : `until ${deadline.slice(0, 16).replace('T', ' ')} UTC`;
  return open.length === 1
    ? `${call} · ${until} · countersign approve ${requestId.slice(0, idStart)}`
    : `${call} and ${open.length - 1} more · ${until} · countersign approvals`;
}

function cut(text: string): string {
  if (text.length <= longestCall && jsonBytes(text) <= callBytes) return text;
  let kept = '';
  for (const character of text) {
    const longer = `${kept}${character}`;
    if (longer.length >= longestCall || jsonBytes(longer) > callBytes - jsonBytes('…')) break;
    kept = longer;
  }
  return `${kept}…`;
}

function jsonBytes(text: string): number {
  return byteLength(JSON.stringify(text));
}

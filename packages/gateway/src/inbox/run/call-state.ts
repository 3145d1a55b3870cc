import type { Call } from './conversation.ts';
import { isSaid } from './conversation.ts';
import { decisionText, settledText } from './decision-text.ts';

export interface CallState {
  /** What became of the call, such as `approved by ann · ran`. */
  text: string;
  tone: 'plain' | 'asks' | 'good' | 'bad';
}

/** Says how each request about a call was settled, and how the call ended or what it waits for. */
export function callState({ requests, result }: Call, isOver: boolean): CallState {
  const { request, result: last } = requests.at(-1) ?? {};
  const isOpen = request !== undefined && last === undefined;
  const waiting =
    request?.replaces?.by === 'unknown' ? 'it may have run, waiting for approval' : 'waiting for approval';
  const settled = requests.flatMap(({ result: each }) => {
    if (each === undefined) return [];
    // The conversation shows the reviewer's text as a message, so the short form is enough here.
    return [isSaid(each) ? settledText(each) : decisionText(each)];
  });
  const ended = isOpen ? (isOver ? 'not answered' : waiting) : endOf({ requests, result }, isOver);
  const text = [...settled, ...(ended === '' ? [] : [ended])].join(' · ');
  const isRefused = last !== undefined && ['denied', 'expired', 'cancelled'].includes(last.decision);
  if (isOpen) return { text, tone: isOver ? 'plain' : 'asks' };
  if (isRefused || result?.withheld === true) return { text, tone: 'bad' };
  if (result === undefined || last?.decision === 'responded') return { text, tone: 'plain' };
  return { text, tone: result.isError ? 'bad' : result.ran === 'yes' ? 'good' : 'plain' };
}

/** How a call ended that waits for no reviewer, such as `ran`; empty if its decision says that already. */
function endOf({ requests, result }: Pick<Call, 'requests' | 'result'>, isOver: boolean): string {
  const last = requests.at(-1)?.result;
  if (result === undefined) {
    if (last?.ran === 'no') return '';
    return isOver ? 'no result' : 'running';
  }
  if (result.withheld === true) return 'ran, its result is withheld from the model';
  if (result.resultOf !== undefined) return `did not run again: the result of call ${result.resultOf}`;
  if (result.ran === 'unknown') return 'it is unknown whether it ran';
  if (result.ran === 'no') return last?.ran === 'no' ? '' : 'did not run';
  return result.isError ? 'failed' : 'ran';
}

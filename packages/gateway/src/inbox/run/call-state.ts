import type { Call } from './conversation.ts';
import { isSaid } from './conversation.ts';
import { decisionText, settledText } from './decision-text.ts';

export interface CallState {
  /** What became of the call, such as `approved by ann · ran`. */
  text: string;
  tone: 'plain' | 'asks' | 'good' | 'bad';
}

/** Says how each request about a call was settled, and how the call ended or what it waits for. `isOver`: the run. */
export function callState({ requests, result }: Call, isOver: boolean): CallState {
  const { request, result: last } = requests.at(-1) ?? {};
  const settled = requests.flatMap(({ result: each }) => {
    if (each === undefined) return [];
    // The conversation shows the reviewer's text as a message, so the short form is enough here.
    return [isSaid(each) ? settledText(each) : decisionText(each)];
  });
  if (request !== undefined && last === undefined) {
    const mayHaveRun = request.replaces?.by === 'unknown' ? 'it may have run, ' : '';
    const waits = isOver ? 'not answered' : `${mayHaveRun}waiting for approval`;
    return { text: [...settled, waits].join(' · '), tone: isOver ? 'plain' : 'asks' };
  }
  const end = endOf({ requests, result }, isOver);
  return { text: [...settled, ...(end === '' ? [] : [end])].join(' · '), tone: endTone(result, last?.decision) };
}

/** The tone of a call that no longer waits: bad if it was not approved, is withheld or failed, and good if it ran. */
function endTone(result: Call['result'], decision: string | undefined): CallState['tone'] {
  if (decision === 'denied' || decision === 'expired' || decision === 'cancelled') return 'bad';
  if (result?.withheld === true) return 'bad';
  if (result === undefined || decision === 'responded') return 'plain';
  if (result.isError) return 'bad';
  return result.ran === 'yes' ? 'good' : 'plain';
}

/** How a call that waits for no reviewer ended, such as `ran`. Empty if the decision about it says that already. */
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

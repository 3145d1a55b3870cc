import type { CallOutcome, Settlement } from '../../src/contract.ts';
import { lastWords } from './run-calls.ts';
import type { RunBook } from './run-book.ts';

/** The result of an agent call that the model sees: the agent's answer, or why there is none. */
const ofAgent: Record<CallOutcome['ran'], RegExp> = {
  yes: new RegExp(`^${lastWords}$`),
  unknown: /^(Unknown|Cancelled): /,
  no: /^(Error|Cancelled): /,
  pending: /^$/,
};

/** The text that the model got about each call, in the model's order, must match the outcome of the call. */
export function toldTheTruth({ plan, status, told, projection, details }: RunBook): string[] {
  const outcomes = new Map(projection.outcomes.map((each) => [each.callId, each]));
  const calls = plan.turns.flatMap(({ calls }, turn) =>
    calls.map(({ text }, index) => ({ callId: `${turn + 1}.${index + 1}`, text })),
  );
  return told.flatMap((content, index) => {
    const { callId = '', text = '' } = calls[index] ?? {};
    const known = outcomes.get(callId);
    // Queries of a terminated run show what its last, unfinished task would have done.
    if (status === 'TERMINATED' && (known === undefined || known.ran === 'pending')) return [];
    if (known === undefined) return [`the model was told '${content}' of no call`];
    // The call was allowed but had not started when the run was cancelled.
    if (status === 'CANCELLED' && known.ran === 'no' && content.startsWith('Cancelled: ')) return [];
    const settled = details[known.requestId ?? '']?.settled;
    return isTold(known, text, settled).test(content)
      ? []
      : [`call ${callId}, ${known.outcome}, was told as '${content}'`];
  });
}

function isTold({ toolName, outcome, ran }: CallOutcome, asked: string, settled: Settlement | undefined): RegExp {
  const edited = settled?.edited?.arguments['text'] as string | undefined;
  if (toolName === 'helper') return ofAgent[ran];
  if (outcome === 'allowed' || settled?.runs === true) {
    const wrote = edited === undefined ? `^wrote ${asked}$` : `[^]*\\nwrote ${edited}$`;
    return { yes: new RegExp(wrote), unknown: /Unknown: /, no: /Error: /, pending: /^$/ }[ran];
  }
  if (outcome === 'expired') return /^Denied: no decision within /;
  if (outcome === 'responded') return new RegExp(`^${settled?.response as string}$`);
  if (outcome === 'cancelled') return /^Cancelled: /;
  return outcome === 'denied' ? /^Denied: User denied$/ : /^Denied: /;
}

import { DefinitionError } from '../agents/check-options.ts';
import { argumentsText } from '../core/ledger/shown-arguments.ts';
import { isAmong, personKeyIn, personsShown } from '../core/people/directory.ts';
import { shortened } from '../core/base/text.ts';
import type { Settlement } from '../contract.ts';
import { deadlineText, instantText, type ReaderClock } from '../text/instant-text.ts';
import { shownName, visibleLine, visibleText } from '../text/visible-text.ts';
import type { ChannelRequest } from './channel.ts';

/**
 * A notice for the caller, who is the user of the run. The texts have no markup and no invisible characters. The notice
 * has no link to the request, because callers cannot approve calls of their own runs.
 */
export interface CallerNotice {
  title: string;
  /** Sentences, one per line. */
  lines: string[];
}

/** How a channel treats callers: `also` notifies them besides its reviewers, `only` in place of its reviewers. */
export type CallersOption = 'also' | 'only';

export const callersOptions = ['also', 'only'] as const satisfies readonly CallersOption[];

/** Throws a `DefinitionError` for a value that is not one of `callersOptions`. */
export function checkCallers(where: string, callers: CallersOption | undefined): void {
  if (callers === undefined || callersOptions.includes(callers)) return;
  throw new DefinitionError(`${where}: 'callers' must be one of ${callersOptions.join(', ')}.`);
}

const longestCall = 300;
const longestReason = 500;
const longestPerson = 200;
const mostNames = 5;

/** The notice that the run waits for a decision on a request. */
export function waitingNotice(request: ChannelRequest, nowMs: number, clock: ReaderClock): CallerNotice {
  const { agentName, toolName, deadline } = request;
  const until = deadline === null ? 'without a deadline' : `until ${deadlineText(deadline, nowMs, clock)}`;
  return {
    title: `Waiting for a decision: ${shownName(toolName)}`,
    lines: [
      `${shownName(agentName)} works for you, and waits for a decision before it calls ${callShown(request)}.`,
      `It waits for ${awaited(request)}, ${until}.`,
      'There is nothing for you to do. You will be notified of the decision.',
    ],
  };
}

/** The notice of how a request was settled. */
export function outcomeNotice(request: ChannelRequest, settlement: Settlement, clock: ReaderClock): CallerNotice {
  const { reason = '', settledAt } = settlement;
  const reasonLine = reason.trim() === '' ? [] : [`Reason: ${bounded(reason, longestReason)}`];
  const who = byReviewer(request, settlement, (person) => bounded(person, longestPerson));
  const [title, sentence] = outcomeWords(settlement, who);
  return {
    title: `${title}: ${shownName(request.toolName)}`,
    lines: [
      `${shownName(request.agentName)} asked to call ${callShown(request)}.`,
      `${sentence}, on ${instantText(settledAt, clock)}.`,
      ...reasonLine,
    ],
  };
}

/** How a request was settled, in a few words, such as `Denied by Ann Lee (ann)`. */
export function outcomeTitle(request: Pick<ChannelRequest, 'people'>, settlement: Settlement): string {
  return `${outcomeWords(settlement, '')[0]}${byReviewer(request, settlement, shownName)}`;
}

/** Returns ` by ` and the name of the reviewer who settled the request, formatted by `shown`; empty without one. */
export function byReviewer(
  { people }: Pick<ChannelRequest, 'people'>,
  { reviewerId, reviewerName }: Settlement,
  shown: (person: string) => string = (person) => person,
): string {
  return reviewerId === undefined ? '' : ` by ${shown(personsShown(people)(reviewerId, reviewerName))}`;
}

/** True if the caller of the run is also a reviewer whose approval of this request would count. */
export function asksCaller(request: ChannelRequest): boolean {
  const { callerUserId, approvers } = request;
  if (callerUserId === null || approvers === undefined) return false;
  const keyOf = personKeyIn(request);
  return isAmong(undefined, approvers, keyOf)(keyOf(callerUserId));
}

/** The title and the sentence of an outcome. `who` is ` by ` and a name, as `byReviewer` returns it, or empty. */
function outcomeWords({ outcome, runs, by }: Settlement, who: string): [title: string, sentence: string] {
  const runsOrNot = runs ? 'it runs' : 'it does not run';
  switch (outcome) {
    case 'approved':
      return ['Approved', `The call was approved${who}`];
    case 'denied':
      return ['Denied', `The call was denied${who}, so ${runsOrNot}`];
    case 'expired':
      return ['Expired', `No decision came in time, so ${runsOrNot}`];
    case 'cancelled':
      return ['Cancelled', 'The question was withdrawn before there was a decision'];
    case 'responded':
      return ['Answered', `The model was answered in the tool's place${who}`];
    case 'superseded':
      if (by === 'edit')
        return ['Changed', `The call was edited${who}, and a new question takes the place of this one`];
      if (by === 'grant') return ['Decided', `An "always" for other calls decides this one, too: ${runsOrNot}`];
      return ['Decided', `The policy decides the call now: ${runsOrNot}`];
    case 'allowed':
    case 'denied_by_policy':
    case 'refused':
    case 'cached':
      // A request never has these outcomes: they are for calls that were decided without a request.
      return ['Decided', `It was decided${who}: ${runsOrNot}`];
  }
}

/** The call with the names of its arguments, and those values that `show` in the policy or the tool allows. */
function callShown({
  toolName,
  arguments: args,
  argumentNames = Object.keys(args),
  shownArguments,
}: ChannelRequest): string {
  // Cut the text before and after escaping, as escapes are longer.
  const text = visibleLine(shortened(argumentsText({ argumentNames, shownArguments }), longestCall));
  return argumentNames.length === 0 ? shownName(toolName) : `${shownName(toolName)}(${shortened(text, longestCall)})`;
}

/** Escapes invisible characters. Cuts the text to `most` characters before and after that, as escapes are longer. */
function bounded(text: string, most: number): string {
  return shortened(visibleText(shortened(text, most)), most);
}

/** The names of the people whose approval would count; of all reviewers if the run does not know whose would. */
function awaited({ approvers = [], reviewers, people }: ChannelRequest): string {
  const person = personsShown(people);
  const names = approvers.length > 0 ? approvers : reviewers;
  if (names.length === 0) return 'any reviewer';
  const shown = names.slice(0, mostNames).map((name) => bounded(person(name), longestPerson));
  const rest = names.length - shown.length;
  return [...shown, ...(rest > 0 ? [`${rest} more`] : [])].join(' or ');
}

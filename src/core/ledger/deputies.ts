import { delegationProblem } from '../people/delegation-problem.ts';
import { shortageIn, type Panel } from '../people/entitlement.ts';
import { isAmong, personKey, type Absence, type PersonKey } from '../people/directory.ts';
import type { Directories } from './ledger-state.ts';
import { lastPanelOf, type Asked } from './panel.ts';

export interface Deputized {
  from: string;
  to: string;
  untilAt: string;
}

/**
 * The seats that the operator's directory gives to deputies of people who are away. A seat stays with its holder if a
 * delegation to the deputy would be refused (as to the person who started the run), or would leave too few approvers.
 */
export function deputiesOf(record: Asked, directories: Directories, atMs: number): Deputized[] {
  const away = Object.entries(directories.ceiling?.people ?? {}).flatMap(([id, person]) => {
    const absence = person.away?.find((each) => isWithin(each, atMs));
    return absence === undefined ? [] : [{ id, ...absence }];
  });
  if (away.length === 0) return [];
  const asked = lastPanelOf(record, directories);
  const { keyOf = personKey } = asked;
  const deputyOf = new Map(away.map(({ id, deputy }) => [keyOf(id), deputy]));
  const isReviewer = reviewerTest(asked);
  const reviewersAway = away.filter(({ id }) => isReviewer(keyOf(id))).slice(0, mostTried);
  const given: Deputized[] = [];
  // If no votes can approve the request, a delegation cannot make that worse, and may make it better.
  let isShort = shortageIn(asked, []) !== undefined;
  for (const { id, deputy, untilAt } of reviewersAway) {
    if (given.length >= mostDeputies) break;
    const to = presentDeputy(deputy, deputyOf, keyOf);
    const panel = { ...asked, delegations: given };
    if (delegationProblem(panel, [], { reviewerId: id, identity: 'verified' }, to) !== undefined) continue;
    const withDeputy = [...given, { from: id, to, untilAt }];
    const isShortThen = shortageIn({ ...panel, delegations: withDeputy }, []) !== undefined;
    if (isShortThen && !isShort) continue;
    isShort = isShortThen;
    given.push({ from: id, to, untilAt });
  }
  return given;
}

function reviewerTest({ requirements, keyOf }: Panel): (key: string) => boolean {
  const tests = requirements.map(({ directory, reviewers, oneOfEach }) =>
    isAmong(directory, [...reviewers, ...oneOfEach], keyOf),
  );
  return (key) => tests.some((isReviewer) => isReviewer(key));
}

/** The first person in a chain of deputies who is not away; `first` if the chain is a circle. */
function presentDeputy(first: string, deputyOf: ReadonlyMap<string, string>, keyOf: PersonKey): string {
  const seen = new Set<string>();
  let deputy = first;
  for (let next = deputyOf.get(keyOf(deputy)); next !== undefined; next = deputyOf.get(keyOf(deputy))) {
    if (seen.has(keyOf(deputy))) return first;
    seen.add(keyOf(deputy));
    deputy = next;
  }
  return deputy;
}

/** The most seats that go to deputies, so that reviewers can still delegate theirs. */
const mostDeputies = 25;
/** The most seats that are examined, because each costs a search for enough approvers. */
const mostTried = 50;

function isWithin({ fromAt, untilAt }: Absence, atMs: number): boolean {
  // oxlint-disable-next-line no-restricted-globals -- parses given dates; reads no clock
  return Date.parse(fromAt) <= atMs && atMs < Date.parse(untilAt);
}

/** Deputies: who decides in the place of people who are away while a request is opened. */
import { delegationProblem } from '../people/delegation-problem.ts';
import { shortageIn } from '../people/entitlement.ts';
import { isAmong, type Absence } from '../people/directory.ts';
import { personKey, type PersonKey } from '../people/person-key.ts';
import type { Directories } from './ledger-state.ts';
import { lastPanelOf, type Asked } from './panel.ts';

/** The seat of a person who is away. */
export interface Deputized {
  from: string;
  to: string;
  untilAt: string;
}

/**
 * Whose seats go to their deputies, by the operator's directory. Where a delegation would be refused, or leave too few
 * people to approve, the seat stays: a deputy who started the run is none.
 */
export function deputiesOf(record: Asked, directories: Directories, atMs: number): Deputized[] {
  const away = Object.entries(directories.ceiling?.people ?? {}).flatMap(([id, person]) => {
    const absence = person.away?.find((each) => isWithin(each, atMs));
    return absence === undefined ? [] : [{ id, ...absence }];
  });
  if (away.length === 0) return [];
  const asked = lastPanelOf(record, directories);
  const { keyOf = personKey, requirements } = asked;
  const isAsked = requirements.map(({ directory, reviewers, oneOfEach }) =>
    isAmong(directory, [...reviewers, ...oneOfEach], keyOf),
  );
  const deputyOf = new Map(away.map(({ id, deputy }) => [keyOf(id), deputy]));
  const given: Deputized[] = [];
  // Where no votes can approve the request anyway, no seat makes it worse, and one may help.
  let isShort = shortageIn(asked, []) !== undefined;
  const seated = away.filter(({ id }) => isAsked.some((isReviewer) => isReviewer(keyOf(id)))).slice(0, mostTried);
  for (const { id, deputy, untilAt } of seated) {
    if (given.length >= mostDeputies) break;
    const to = presentDeputy(deputy, deputyOf, keyOf);
    const more = { from: id, to, untilAt };
    const panel = { ...asked, delegations: given };
    if (delegationProblem(panel, [], { reviewerId: id, identity: 'verified' }, to) !== undefined) continue;
    const isShortThen = shortageIn({ ...panel, delegations: [...given, more] }, []) !== undefined;
    if (isShortThen && !isShort) continue;
    isShort = isShortThen;
    given.push(more);
  }
  return given;
}

/** The deputy, or theirs if they are away as well; where all of them are, the first. */
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

/** Room stays for the delegations of reviewers. */
const mostDeputies = 25;
/** Each is a search for enough people. */
const mostTried = 50;

function isWithin({ fromAt, untilAt }: Absence, atMs: number): boolean {
  // oxlint-disable-next-line no-restricted-globals -- parses given dates; reads no clock
  return Date.parse(fromAt) <= atMs && atMs < Date.parse(untilAt);
}

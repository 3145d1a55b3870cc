/** Deputies: who decides in the place of people who are away while a request is opened. */
import { cannotBeApproved } from '../people/cannot-be-approved.ts';
import { delegationProblem } from '../people/delegation-problem.ts';
import { isAmong, type Absence } from '../people/directory.ts';
import { personKey } from '../people/person-key.ts';
import type { Directories, RequestRecord } from './ledger-state.ts';
import { lastPanelOf } from './panel.ts';

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
export function deputiesOf(record: RequestRecord, directories: Directories, atMs: number, engine: number): Deputized[] {
  const away = Object.entries(directories.ceiling?.people ?? {}).flatMap(([id, person]) => {
    const absence = person.away?.find((each) => isWithin(each, atMs));
    return absence === undefined ? [] : [{ id, ...absence }];
  });
  if (engine < 5 || away.length === 0) return [];
  const asked = lastPanelOf(record, directories, engine);
  const { keyOf = personKey, requirements } = asked;
  const isAsked = requirements.map(({ directory, reviewers, oneOfEach }) =>
    isAmong(directory, [...reviewers, ...oneOfEach], keyOf),
  );
  const given: Deputized[] = [];
  for (const { id, deputy, untilAt } of away) {
    if (!isAsked.some((isReviewer) => isReviewer(keyOf(id)))) continue;
    const panel = { ...asked, delegations: given };
    const more = { from: id, to: deputy, untilAt };
    const isRefused = delegationProblem(panel, [], { reviewerId: id, identity: 'verified' }, deputy) !== undefined;
    const isOneTooFew = (): boolean => cannotBeApproved({ ...panel, delegations: [...given, more] }, []) !== undefined;
    if (!isRefused && !isOneTooFew()) given.push(more);
  }
  return given.slice(0, mostDeputies);
}

/** Room stays for the delegations of reviewers. */
const mostDeputies = 25;

function isWithin({ fromAt, untilAt }: Absence, atMs: number): boolean {
  // oxlint-disable-next-line no-restricted-globals -- parses given dates; reads no clock
  return Date.parse(fromAt) <= atMs && atMs < Date.parse(untilAt);
}

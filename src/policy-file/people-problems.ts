/** Finds rules that need reviewers who do not exist, when a policy is read. */
import {
  groupOf,
  isAmong,
  membersOf,
  membersOfOne,
  isSamePerson,
  personKey,
  type Directory,
} from '../core/people/directory.ts';
import { belongsInCeiling, type ShapeProblem } from './explain-shape.ts';
import { maxMatching } from '../core/people/entitlement.ts';
import { absenceOf, directoryOf, placedRules } from './normal-form.ts';
import type { PolicyDocument, RuleDocument } from './shape.ts';

/** The problems with people, or the first member for ceilings. Groups are known only if this policy has a directory. */
export function peopleProblems(document: PolicyDocument, { ceiling = false }: { ceiling?: boolean }): ShapeProblem[] {
  const { reviewer_keys: keys, directory: written } = document;
  for (const key of ['reviewer_keys', 'revoked'] as const) {
    if (document[key] !== undefined && !ceiling) return [belongsInCeiling([key])];
  }
  const directory = written && directoryOf(written);
  return [
    ...(written === undefined ? [] : nameProblems(written, ceiling)),
    ...(written === undefined ? [] : keyProblems(written, ceiling ? (keys ?? {}) : undefined)),
    ...placedRules(document).flatMap(({ rule, path }) => {
      return rule.ask === undefined ? [] : quorumProblems(rule.ask, [...path, 'ask'], directory);
    }),
  ];
}

type DirectoryDocument = NonNullable<PolicyDocument['directory']>;
type KeysDocument = NonNullable<PolicyDocument['reviewer_keys']>;

/** The problems of people: a name in two spellings, an id of two people, a wrong absence, or a member for ceilings. */
function nameProblems({ people }: DirectoryDocument, ceiling: boolean): ShapeProblem[] {
  const owners = new Map<string, string>();
  const twice = Object.keys(people).flatMap((id): ShapeProblem[] => {
    const isNew = !owners.has(personKey(id));
    if (isNew) owners.set(personKey(id), id);
    const message = `'${id}' appears twice, in two spellings`;
    return isNew ? [] : [{ path: ['directory', 'people', id], message, part: 'key' }];
  });
  const others = Object.entries(people).flatMap(([id, { name, also = [], away = [] }]): ShapeProblem[] => {
    const path = ['directory', 'people', id];
    const [member] =
      Object.entries({ name, also: also[0], away: away[0] }).find(([, value]) => value !== undefined) ?? [];
    if (!ceiling && member !== undefined) {
      const message = `'${member}' belongs in the ceiling, the policy given to createWorker: only the operator says who a person is`;
      return [{ path: [...path, member], message, part: 'key' }];
    }
    const absences = absenceProblems(away, [id, ...also], [...path, 'away']);
    const ids = also.flatMap((other, index): ShapeProblem[] => {
      const owner = owners.get(personKey(other));
      owners.set(personKey(other), id);
      if (owner === undefined) return [];
      const message =
        owner === id
          ? `'${other}' is an id of '${id}' already`
          : `'${other}' is '${owner}' already: an id is one person's`;
      return [{ path: [...path, 'also', index], message }];
    });
    return [...absences, ...ids];
  });
  return [...twice, ...others];
}

type Absences = NonNullable<DirectoryDocument['people'][string]['away']>;

/** The problems of a person's absences: an empty time, the person as deputy. `ids`: theirs, the main one first. */
function absenceProblems(away: Absences, ids: readonly string[], path: readonly PropertyKey[]): ShapeProblem[] {
  return away.flatMap((absence, index): ShapeProblem[] => {
    const { fromAt, untilAt } = absenceOf(absence);
    if (untilAt <= fromAt) return [{ path: [...path, index, 'until'], message: `'until' must come after 'from'` }];
    const isOwn = ids.some((id) => isSamePerson(id, absence.deputy));
    return isOwn ? [{ path: [...path, index, 'deputy'], message: `'${ids[0]}' cannot be their own deputy` }] : [];
  });
}

/** The problems of people's keys: unknown, of two people, or signing for others. `known`: the ceiling's keys. */
function keyProblems({ people }: DirectoryDocument, known: KeysDocument | undefined): ShapeProblem[] {
  const owners = new Map<string, string>();
  return Object.entries(people).flatMap(([name, { keys = [] }]) =>
    keys.flatMap((id, index): ShapeProblem[] => {
      const path = ['directory', 'people', name, 'keys', index];
      const owner = owners.get(id);
      owners.set(id, owner ?? name);
      if (known !== undefined && !Object.hasOwn(known, id)) {
        return [{ path, message: `key '${id}' is not in 'reviewer_keys'` }];
      }
      const key = known?.[id];
      if (typeof key === 'object' && key.signs_for !== undefined) {
        return [{ path, message: `key '${id}' signs for others ('signs_for'): it cannot be a person's own` }];
      }
      if (owner === undefined || owner === name) return [];
      return [{ path, message: `key '${id}' is that of '${owner}': a key is one person's` }];
    }),
  );
}

/** The problems of a rule whose reviewers, with those of its escalation, cannot give the approvals that it needs. */
function quorumProblems(
  ask: NonNullable<RuleDocument['ask']>,
  path: readonly PropertyKey[],
  directory: Directory | undefined,
): ShapeProblem[] {
  const { quorum = 1, one_of_each: oneOfEach = [], escalate = [] } = ask;
  // Without `reviewers`, those of `one_of_each` decide.
  const reviewers = ask.reviewers === undefined ? oneOfEach : [...ask.reviewers, ...escalate.flatMap(({ to }) => to)];
  const isKnown = (names: readonly string[]) =>
    directory !== undefined || names.every((name) => groupOf(name) === undefined);
  const persons = membersOf(directory, reviewers);
  const problems: ShapeProblem[] = [];
  if (ask.quorum !== undefined && reviewers.length > 0 && isKnown(reviewers) && quorum > persons.length) {
    problems.push({ path: [...path, 'quorum'], message: `'quorum' is ${quorum}, of ${countOf(persons)}` });
  }
  const candidates = membersOf(directory, oneOfEach);
  // How many of the names can be covered, each by a different person.
  const covered = maxMatching(
    oneOfEach.map((name) => isAmong(directory, [name])),
    candidates,
    (isNamed, person) => isNamed(person),
  );
  // An empty group is no problem here: another policy may give it members, and else the linter warns about it.
  const isFilled = oneOfEach.every((name) => membersOfOne(directory, name).length > 0);
  if (isFilled && covered < oneOfEach.length) {
    const message = `'one_of_each' needs ${oneOfEach.length} people, each for one of these, of ${countOf(candidates)}`;
    problems.push({ path: [...path, 'one_of_each'], message });
  }
  return problems;
}

function countOf({ length }: readonly string[]): string {
  return length === 1 ? '1 reviewer' : `${length} reviewers`;
}

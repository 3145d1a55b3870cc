import { groupOf, membersOf, personOf } from '../people/directory.ts';
import type { PolicyWarning } from './policy-warning.ts';
import type { Policy } from '../policy/policy.ts';

/** Warnings about reviewers: people and groups that the directory lacks, and keys with which nobody can sign. */
export function lintPeople(policy: Policy, idOf: (index: number) => string, isCeiling: boolean): PolicyWarning[] {
  const { directory, reviewerKeys = {} } = policy;
  const people = Object.entries(directory?.people ?? {});
  const asked = policy.rules.flatMap(({ ask }, index): PolicyWarning[] => {
    if (ask === undefined) return [];
    const { reviewers = [], oneOfEach = [], escalate = [] } = ask;
    const names = new Set([...reviewers, ...oneOfEach, ...escalate.flatMap(({ to }) => to)]);
    return [...names].flatMap((name) => {
      const unknown = whyNobody(name);
      return unknown === undefined ? [] : [{ index, rule: idOf(index), message: `rule ${idOf(index)} ${unknown}` }];
    });
  });
  const keyEntries = Object.entries(reviewerKeys);
  const idle = keyEntries.filter(
    ([id, { operator, signsFor }]) =>
      !operator && signsFor === undefined && !people.some(([, { keys }]) => keys.includes(id)),
  );
  const signing = keyEntries.flatMap(([id, { signsFor = [] }]) =>
    signsFor.flatMap((name) => {
      const unknown = name === '*' ? undefined : whyNobody(name, 'signs for');
      return unknown === undefined ? [] : [{ message: `key '${id}' ${unknown}` }];
    }),
  );
  return [
    ...asked,
    ...signing,
    ...idle.map(([id]) => ({ message: `key '${id}' is nobody's in the directory: it signs nothing` })),
    ...people
      .filter(([, { keys }]) => !isCeiling && keys.length > 0)
      .map(([name]) => ({ message: `the keys of '${name}' do not count: only those in the ceiling's directory do` })),
  ];

  /** If a run's side has no directory, another policy's may resolve its groups. */
  function whyNobody(name: string, verb = 'asks'): string | undefined {
    const group = groupOf(name);
    if (directory === undefined) {
      return isCeiling && group !== undefined ? `${verb} '${name}', and the policy has no directory` : undefined;
    }
    if (group === undefined) {
      return personOf(directory, name) === undefined
        ? `${verb} '${name}', whom the directory does not know`
        : undefined;
    }
    return membersOf(directory, [name]).length === 0 ? `${verb} '${name}', where the directory has nobody` : undefined;
  }
}

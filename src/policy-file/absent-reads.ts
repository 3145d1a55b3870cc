/** What a deny reads and a call or a run may lack: it then cannot be evaluated, and denies. */
import type { Rule } from '../core/policy/policy.ts';
import {
  expressionOf,
  failure,
  mapOf,
  mayBe,
  outcomeOf,
  variables,
  type Expression,
  type Outcome,
  type Scope,
} from './condition-kinds.ts';
import { membersRead } from './condition-problem.ts';

/** Each as a clause that continues `rule ID`. `isRequired` says whether every call that the rule is about has an argument. */
export function absentReads(
  { when, args = {} }: Rule,
  isRequired: (argument: string) => boolean = () => false,
): string[] {
  const matched = Object.keys(args);
  const condition = when === undefined ? undefined : expressionOf(when);
  const read = (variable: string): string[] => (when === undefined ? [] : membersRead(when, variable));
  const without = (scope: Partial<Scope>): string | undefined => deniesWithout(condition, { ...variables, ...scope });
  const ofArguments = [...new Set([...read('args'), ...matched])].flatMap((name) => {
    if (isRequired(name)) return [];
    const scope = { args: mapOf({ [name]: failure }) };
    const isMatched = matched.includes(name);
    const denies = isMatched ? deniesUnmatched(condition, { ...variables, ...scope }) : without(scope);
    if (denies === undefined) return [];
    const how = isMatched ? 'its args match' : 'its condition reads';
    const remedy =
      when === undefined ? `add when: ${quoted(testOf('args', name))}` : `test ${testOf('args', name)} first`;
    return [`${denies} call without '${name}', which ${how}: ${remedy} if such calls may run`];
  });
  const ofMetadata = read('metadata').flatMap((name) => {
    const denies = without({ metadata: mapOf({ [name]: failure }) });
    if (denies === undefined) return [];
    const test = testOf('metadata', name);
    return [`${denies} call of a run without '${name}' in its metadata: test ${test} first if such runs may call it`];
  });
  const ofCaller = without({ caller: { kinds: new Set(['null']) } });
  const groups = without({
    caller: { ...variables.caller, members: { ...variables.caller.members, known: withoutGroups } },
  });
  return [
    ...ofArguments,
    ...ofMetadata,
    ...(ofCaller === undefined
      ? []
      : [`${ofCaller} call of a run without a caller: test caller != null first if such runs may call it`]),
    ...(groups === undefined
      ? []
      : [`${groups} call of a caller without groups: test has(caller.groups) first if such callers may call it`]),
  ];
}

const withoutGroups = { ...variables.caller.members.known, groups: failure };

/** Whether a condition can fail where something is absent, though it cannot fail where all is there. */
function deniesWithout(condition: Expression | undefined, scope: Scope): string | undefined {
  if (condition === undefined) return undefined;
  const some = outcomeOf(condition, scope);
  if (mayBe(outcomeOf(condition), 'failure') || !mayBe(some, 'failure')) return undefined;
  return howMany(some);
}

/** The same for an argument that a glob needs: what the condition says of it is only whether the rule applies. */
function deniesUnmatched(condition: Expression | undefined, scope: Scope): string | undefined {
  const held = condition && outcomeOf(condition, scope);
  if (held === undefined) return 'denies every';
  return held.kinds.size === 1 && mayBe(held, 'false') ? undefined : howMany(held);
}

function howMany(held: Outcome): string {
  return mayBe(held, 'false') ? 'may deny a' : 'denies every';
}

function testOf(variable: string, name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? `has(${variable}.${name})` : `${JSON.stringify(name)} in ${variable}`;
}

/** For YAML. */
function quoted(text: string): string {
  return text.includes('"') ? `'${text.replaceAll("'", "''")}'` : text;
}

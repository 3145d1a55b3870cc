import { iso } from '../core/ledger/ledger-state.ts';
import type { Absence, Directory } from '../core/people/directory.ts';
import {
  advisorShape,
  approvalShape,
  assessRuleShape,
  durationMs,
  type PolicyDocument,
  pricesShape,
  type RuleDocument,
  ruleShape,
  startMs,
} from './shape.ts';
import { normalMembers } from './normal-members.ts';
import type { Policy, Rule, RunLimit, RunLimits } from '../core/policy/policy.ts';
import { nfc } from '../core/base/text.ts';

/** The normal form of a document that `policyShape` accepts. Missing keys are absent. */
export function normalForm(document: PolicyDocument): Policy {
  const { mode, risk_defaults: riskDefaults = {}, approval = {}, assess, redact, directory, advisor } = document;
  const { limits, prices, revoked, reviewer_keys: reviewerKeys } = document;
  return withoutUndefined({
    version: 1,
    mode,
    rules: placedRules(document).map(({ rule, agent }) => ruleOf(rule, agent)),
    riskDefaults,
    approval: normalMembers(approvalShape, approval),
    limits: limits && runLimitsOf(limits),
    prices: prices && normalMembers(pricesShape, prices),
    assess: assess?.map((rule) => normalMembers(assessRuleShape, rule)),
    redact: redact && withoutUndefined({ ...redact, patterns: redact.patterns ?? [] }),
    directory: directory && directoryOf(directory),
    advisor: advisor && normalMembers(advisorShape, advisor),
    reviewerKeys: reviewerKeys && keysOf(reviewerKeys),
    revoked: revoked && { keys: revoked.keys ?? [], people: (revoked.people ?? []).map((name) => nfc(name)) },
  });
}

/** The directory, with all names in NFC. */
export function directoryOf({ people }: NonNullable<PolicyDocument['directory']>): Directory {
  const persons = Object.entries(people).map(([id, { groups = [], keys = [], name, also, away }]) => [
    nfc(id),
    withoutUndefined({
      groups: groups.map((group) => nfc(group)),
      keys,
      name: nfc(name),
      also: also?.map((other) => nfc(other)),
      away: away?.map(absenceOf),
    }),
  ]);
  return { people: Object.fromEntries(persons) as Directory['people'] };
}

/** The absence of a person. Its days begin and end in UTC, and the last day is part of it. */
export function absenceOf({ from, until, deputy }: { from: string; until: string; deputy: string }): Absence {
  const endMs = startMs(until)! + (until.includes('T') ? 0 : 24 * 3_600_000);
  return { fromAt: iso(startMs(from)!), untilAt: iso(endMs), deputy: nfc(deputy) };
}

type KeyDocument = Exclude<NonNullable<PolicyDocument['reviewer_keys']>[string], string>;

function keysOf(keys: NonNullable<PolicyDocument['reviewer_keys']>): NonNullable<Policy['reviewerKeys']> {
  const entries = Object.entries(keys).map(([id, key]) => {
    const {
      public_key: publicKey,
      operator = false,
      signs_for: signsFor,
    }: KeyDocument = typeof key === 'string' ? { public_key: key } : key;
    return [id, withoutUndefined({ publicKey, operator, signsFor: signsFor?.map((name) => nfc(name)) })] as const;
  });
  return Object.fromEntries(entries);
}

/** Every rule in the order of the normal form, with its agent's name in NFC and its path in the document. */
export function placedRules({
  rules = [],
  agents = {},
}: PolicyDocument): { rule: RuleDocument; agent?: string; path: readonly PropertyKey[] }[] {
  return [
    ...rules.map((rule, index) => ({ rule, path: ['rules', index] })),
    ...Object.keys(agents).flatMap((agent) =>
      agents[agent]!.rules.map((rule, index) => ({
        rule,
        agent: nfc(agent),
        path: ['agents', agent, 'rules', index],
      })),
    ),
  ];
}

export function ruleOf(rule: RuleDocument, agent: string | undefined): Rule {
  return { ...normalMembers(ruleShape, { ...rule, examples: undefined }), ...(agent !== undefined && { agent }) };
}

type Amount = number | string;

function runLimitsOf({ turns, calls, tokens, time, cost }: NonNullable<PolicyDocument['limits']>): RunLimits {
  const [timeMs, ofCost] = [limitOf(time), limitOf(cost)];
  return withoutUndefined({
    turns: limitOf(turns),
    calls: limitOf(calls),
    tokens: limitOf(tokens),
    timeMs,
    cost: ofCost,
  });
}

/** The normal form of a limit. An amount alone is the amount at which the run ends. */
function limitOf(
  given: Amount | { ask?: Amount | undefined; end?: Amount | undefined } | undefined,
): RunLimit | undefined {
  if (given === undefined) return undefined;
  const read = (amount: Amount | undefined): number | undefined =>
    typeof amount === 'string' ? (durationMs(amount) ?? undefined) : amount;
  const { ask, end } = typeof given === 'object' ? given : { end: given };
  return withoutUndefined<RunLimit>({ ask: read(ask), end: read(end) });
}

/** Drops the keys whose value is undefined, as JSON does. */
function withoutUndefined<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Value;
}

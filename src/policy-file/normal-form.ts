import { iso } from '../core/ledger/ledger-state.ts';
import type { Absence, Directory } from '../core/people/directory.ts';
import { parseDuration } from '../core/base/duration.ts';
import { type PolicyDocument, type RuleDocument, startMs } from './shape.ts';
import type {
  AdvisorSettings,
  ApprovalSettings,
  AskSettings,
  Policy,
  Prices,
  Rule,
  RunLimit,
  RunLimits,
} from '../core/policy/policy.ts';
import { nfc } from '../core/base/text.ts';

/** The normal form of a document that `policyShape` accepts. Keys that were not written are absent. */
export function normalForm(document: PolicyDocument): Policy {
  const { mode, risk_defaults: riskDefaults = {}, approval = {}, assess, redact, directory, advisor } = document;
  const { limits, prices, revoked, reviewer_keys: reviewerKeys } = document;
  return written({
    version: 1,
    mode,
    rules: placedRules(document).map(({ rule, agent }) => ruleOf(rule, agent)),
    riskDefaults,
    approval: settingsOf(approval),
    limits: limits && runLimitsOf(limits),
    prices: prices && pricesOf(prices),
    assess: assess?.map(({ requires_approval: requiresApproval, ...rule }) => written({ ...rule, requiresApproval })),
    redact: redact && written({ ...redact, patterns: redact.patterns ?? [] }),
    directory: directory && directoryOf(directory),
    advisor: advisor && advisorOf(advisor),
    reviewerKeys: reviewerKeys && keysOf(reviewerKeys),
    revoked: revoked && { keys: revoked.keys ?? [], people: (revoked.people ?? []).map((name) => nfc(name)) },
  });
}

/** The directory, with all names in NFC. */
export function directoryOf({ people }: NonNullable<PolicyDocument['directory']>): Directory {
  const persons = Object.entries(people).map(([id, { groups = [], keys = [], name, also, away }]) => [
    nfc(id),
    written({
      groups: groups.map((group) => nfc(group)),
      keys,
      name: nfc(name),
      also: also?.map((other) => nfc(other)),
      away: away?.map(absenceOf),
    }),
  ]);
  return { people: Object.fromEntries(persons) as Directory['people'] };
}

/** A day is one in UTC, and the last one belongs to the absence. */
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
    return [id, written({ publicKey, operator, signsFor: signsFor?.map((name) => nfc(name)) })] as const;
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

/** Milliseconds of a duration that `policyShape` has checked; null for `never`. */
export function milliseconds(duration: string): number | null {
  const parsed = parseDuration(duration);
  return 'durationMs' in parsed ? parsed.durationMs : 0;
}

/** For a duration that cannot be `never`. */
function finiteMs(duration: string | undefined): number | undefined {
  return duration === undefined ? undefined : (milliseconds(duration) ?? undefined);
}

export function ruleOf({ ask, ...rule }: RuleDocument, agent: string | undefined): Rule {
  return written({ ...rule, examples: undefined, agent, ask: ask && termsOf(ask) });
}

function advisorOf({
  may_approve: mayApprove,
  name,
  timeout,
}: NonNullable<PolicyDocument['advisor']>): AdvisorSettings {
  return written({ name, mayApprove, timeoutMs: finiteMs(timeout) });
}

function termsOf(ask: NonNullable<RuleDocument['ask']>): AskSettings {
  return written({
    reviewers: ask.reviewers,
    quorum: ask.quorum,
    oneOfEach: ask.one_of_each,
    veto: ask.veto,
    verified: ask.verified,
    allowSelf: ask.allow_self,
    timeoutMs: ask.timeout === undefined ? undefined : milliseconds(ask.timeout),
    warnBeforeMs: finiteMs(ask.warn_before),
    remindMs: finiteMs(ask.remind),
    escalate: ask.escalate?.map(({ after, to }) => ({ afterMs: finiteMs(after) ?? 0, to })),
    onTimeout: ask.on_timeout,
    whenUserWrites: ask.when_user_writes,
    always: ask.always,
    advisor: ask.advisor === undefined || ask.advisor === false ? ask.advisor : advisorOf(ask.advisor),
  });
}

function settingsOf(approval: NonNullable<PolicyDocument['approval']>): ApprovalSettings {
  return written({
    timeoutMs: approval.timeout === undefined ? undefined : milliseconds(approval.timeout),
    maxTimeoutMs: approval.max_timeout === undefined ? undefined : milliseconds(approval.max_timeout),
    minRemindMs: finiteMs(approval.min_remind),
    onTimeout: approval.on_timeout,
    onImpossible: approval.on_impossible,
    maxPending: approval.max_pending,
    maxRetriesAfterDeny: approval.max_retries_after_deny,
    denialsHoldFor: approval.denials_hold_for,
    maxIrreversiblePerRun: approval.max_irreversible_per_run,
    includeArguments: approval.include_arguments,
    show: approval.show,
    redact: approval.redact,
    batch: approval.batch,
    cachedResults: approval.cached_results,
    deniedAs: approval.denied_as,
  });
}

type Amount = number | string;

function pricesOf({ currency, models }: NonNullable<PolicyDocument['prices']>): Prices {
  const entries = Object.entries(models).map(([model, { cached_input: cachedInput, ...price }]) => [
    model,
    written({ ...price, cachedInput }),
  ]);
  return { currency, models: Object.fromEntries(entries) as Prices['models'] };
}

function runLimitsOf({ turns, calls, tokens, time, cost }: NonNullable<PolicyDocument['limits']>): RunLimits {
  const [timeMs, ofCost] = [limitOf(time), limitOf(cost)];
  return written({ turns: limitOf(turns), calls: limitOf(calls), tokens: limitOf(tokens), timeMs, cost: ofCost });
}

/** An amount alone is where the run ends. */
function limitOf(
  given: Amount | { ask?: Amount | undefined; end?: Amount | undefined } | undefined,
): RunLimit | undefined {
  if (given === undefined) return undefined;
  const read = (amount: Amount | undefined): number | undefined =>
    typeof amount === 'string' ? finiteMs(amount) : amount;
  const { ask, end } = typeof given === 'object' ? given : { end: given };
  return written<RunLimit>({ ask: read(ask), end: read(end) });
}

/** Drops the keys whose value is undefined, as JSON does. */
function written<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Value;
}

import type { Directory } from '../core/people/directory.ts';
import { parseDuration } from '../core/base/parse-duration.ts';
import type { PolicyDocument, RuleDocument } from './shape.ts';
import type { ApprovalSettings, AskSettings, Policy, Rule } from '../core/policy/policy.ts';
import { nfc } from '../core/base/normal-text.ts';

/** The normal form of a document that `policyShape` accepts. Keys that were not written are absent. */
export function normalForm(document: PolicyDocument): Policy {
  const { mode, risk_defaults: riskDefaults = {}, approval = {}, assess, redact, directory } = document;
  const { reviewer_keys: reviewerKeys } = document;
  return written({
    version: 1,
    mode,
    rules: placedRules(document).map(({ rule, agent }) => ruleOf(rule, agent)),
    riskDefaults,
    approval: settingsOf(approval),
    assess: assess?.map(({ requires_approval: requiresApproval, ...rule }) => written({ ...rule, requiresApproval })),
    redact: redact && written({ ...redact, patterns: redact.patterns ?? [] }),
    directory: directory && directoryOf(directory),
    reviewerKeys: reviewerKeys && keysOf(reviewerKeys),
  });
}

/** The directory, with all names in NFC. */
export function directoryOf({ people }: NonNullable<PolicyDocument['directory']>): Directory {
  const persons = Object.entries(people).map(([name, { groups = [], keys = [] }]) => [
    nfc(name),
    { groups: groups.map((group) => nfc(group)), keys },
  ]);
  return { people: Object.fromEntries(persons) as Directory['people'] };
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
    always: ask.always,
  });
}

function settingsOf(approval: NonNullable<PolicyDocument['approval']>): ApprovalSettings {
  return written({
    timeoutMs: approval.timeout === undefined ? undefined : milliseconds(approval.timeout),
    maxTimeoutMs: approval.max_timeout === undefined ? undefined : milliseconds(approval.max_timeout),
    minRemindMs: finiteMs(approval.min_remind),
    onTimeout: approval.on_timeout,
    maxPending: approval.max_pending,
    maxRetriesAfterDeny: approval.max_retries_after_deny,
    maxIrreversiblePerRun: approval.max_irreversible_per_run,
    includeArguments: approval.include_arguments,
    show: approval.show,
    redact: approval.redact,
    batch: approval.batch,
    deniedAs: approval.denied_as,
  });
}

/** Drops the keys whose value is undefined, as JSON does. */
function written<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Value;
}

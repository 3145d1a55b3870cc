import { instantMs } from '../core/messages/control.ts';
import { z } from 'zod';
import { durationSentence, parseDuration } from '../core/base/duration.ts';
import { isWellFormed } from '../core/base/text.ts';
import { bytesFromBase64, isPublicKey } from '../core/base/digest.ts';
import { maxConditionLength } from '../core/match/condition.ts';
import { conditionProblem } from './condition-problem.ts';
import { groupOf } from '../core/people/directory.ts';
import { compileFieldGlob, compilePattern } from '../core/match/matching.ts';
import { modes, actions } from '../core/policy/modes.ts';
import { sensitiveKinds } from '../core/redact/kinds.ts';
import { patternProblem } from '../redact/own-patterns.ts';
import { grantKinds, maxPendingBound, maxShown } from '../core/policy/policy.ts';
import { severities } from '../core/base/tool-call.ts';

// Each message continues a sentence that begins with the name of the key.

export const text = (longest: number) =>
  z
    .string()
    .min(1, 'must not be empty')
    .max(longest, `must have at most ${longest} characters`)
    .refine(isWellFormed, 'holds half a surrogate pair');

const list = <Item extends z.ZodType>(item: Item, most: number) =>
  z.array(item).max(most, `must have at most ${most} items`);

export const checked = (check: (value: string) => object) =>
  z.string().superRefine((value, context) => {
    const found = check(value) as { problem?: string };
    if (found.problem !== undefined) context.addIssue({ code: 'custom', message: found.problem });
  });

/** A duration as it is written, or `never`. Its normal form is a number of milliseconds, or null. */
export type Duration = string & z.$brand<'duration'>;
export type FiniteDuration = string & z.$brand<'finite duration'>;

interface DurationFacts {
  leastMs: number;
  mayBeNever: boolean;
}

const durations = new Map<unknown, DurationFacts>();

/** What is known of the durations that a schema accepts; undefined for a schema of anything else. */
export function durationOf(schema: unknown): DurationFacts | undefined {
  return durations.get(schema);
}

function asDuration<Schema extends z.ZodType>(schema: Schema, facts: Partial<DurationFacts> = {}): Schema {
  durations.set(schema, { leastMs: 0, mayBeNever: false, ...facts });
  return schema;
}

/** The milliseconds of a valid duration; null for `never`. */
export function durationMs(text: string): number | null {
  const parsed = parseDuration(text);
  return 'durationMs' in parsed ? parsed.durationMs : 0;
}

const written = z.string(durationSentence).superRefine((value, context) => {
  const parsed = parseDuration(value);
  if ('problem' in parsed) context.addIssue({ code: 'custom', message: parsed.problem });
});
const finiteSentence = 'must be a whole number and a unit, such as 30s, 5m, 1h or 1d';
const finiteText = written.refine((value) => value !== 'never', finiteSentence);
export const duration = asDuration(written.brand<'duration'>(), { mayBeNever: true });
export const finite = asDuration(finiteText.brand<'finite duration'>());
export const interval = asDuration(
  finiteText
    .refine((value) => !value.endsWith('ms'), 'must be 1s or more: each reminder is an activity')
    .brand<'finite duration'>(),
  { leastMs: 1_000 },
);
export const count = (least: number, most: number, why = '') => {
  const sentence = `must be a whole number from ${least} to ${most}${why}`;
  return z.int(sentence).min(least, sentence).max(most, sentence);
};

const dayPattern = /^\d{4}-\d{2}-\d{2}$/;

/** The start of a day in UTC, or of an instant with its offset; undefined for other texts. */
export function startMs(text: string): number | undefined {
  return instantMs(dayPattern.test(text) ? `${text}T00:00:00Z` : text);
}

/** One amount alone, or a map of `ask` and `end`. `sentence` says in messages which amount is expected. */
const limit = <Amount extends z.ZodType<number | string>>(amount: Amount, sentence: string) =>
  z
    .union(
      [
        z
          .strictObject({
            ask: amount.optional().describe('A person decides whether the run goes on for as much again.'),
            end: amount.optional().describe('The run ends.'),
          })
          .refine(({ ask, end }) => ask !== undefined || end !== undefined, "must have 'ask', 'end' or both"),
        amount,
      ],
      `must be ${sentence}, or a map of 'ask' and 'end'`,
    )
    .optional();
const amountOf = (most: number) => limit(count(1, most), `a whole number from 1 to ${most}`);
const cost = z
  .number('must be a number above 0')
  .gt(0, 'must be a number above 0')
  .max(1e9, 'must be at most 1000000000');
const price = z
  .number('must be a number of at least 0')
  .min(0, 'must be a number of at least 0')
  .max(1e9, 'must be at most 1000000000');
export const pricesShape = z
  .strictObject({
    currency: z.string().regex(/^[A-Z]{3}$/, 'must be three capital letters, such as USD'),
    models: z
      .record(
        text(100),
        z.strictObject({
          input: price,
          cached_input: price
            .optional()
            .describe('The price of input tokens that the provider read from its cache. Default: that of input.'),
          output: price,
        }),
      )
      .refine((models) => Object.keys(models).length <= 1_000, 'must name at most 1000 models'),
  })
  .describe('What a million tokens cost, by the id of the model. In the ceiling only.');
export const limitsShape = z
  .strictObject({
    turns: amountOf(100_000).describe('Calls of the model.'),
    calls: amountOf(1_000_000).describe('Calls of tools that reach the gate.'),
    tokens: amountOf(1_000_000_000_000).describe('Tokens of the model, in and out.'),
    time: limit(finite, 'a duration such as 2h').describe('Time since the run started.'),
    cost: limit(cost, 'a number above 0').describe('What the models cost, in the currency of `prices`.'),
  })
  .describe('How far an agent run goes. An amount alone is its end.');

export const advisorShape = z
  .strictObject({
    name: text(64).describe('As the worker names it in `advisors`.'),
    may_approve: z
      .boolean()
      .optional()
      .describe('Whether it may approve calls, but never one that destroys or cannot be undone. Default false.'),
    timeout: asDuration(finite.refine(isBounded, 'must be from 1s to 10m: the call waits for the answer'), {
      leastMs: 1_000,
    })
      .optional()
      .describe('How long its answer may take. Default 30s.'),
  })
  .describe('Consulted before reviewers are asked.');

/** True for one second to ten minutes. Also true for an invalid duration, which `written` already reports. */
function isBounded(value: string): boolean {
  const parsed = parseDuration(value);
  if (!('durationMs' in parsed) || parsed.durationMs === null) return true;
  return parsed.durationMs >= 1_000 && parsed.durationMs <= 600_000;
}

// These shapes are the source of schema/policy.schema.json, and each description of a key is shown there.
const pattern = checked(compilePattern).describe(
  '`name` or `name:args`: a glob over the whole text. `*` any run of characters, `?` one, `[…]` a class.',
);
const action = z.enum(actions);
const onTimeout = z.enum(['deny', 'allow']).describe('What an expired request does. Default deny.');
const globs = z
  .record(text(200), checked(compileFieldGlob))
  .refine((value) => Object.keys(value).length > 0, 'must name an argument')
  .describe('Globs on single arguments, by name; all must match.');
const people = list(text(200), 50).min(1, 'must name at least one person or group').describe('Names, or `group:NAME`.');

export const askShape = z.strictObject({
  reviewers: people.optional(),
  quorum: count(1, 50).optional().describe('Approvals needed. Default 1.'),
  one_of_each: people.optional().describe('Each of these must approve.'),
  veto: z.boolean().optional().describe('One denial settles. Default true.'),
  verified: z.boolean().optional().describe('Only verified reviewers count. Default false.'),
  allow_self: z.boolean().optional().describe('The caller of the run may approve. Default false.'),
  timeout: duration.optional().describe('How long the request waits. Default: that of `approval`.'),
  warn_before: finite.optional().describe('Warn that long before the deadline.'),
  remind: interval.optional().describe('Remind that often, at most once a second.'),
  escalate: list(z.strictObject({ after: finite, to: people }), 20)
    .min(1, 'must have an item')
    .optional()
    .describe('Who is asked besides, that long after the request was opened.'),
  on_timeout: onTimeout.optional(),
  when_user_writes: z
    .enum(['show', 'withdraw'])
    .optional()
    .describe('What a message of the user of a session does while the request is open. Default show.'),
  always: z
    .literal([false, ...grantKinds])
    .optional()
    .describe('The widest grant an approval may leave. Default tool; call for destructive tools and shell subjects.'),
  advisor: z
    // This shape comes first, because its problems explain more.
    .union([advisorShape, z.literal(false)])
    .optional()
    .describe(
      'Consulted about the calls that this rule asks about; false: no advisor. Default: the advisor of the policy.',
    ),
});

const example = z.union([z.string(), z.record(z.string(), z.json())]);
const examples = list(example, 100).optional();

export const ruleShape = z
  .strictObject({
    // Reports give a rule without an id the id LAYER#N, so no written id may look like that.
    id: text(100)
      .refine(
        (id) => !/^(ceiling|agent|run)(\..*)?#\d+$/su.test(id),
        'must not look like LAYER#N, the id of rules without one',
      )
      .optional()
      .describe('By which rulings and the audit name the rule. Default LAYER#N.'),
    pattern,
    args: globs.optional(),
    when: checked((source) => ({ problem: conditionProblem(source) }))
      .optional()
      .describe(
        `A condition in CEL, at most ${maxConditionLength} characters, over args, tool, risk, severity, agent, caller, metadata, counts and sums of arguments.`,
      ),
    action,
    reason: text(1_000).optional().describe('What the reviewer sees when the rule asks, and the model when it denies.'),
    ask: askShape.optional(),
    examples: z
      .strictObject({ match: examples, not_match: examples })
      .optional()
      .describe('Calls checked when the policy loads: maps of arguments, or texts of the subject.'),
  })
  .superRefine((value, context) => {
    if (value.ask === undefined || value.action === 'ask') return;
    context.addIssue({ code: 'custom', path: ['ask'], message: `belongs to a rule whose action is ask` });
  });

export const assessRuleShape = z.strictObject({
  id: text(100).optional(),
  pattern,
  args: globs.optional(),
  severity: z.enum(severities),
  reason: text(200).optional(),
  affected: list(text(200), 20).optional(),
  reversible: z.boolean().optional(),
  recommend: text(200).optional(),
  requires_approval: z.boolean().optional(),
});

const ownPattern = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]{0,39}$/, 'must be 1 to 40 capital letters, digits and underscores, such as TICKET')
    .describe(
      'Gives the placeholder: TICKET gives [TICKET · 488c]. A name such as ACME_KEY or PIN hides its matches whole.',
    ),
  pattern: text(500)
    .superRefine((value, context) => {
      const message = patternProblem(value);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .describe('A regular expression in RE2 syntax.'),
});

const redact = z
  .strictObject({
    kinds: z
      .array(z.enum(sensitiveKinds))
      .optional()
      .describe('What is redacted of what is known without patterns. Default: all.'),
    patterns: list(ownPattern, 100).optional(),
    also: list(text(200), 100)
      .optional()
      .describe(
        'Arguments that are redacted although they say what a call does: commands, paths, recipients, amounts.',
      ),
  })
  .describe('What is hidden in arguments that reviewers see, where `approval.redact` is true.');

const person = text(200).refine((name) => groupOf(name) === undefined, 'must not begin with group:');
const group = text(190).refine((name) => groupOf(name) === undefined, 'is written without group: here');
const keyId = z.string().regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, hyphens and underscores');
const most = (longest: number) => (value: object) => Object.keys(value).length <= longest;

const instantText = z
  .string()
  .refine((text) => startMs(text) !== undefined, 'must be a day, such as 2030-01-31, or an instant with its offset');
const firstDay = instantText.describe('The first day, in UTC, or an instant with its offset.');
const lastDay = instantText.describe('The last day, in UTC, or an instant with its offset.');

const directory = z
  .strictObject({
    people: z
      .record(
        person,
        z.strictObject({
          groups: list(group, 50).optional(),
          keys: list(keyId, 20).optional(),
          name: text(200).optional().describe('What people call them. It is shown beside the id.'),
          also: list(person, 10)
            .optional()
            .describe('Other ids of the same person: an e-mail address, the id of a provider, of a token.'),
          away: list(z.strictObject({ from: firstDay, until: lastDay, deputy: person }), 10)
            .optional()
            .describe('When another person decides in their place, in the requests that are opened then.'),
        }),
      )
      .refine(most(1_000), 'must name at most 1000 people'),
  })
  .describe('Who belongs to the groups that rules name, and whose the keys of `reviewer_keys` are.');

const revoked = z
  .strictObject({
    keys: list(keyId, 200).optional(),
    people: list(person, 200).optional(),
  })
  .describe('Keys and people that do not count any more, also in runs that began before.');

const publicKey = z
  .string()
  .refine(
    (text) => isPublicKey(bytesFromBase64(text) ?? new Uint8Array()),
    'must be an Ed25519 public key: its 32 bytes in base64',
  )
  .describe('An Ed25519 public key: its 32 bytes in base64.');
const reviewerKeys = z
  .record(
    keyId,
    z.union([
      publicKey,
      z.strictObject({
        public_key: publicKey,
        operator: z.boolean().optional().describe('Whether it may sign changes of policy. Default false.'),
        signs_for: list(text(200), 1_000)
          .min(1, 'must not be empty')
          .optional()
          .describe(
            "The people that a gateway's key signs for: names, group:NAME, or * for all. Such a key is no person's own.",
          ),
      }),
    ]),
  )
  .refine(most(1_000), 'must have at most 1000 keys')
  .describe('Ceiling only: the keys by which reviewers sign, by id.');

const show = z
  .union([
    // This shape comes first, because its problems explain more.
    z
      .record(
        checked(compileFieldGlob),
        list(text(200), maxShown)
          .min(1, 'must name an argument')
          .refine((names) => new Set(names).size === names.length, 'must not name an argument twice'),
      )
      .refine(most(100), 'must have at most 100 patterns'),
    z.literal(false),
  ])
  .describe('Arguments that lists show without a worker, by a glob on tool names; false: none.');

const pendingReason = ': the ids of all open requests fit one search attribute';

export const approvalShape = z.strictObject({
  timeout: duration.optional().describe('How long a request waits. Default 5m.'),
  max_timeout: duration
    .optional()
    .describe('Ceiling only: the longest time-out. Default 24h; `never` permits rules without a deadline.'),
  min_remind: interval
    .optional()
    .describe('Ceiling only: how often policies below it may remind, and escalate, at most. Default once in 1m.'),
  on_timeout: onTimeout.optional(),
  on_impossible: z
    .enum(['ask', 'deny'])
    .optional()
    .describe('What becomes of a request that no known reviewer could approve. Default ask.'),
  max_pending: count(1, maxPendingBound, pendingReason).optional().describe('Open requests of one run. Default 10.'),
  max_retries_after_deny: count(0, 100)
    .optional()
    .describe('Denials of one tool before it is denied for good. Default 3.'),
  denials_hold_for: z
    .enum(['message', 'run'])
    .optional()
    .describe(
      'How long a denial counts: until the model gets words of the user of a session, or for the run. Default message.',
    ),
  max_irreversible_per_run: count(0, 10_000).optional().describe('Irreversible calls of one run. Default: no limit.'),
  include_arguments: z.boolean().optional().describe('Whether reviewers see arguments. Default true.'),
  show: show.optional(),
  redact: z.boolean().optional().describe('Whether what is secret or personal in them is hidden. Default true.'),
  batch: z.enum(['parallel', 'sequential']).optional().describe('How the calls of one turn are asked about.'),
  cached_results: z
    .boolean()
    .optional()
    .describe('Whether the result of an equal call may answer a call whose tool declares `cache`. Default true.'),
  denied_as: z.enum(['result', 'error']).optional().describe('What the model gets for a denied call.'),
});

export const policyShape = z.strictObject({
  version: z.literal(1).optional(),
  mode: z.enum(modes).optional().describe('A named way to change the answers of the policy. Default `default`.'),
  rules: z.array(ruleShape).optional().describe('In order; the last rule that matches decides.'),
  risk_defaults: z
    .strictObject({ read_only: action.optional(), write: action.optional(), destructive: action.optional() })
    .optional()
    .describe('Applies where no rule matches. Default: read_only allow, write ask, destructive deny.'),
  approval: approvalShape.optional(),
  limits: limitsShape.optional(),
  prices: pricesShape.optional(),
  agents: z
    .record(text(64), z.strictObject({ rules: z.array(ruleShape) }))
    .optional()
    .describe('Rules for the calls of single agents; they stand after `rules`.'),
  assess: list(assessRuleShape, 1_000).optional().describe('How bad a call would be.'),
  redact: redact.optional(),
  advisor: advisorShape.optional(),
  directory: directory.optional(),
  reviewer_keys: reviewerKeys.optional(),
  revoked: revoked.optional(),
});

export type PolicyDocument = z.infer<typeof policyShape>;
export type RuleDocument = z.infer<typeof ruleShape>;

/** Keys that this version does not support, by the path of their map. */
export const notYetSupported: Record<string, readonly string[]> = { '': ['mcp'] };

import { z } from 'zod';
import { iso } from '../core/ledger/ledger-state.ts';
import type { Absence, Directory } from '../core/people/directory.ts';
import type { PolicyDocument, RuleDocument, Duration, FiniteDuration } from './shape.ts';
import {
  advisorShape,
  approvalShape,
  assessRuleShape,
  durationMs,
  pricesShape,
  ruleShape,
  startMs,
  durationOf,
} from './shape.ts';
import type { Policy, Rule, RunLimit, RunLimits } from '../core/policy/policy.ts';
import { nfc } from '../core/base/text.ts';

/** The normal form of a document that `policyShape` accepts. A key that the document lacks is absent here, too. */
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

/** Converts an absence. Its days begin and end in UTC, and the last day belongs to it. */
export function absenceOf({ from, until, deputy }: { from: string; until: string; deputy: string }): Absence {
  const endMs = startMs(until)! + (until.includes('T') ? 0 : 24 * 3_600_000);
  return { fromAt: iso(startMs(from)!), untilAt: iso(endMs), deputy: nfc(deputy) };
}

type KeyDocument = Exclude<NonNullable<PolicyDocument['reviewer_keys']>[string], string>;

/** The keys of reviewers. A key that is written as a text is a public key without further rights. */
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

/** Every rule in the order of the normal form, with its path in the document, and its agent's name in NFC. */
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
  return withoutUndefined({
    turns: limitOf(turns),
    calls: limitOf(calls),
    tokens: limitOf(tokens),
    timeMs: limitOf(time),
    cost: limitOf(cost),
  });
}

/** The normal form of a limit. An amount without `ask` or `end` is the `end` of the run. */
function limitOf(
  given: Amount | { ask?: Amount | undefined; end?: Amount | undefined } | undefined,
): RunLimit | undefined {
  if (given === undefined) return undefined;
  const read = (amount: Amount | undefined): number | undefined =>
    typeof amount === 'string' ? (durationMs(amount) ?? undefined) : amount;
  const { ask, end } = typeof given === 'object' ? given : { end: given };
  return withoutUndefined<RunLimit>({ ask: read(ask), end: read(end) });
}

function withoutUndefined<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Value;
}

// The types of the normal form are derived from the shapes of the file, so one list says what a policy may contain.
type Camel<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name;
type NameOf<Name, Value> = Name extends string
  ? NonNullable<Value> extends Duration | FiniteDuration
    ? `${Camel<Name>}Ms`
    : Camel<Name>
  : never;
type ValueOf<Value> = Value extends FiniteDuration
  ? number
  : Value extends Duration
    ? number | null
    : Value extends string | number | boolean | null
      ? Value
      : Value extends readonly (infer Item)[]
        ? ValueOf<Item>[]
        : Value extends object
          ? Normal<Value>
          : never;
/** The normal form of a map: names in camel case, durations in milliseconds under names that end in `Ms`. */
type Normal<Value extends object> = {
  [Name in keyof Value as NameOf<Name, Value[Name]>]: ValueOf<Exclude<Value[Name], undefined>>;
};

/** The normal form of a map of the file. Keys that were not written are absent; keys of records stay as they are. */
function normalMembers<Shape extends z.ZodRawShape>(
  shape: z.ZodObject<Shape>,
  given: object,
): Normal<z.output<z.ZodObject<Shape>>> {
  const members = Object.entries(shape.shape).flatMap(([name, schema]) => {
    const value: unknown = Object.hasOwn(given, name) ? (given as Record<string, unknown>)[name] : undefined;
    return value === undefined ? [] : [[normalName(name, schema), normalValue(schema, value)] as const];
  });
  return Object.fromEntries(members) as Normal<z.output<z.ZodObject<Shape>>>;
}

function normalName(name: string, schema: unknown): string {
  const camel = name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return durationOf(unwrapped(schema)) === undefined ? camel : `${camel}Ms`;
}

/** The normal form of one value, by its schema: durations in milliseconds, and maps as in `normalMembers`. */
function normalValue(wrapped: unknown, value: unknown): unknown {
  const schema = unwrapped(wrapped);
  if (durationOf(schema) !== undefined) return durationMs(value as string);
  if (Array.isArray(value)) {
    return schema instanceof z.ZodArray ? value.map((item) => normalValue(schema.element, item)) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  // The value is a map, and no union has more than one kind of map.
  if (schema instanceof z.ZodUnion) {
    return normalValue(
      schema.options.find((option) => option instanceof z.ZodObject),
      value,
    );
  }
  if (schema instanceof z.ZodObject) return normalMembers(schema, value);
  if (!(schema instanceof z.ZodRecord)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, normalValue(schema.valueType, each)]));
}

function unwrapped(schema: unknown): unknown {
  return schema instanceof z.ZodOptional ? schema.unwrap() : schema;
}

/** The schemas for the members of an object in a history, as its `z.looseObject` takes them. Nested ones are loose, too. */
export function recordedMembers<Shape extends z.ZodRawShape>(
  shape: z.ZodObject<Shape>,
): Record<keyof Normal<z.output<z.ZodObject<Shape>>>, z.ZodType> {
  const members = Object.entries(shape.shape).map(([name, schema]) => {
    const recorded = recordedForm(unwrapped(schema));
    return [normalName(name, schema), schema instanceof z.ZodOptional ? recorded.optional() : recorded] as const;
  });
  return Object.fromEntries(members) as Record<keyof Normal<z.output<z.ZodObject<Shape>>>, z.ZodType>;
}

/** The schema of the recorded form of a value: durations in milliseconds, unknown members allowed. */
function recordedForm(wrapped: unknown): z.ZodType {
  const schema = unwrapped(wrapped);
  const duration = durationOf(schema);
  if (duration !== undefined) {
    const ms = z.number().min(duration.leastMs);
    return duration.mayBeNever ? ms.nullable() : ms;
  }
  if (schema instanceof z.ZodString) return z.string();
  if (schema instanceof z.ZodArray) return z.array(recordedForm(schema.element));
  if (schema instanceof z.ZodObject) return z.looseObject(recordedMembers(schema));
  if (schema instanceof z.ZodRecord) return z.record(z.string(), recordedForm(schema.valueType));
  if (schema instanceof z.ZodUnion) return z.union(schema.options.map(recordedForm));
  return schema as z.ZodType;
}

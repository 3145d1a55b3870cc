/**
 * How to declare a gated activity, and how its positional arguments become the object that rules match, reviewers see
 * and the digest covers. The workflow and the worker convert arguments by the same function.
 */
import { definitionDigest } from '../base/digest.ts';
import { type Json, type JsonObject, type Risk, type ToolDefinition, risks } from '../base/tool-call.ts';
import { isObject, parseJson } from '../base/json.ts';

/** Declares an activity to the gate. Declare it once, in a module that both the workflow and the worker import. */
export interface GatedActivity {
  /** Default `write`. */
  risk?: Exclude<Risk, 'unknown'>;
  /** A description of the activity, shown to reviewers and covered by the digest. */
  description?: string;
  /** Names by position. Without them, a single plain object is shown as it is, all other arguments as `$1`, `$2`, … */
  arguments?: readonly string[];
  /**
   * The argument that `name:args` patterns match. Default: the canonical JSON of all arguments. `{ argument, shell:
   * true }`: a shell runs its text, which a workflow cannot split. So no `allow` rule with an args pattern matches,
   * and each `ask` or `deny` rule with one does. `beside`: other arguments, harmless beside any command.
   */
  subject?: string | { argument: string; shell: true; beside?: readonly string[] };
  /** Arguments that lists and Temporal's UI show without a worker: no secrets, 200 characters each. Default: none. */
  show?: readonly string[];
  /** True: may be retried after an unknown outcome, by its own retry options. Default false: one attempt. */
  idempotent?: boolean;
  /**
   * How soon a killed worker is noticed, unless the activity's options say so; default 30 s. The worker heartbeats
   * for the activity. Use false for an activity that blocks its thread.
   */
  heartbeat?: false | { timeoutMs: number };
  /** Since when all new executions have the gate (docs/deploy.md): an instant with offset, or a date (00:00 UTC). */
  gatedSince?: string;
  /**
   * Until this time, executions from before `gatedSince` may call the activity without a permit. The worker counts
   * and logs these calls, and refuses those that a rule of its policy denies. Default: never.
   */
  ungatedUntil?: string;
}

/** The names of the options of a declaration. `about` is an option only in a workflow. */
export const gatedActivityOptions = [
  'risk',
  'description',
  'arguments',
  'subject',
  'show',
  'idempotent',
  'heartbeat',
  'about',
  'gatedSince',
  'ungatedUntil',
];

/** Declarations by activity type. */
export type GatedActivities = Readonly<Record<string, GatedActivity>>;

/** The definition of a gated activity, as a run records it. */
export interface GatedDefinition extends ToolDefinition {
  /** The names of the arguments as declared. Absent if they have no names. */
  argumentNames?: readonly string[];
}

const defaultHeartbeatTimeoutMs = 30_000;

/** The definition of activity `name`. `timeoutMs` is 0: the activity's own options set its time-outs. */
export function gatedDefinition(name: string, declared: GatedActivity): GatedDefinition {
  const { risk = 'write', description = '', arguments: argumentNames, subject, idempotent = false } = declared;
  const { heartbeat, show } = declared;
  const schema = schemaOf(argumentNames);
  return {
    name,
    description,
    schema,
    risk,
    argumentNames,
    ...(subject === undefined ? {} : subjectOf(subject)),
    show,
    idempotent,
    heartbeatTimeoutMs: heartbeat === false ? null : (heartbeat?.timeoutMs ?? defaultHeartbeatTimeoutMs),
    timeoutMs: 0,
    definition: definitionDigest({ name, description, schema }),
  };
}

/** Returns the worker's definition with the greater of the risks that it and the workflow declare. */
export function withDeclaredRisk<Definition extends ToolDefinition>(
  own: Definition,
  declared: ToolDefinition,
): Definition {
  return withGreaterRisk(own, declared, ['unknown', ...risks]);
}

/** Returns a changed definition. It keeps the risk before, if that is greater: a new version never loosens by its risk. */
export function renewedDefinition<Definition extends ToolDefinition>(
  changed: Definition,
  before: ToolDefinition,
): Definition {
  // By default, calls of an unknown risk are asked about, and those that only read are allowed.
  return withGreaterRisk(changed, before, ['read_only', 'unknown', 'write', 'destructive']);
}

function withGreaterRisk<Definition extends ToolDefinition>(
  definition: Definition,
  { risk }: ToolDefinition,
  order: readonly Risk[],
): Definition {
  return order.indexOf(risk) > order.indexOf(definition.risk) ? { ...definition, risk } : definition;
}

/**
 * The arguments as one object of JSON values (`args`), and in their order (`values`). A single object stands for all
 * arguments only if it has keys and none looks like a position, so that different lists never give the same object.
 */
export function gatedArguments(
  { name, argumentNames }: Pick<GatedDefinition, 'name' | 'argumentNames'>,
  given: readonly unknown[],
): { args: JsonObject; values: (Json | undefined)[] } | { problem: string } {
  if (argumentNames !== undefined && given.length > argumentNames.length) {
    const count = argumentNames.length === 1 ? 'one argument' : `${argumentNames.length} arguments`;
    return { problem: `'${name}' is declared with ${count} and was called with ${given.length}` };
  }
  const values: (Json | undefined)[] = [];
  for (const [index, value] of given.entries()) {
    const written = plainJson(value);
    if ('problem' in written) return { problem: `argument ${index + 1} of '${name}' ${written.problem}` };
    values.push(written.json);
  }
  return { args: asObject(argumentNames, values), values };
}

/** The inverse of `gatedArguments`, for edited arguments: a list that it converts to `args`, or why there is none. */
export function gatedValues(
  { name, argumentNames }: Pick<GatedDefinition, 'name' | 'argumentNames'>,
  args: JsonObject,
): { values: (Json | undefined)[] } | { problem: string } {
  const keys = Object.keys(args);
  if (argumentNames === undefined && keys.length > 0 && !isPositional(args)) return { values: [args] };
  const places = keys.filter((key) => position.test(key)).map((key) => Number(key.slice(1)));
  // `Math.max(...places)` could throw: a reviewer may write more members than a call can have parameters.
  const last = places.reduce((largest, place) => Math.max(largest, place), 0);
  const names = argumentNames ?? positions(Math.min(last, mostPositions));
  const unknown = keys.find((key) => !names.includes(key));
  if (unknown !== undefined) return { problem: `'${name}' has no argument '${unknown}'` };
  return { values: names.map((each) => (Object.hasOwn(args, each) ? args[each] : undefined)) };
}

function schemaOf(names: readonly string[] | undefined): JsonObject {
  if (names === undefined) return {};
  return { type: 'object', properties: Object.fromEntries(names.map((name): [string, Json] => [name, {}])) };
}

function subjectOf(
  subject: NonNullable<GatedActivity['subject']>,
): Pick<ToolDefinition, 'subject' | 'shellSubject' | 'beside'> {
  if (typeof subject === 'string') return { subject };
  return { subject: subject.argument, shellSubject: true, beside: subject.beside };
}

/** The arguments as policies see them: a single object as it is, else each value under its name or position. */
function asObject(names: readonly string[] | undefined, values: readonly (Json | undefined)[]): JsonObject {
  const [first] = values;
  if (
    names === undefined &&
    values.length === 1 &&
    isObject(first) &&
    Object.keys(first).length > 0 &&
    !isPositional(first)
  )
    return first;
  const keys = names ?? positions(values.length);
  return Object.fromEntries(
    values.flatMap((value, index): [string, Json][] => (value === undefined ? [] : [[keys[index]!, value]])),
  );
}

/** The most positions in a list of arguments that a reviewer wrote. */
const mostPositions = 100;
const position = /^\$[1-9][0-9]*$/;

function positions(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `$${index + 1}`);
}

function isPositional(args: JsonObject): boolean {
  return Object.keys(args).some((key) => position.test(key));
}

/** The value as Temporal's JSON payloads carry it: dates as text, and no members that are undefined. */
function plainJson(value: unknown): { json: Json | undefined } | { problem: string } {
  if (value === undefined) return { json: undefined };
  if (value instanceof Uint8Array) return { problem: 'is bytes, which reviewers cannot read: pass text' };
  try {
    const text = JSON.stringify(value);
    return text === undefined ? { problem: 'is not JSON' } : { json: parseJson(text) as Json };
  } catch (error) {
    return { problem: `is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

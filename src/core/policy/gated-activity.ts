/**
 * Plain activities behind the gate: how one is declared, and how its positional arguments become the object that rules
 * match, reviewers see and the digest covers. Workflow and worker read the same arguments by the same function.
 */
import { definitionDigest } from '../base/digest.ts';
import { type Json, type JsonObject, type Risk, type ToolDefinition, risks } from '../base/tool-call.ts';

/** How an activity is declared to the gate: once, in a module that workflow and worker both import. */
export interface GatedActivity {
  /** Default `write`. */
  risk?: Exclude<Risk, 'unknown'>;
  /** For reviewers. Part of what the digest covers. */
  description?: string;
  /**
   * Names of the arguments, by position. Without names, a single argument that is a plain object is shown as it is, and
   * all others as `$1`, `$2` and so on.
   */
  arguments?: readonly string[];
  /**
   * The argument that `name:args` patterns match; without it, the canonical JSON of all. `{ argument, shell: true }`:
   * its text is run by a shell. A workflow cannot split it, so that no allow with an args pattern counts: it is asked.
   */
  subject?: string | { argument: string; shell: true };
  /** True: may be repeated after an unknown outcome, as its own retry options say. Default false: one attempt. */
  idempotent?: boolean;
  /**
   * How soon a killed worker is noticed, where the activity's options set no heartbeat time-out; default 30 s. The worker
   * then heartbeats in the activity's place. False for one that blocks its thread.
   */
  heartbeat?: false | { timeoutMs: number };
}

/** By activity type. */
export type GatedActivities = Readonly<Record<string, GatedActivity>>;

/** A gated activity as a run records it (I12). */
export interface GatedDefinition extends ToolDefinition {
  /** As declared; absent where the arguments have no names. */
  argumentNames?: readonly string[];
}

const defaultHeartbeatTimeoutMs = 30_000;

/**
 * The definition of activity `name`. `timeoutMs` is 0: the activity's own options say how long it may take.
 */
export function gatedDefinition(name: string, declared: GatedActivity): GatedDefinition {
  const { risk = 'write', description = '', arguments: argumentNames, subject, idempotent = false } = declared;
  const { heartbeat } = declared;
  const schema = schemaOf(argumentNames);
  return {
    name,
    description,
    schema,
    risk,
    ...(argumentNames === undefined ? {} : { argumentNames }),
    ...(subject === undefined ? {} : subjectOf(subject)),
    idempotent,
    heartbeatTimeoutMs: heartbeat === false ? null : (heartbeat?.timeoutMs ?? defaultHeartbeatTimeoutMs),
    timeoutMs: 0,
    definition: definitionDigest({ name, description, schema }),
  };
}

/** The definition, with the greater of its own risk and another's. */
export function withGreaterRisk<Definition extends ToolDefinition>(
  own: Definition,
  { risk }: Pick<ToolDefinition, 'risk'>,
): Definition {
  const rank = (each: Risk): number => risks.findIndex((known) => known === each);
  return rank(risk) > rank(own.risk) ? { ...own, risk } : own;
}

/**
 * The arguments as one object, as JSON carries them. No two argument lists give the same object: a single object is
 * taken for the arguments only if it has names and none of them looks like a position.
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

/** The other way round, for arguments that a reviewer edited: a list that `gatedArguments` reads as `args`. */
export function gatedValues(
  { name, argumentNames }: Pick<GatedDefinition, 'name' | 'argumentNames'>,
  args: JsonObject,
): { values: (Json | undefined)[] } | { problem: string } {
  const keys = Object.keys(args);
  if (argumentNames === undefined && keys.length > 0 && !isPositional(args)) return { values: [args] };
  const last = Math.max(0, ...keys.filter((key) => position.test(key)).map((key) => Number(key.slice(1))));
  const names = argumentNames ?? positions(Math.min(last, mostPositions));
  const strange = keys.find((key) => !names.includes(key));
  if (strange !== undefined) return { problem: `'${name}' has no argument '${strange}'` };
  return { values: names.map((each) => (Object.hasOwn(args, each) ? args[each] : undefined)) };
}

function schemaOf(names: readonly string[] | undefined): JsonObject {
  if (names === undefined) return {};
  return { type: 'object', properties: Object.fromEntries(names.map((name): [string, Json] => [name, {}])) };
}

function subjectOf(
  subject: NonNullable<GatedActivity['subject']>,
): Pick<ToolDefinition, 'subject'> & Pick<ToolDefinition, 'shellSubject'> {
  return typeof subject === 'string' ? { subject } : { subject: subject.argument, shellSubject: true };
}

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

/** Of a list that a reviewer wrote. */
const mostPositions = 100;
const position = /^\$[1-9][0-9]*$/;

function positions(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `$${index + 1}`);
}

function isPositional(args: JsonObject): boolean {
  return Object.keys(args).some((key) => position.test(key));
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What Temporal's JSON payloads carry of a value: instants become text, members that are undefined go. */
function plainJson(value: unknown): { json: Json | undefined } | { problem: string } {
  if (value === undefined) return { json: undefined };
  if (value instanceof Uint8Array) return { problem: 'is bytes, which reviewers cannot read: pass text' };
  try {
    const text = JSON.stringify(value);
    return text === undefined ? { problem: 'is not JSON' } : { json: JSON.parse(text) as Json };
  } catch (error) {
    return { problem: `is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

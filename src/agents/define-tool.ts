import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Previewed } from '../core/base/call-preview.ts';
import { cacheScopes, type Json, type JsonObject, risks, type Risk } from '../core/base/tool-call.ts';
import { isObject } from '../core/base/json.ts';
import { checkOptions, checkPositiveInteger, DefinitionError, type Fail, failAt } from './check-options.ts';
import {
  type PreviewContext,
  type Reconciled,
  type ResultCheckContext,
  type Tool,
  type ToolContext,
  toolMark,
  type Verdict,
} from './definitions.ts';
import { jsonSchemaOf, type ToolSchema, parseWith } from './tool-schema.ts';
import { maxShown } from '../core/policy/policy.ts';
import { isDeepStrictEqual } from 'node:util';

type ArgumentName<Schema extends ToolSchema> = Extract<keyof StandardSchemaV1.InferOutput<Schema>, string>;

/** Options of `defineTool`. `name`, `description`, `input` and `execute` are required. */
export interface ToolOptions<Schema extends ToolSchema> {
  /** 1 to 64 letters, digits, `_` or `-`. Also the type of the tool's activity. */
  name: string;
  /** Shown to the model. */
  description: string;
  /** The schema of an object: the arguments that the model gives. Its JSON Schema is shown to the model. */
  input: Schema;
  /** The effect that a call can have: `read_only`, `write` or `destructive`. Rules read it. Default `write`. */
  risk?: Exclude<Risk, 'unknown'>;
  /**
   * The argument that `name:args` patterns match. Default: the canonical JSON of all arguments. With `{ argument,
   * shell: true }` it is a shell command, and each simple command in it must be allowed. `beside`: arguments that are
   * harmless beside any command, such as `description`; a rule must name others, such as `env` or `cwd`, to allow them.
   */
  subject?:
    ArgumentName<Schema> | { argument: ArgumentName<Schema>; shell: true; beside?: readonly ArgumentName<Schema>[] };
  /**
   * The arguments that lists and Temporal's UI show without a worker: they are in the workflow's memo, without secrets
   * and cut to 200 characters each. Default: none, only the names of arguments are there.
   */
  show?: readonly ArgumentName<Schema>[];
  /**
   * Describes the effect of a call in one sentence, which reviewers read first. It is cut to 300 characters on one line
   * and recorded. If it throws, returns no text or takes longer than a second, there is none. Default: none.
   */
  describe?: (args: StandardSchemaV1.InferOutput<Schema>) => string | Promise<string>;
  /**
   * Shows reviewers the change that a call would make. It runs only for calls that wait for a reviewer, and before the
   * arguments are approved: it must only read. If it throws, takes too long or returns something else, reviewers see
   * that it failed. Default: none.
   */
  preview?: (args: StandardSchemaV1.InferOutput<Schema>, context: PreviewContext) => Previewed | Promise<Previewed>;
  /** The longest time that `preview` may take, in milliseconds, of at most 10 minutes. Default 10 seconds. */
  previewTimeoutMs?: number;
  /**
   * `preview`: just before an approved call starts, `preview` runs again; if a fact that counts has changed, nothing
   * runs, and reviewers are asked again. The facts that count are `facts` if the preview returns `{ changes, facts }`,
   * else all changes. Default: the call runs whatever the preview.
   */
  bind?: 'preview';
  /**
   * For risk `read_only`: a result answers equal calls of the run, which then neither run nor ask. `run`: until the
   * next message of a session's user; `session`: for the whole session. A call that may change something ends it
   * earlier (docs/tools.md). Default: each call runs.
   */
  cache?: (typeof cacheScopes)[number];
  /** JSON that is part of the definition, such as a service's annotations: a change of it counts as one of the tool. */
  pinned?: JsonObject;
  /** If true, a call with an unknown outcome may be repeated. Default false. */
  idempotent?: boolean;
  /** How soon a killed worker is detected. Default 30 s. False: the tool blocks its thread and cannot heartbeat. */
  heartbeat?: false | { timeoutMs: number };
  /** Start-to-close timeout of one attempt, in milliseconds. Default 10 minutes. */
  timeoutMs?: number;
  /** Receives exactly the approved arguments. Its result must be JSON. If it throws, the model gets the error. */
  execute: (args: StandardSchemaV1.InferOutput<Schema>, context: ToolContext) => unknown;
  /**
   * Says what became of a call whose outcome is unknown. It must only read, for example what a service knows under
   * `idempotencyKey`. `yes`: the model gets the result, if it is known. `no`: the call cannot take effect any more; it
   * passes the second gate again and runs. `unknown`, an error or five attempts of over 30 seconds: it stays unknown.
   */
  reconcile?: (args: StandardSchemaV1.InferOutput<Schema>, context: ToolContext) => Reconciled | Promise<Reconciled>;
  /**
   * Checks each result, a copy of the model's JSON, and the text of each error of `execute`. If it returns a text,
   * throws, takes over 30 seconds or returns something else, the result is withheld from transcript and history: the
   * model learns only that the tool ran, and the reason. The text must not quote the result. Default: no check.
   */
  checkResult?: (result: Json, context: ResultCheckContext<Schema>) => Verdict;
}

export const defaultHeartbeatTimeoutMs = 30_000;
export const defaultToolTimeoutMs = 10 * 60_000;
export const longestMs = 365 * 24 * 3_600_000;

const optionNames = [
  'name',
  'description',
  'input',
  'risk',
  'subject',
  'show',
  'describe',
  'preview',
  'previewTimeoutMs',
  'bind',
  'cache',
  'pinned',
  'idempotent',
  'heartbeat',
  'timeoutMs',
  'execute',
  'reconcile',
  'checkResult',
] as const satisfies (keyof ToolOptions<ToolSchema>)[];

/**
 * Declares a tool. Each call of it is checked against `input`, passes the gate, and runs `execute` as an activity.
 * Throws a `DefinitionError`, one sentence, for invalid options.
 *
 * @example
 * ```ts
 * import { defineTool } from 'countersign';
 * import { z } from 'zod';
 *
 * const refund = defineTool({
 *   name: 'refund',
 *   description: 'Refunds an order.',
 *   input: z.object({ orderId: z.string(), amount: z.number().positive() }),
 *   risk: 'destructive',
 *   subject: 'orderId',
 *   execute: ({ orderId, amount }, { idempotencyKey }) => ({ refunded: amount, orderId, idempotencyKey }),
 * });
 * console.log(refund.name, refund.risk, refund.timeoutMs); // refund destructive 600000
 * ```
 */
export function defineTool<Schema extends ToolSchema>(options: ToolOptions<Schema>): Tool<Schema> {
  if (Object.hasOwn(options ?? {}, 'inputSchema')) {
    throw new DefinitionError("defineTool: 'inputSchema' is the AI SDK's name for the schema: give it as input");
  }
  checkOptions('defineTool', options, optionNames);
  checkToolName(options.name);
  const { name, description, input, risk = 'write', subject, show, idempotent = false } = options;
  const { heartbeat, describe, execute, reconcile, checkResult, cache, pinned } = options;
  const place = `tool '${name}'`;
  const fail: Fail = failAt(place);
  if (typeof description !== 'string') fail('description must be text');
  const schema = jsonSchemaOf(`${place}: input`, input);
  if (!risks.includes(risk)) fail(`risk must be one of ${risks.join(', ')}`);
  if (cache !== undefined && !cacheScopes.includes(cache)) fail(`cache must be one of ${cacheScopes.join(', ')}`);
  if (cache !== undefined && risk !== 'read_only')
    fail(`cache needs risk 'read_only', because a repeated call would not run; leave it out`);
  if (pinned !== undefined && !isObject(pinned)) fail('pinned must be an object of JSON');
  if (typeof idempotent !== 'boolean') fail('idempotent must be true or false');
  if (typeof execute !== 'function') fail('execute must be a function');
  if (describe !== undefined && typeof describe !== 'function')
    fail('describe must be a function that returns one sentence');
  if (reconcile !== undefined && typeof reconcile !== 'function')
    fail(`reconcile must be a function that returns { ran: 'yes', 'no' or 'unknown' }`);
  if (checkResult !== undefined && typeof checkResult !== 'function')
    fail('checkResult must be a function that returns why a result is withheld, or undefined');
  const { timeoutMs = defaultToolTimeoutMs } = options;
  checkPositiveInteger(`${place}: timeoutMs`, timeoutMs, longestMs);
  return Object.freeze({
    [toolMark]: true as const,
    name,
    description,
    input,
    schema,
    risk,
    ...readSubject(place, subject, schema),
    ...readShow(place, show),
    ...(cache !== undefined && { cache }),
    ...(pinned !== undefined && { pinned }),
    idempotent,
    heartbeatTimeoutMs: heartbeatTimeout(place, heartbeat),
    timeoutMs,
    ...(describe !== undefined && { describe }),
    ...readPreview(place, options),
    execute,
    ...(reconcile !== undefined && { reconcile }),
    ...(checkResult !== undefined && { checkResult }),
  });
}

// Names from a model are looked up: a property name of every object would be found, and `then` would turn an object of
// tools into a promise. Temporal sends every unknown activity to `default`.
const reservedNames = new Set([...Object.getOwnPropertyNames(Object.prototype), 'then']);

export function checkToolName(name: unknown): void {
  if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    const shown = typeof name === 'string' ? JSON.stringify(name.slice(0, 80)) : typeof name;
    throw new DefinitionError(`tool name ${shown}: expected 1 to 64 letters, digits, '_' or '-'`);
  }
  if (name === 'default') {
    throw new DefinitionError(
      `tool name 'default' is taken: Temporal runs an activity of that name for every unknown one; choose another name`,
    );
  }
  if (reservedNames.has(name)) {
    throw new DefinitionError(`tool name '${name}' is taken by a property of every object; choose another name`);
  }
}

function heartbeatTimeout(place: string, heartbeat: ToolOptions<ToolSchema>['heartbeat']): number | null {
  if (heartbeat === undefined) return defaultHeartbeatTimeoutMs;
  if (heartbeat === false) return null;
  checkOptions(`${place}: heartbeat`, heartbeat, ['timeoutMs']);
  checkPositiveInteger(`${place}: heartbeat.timeoutMs`, heartbeat.timeoutMs, longestMs);
  return heartbeat.timeoutMs;
}

const defaultTimeoutMs = 10_000;
const longestPreviewMs = 600_000;

export function readPreview<Preview>(
  place: string,
  { preview, previewTimeoutMs, bind }: { preview?: Preview; previewTimeoutMs?: number; bind?: 'preview' },
): Pick<Tool, 'previewTimeoutMs' | 'bind'> & { preview?: Preview } {
  const fail: Fail = failAt(place);
  if (bind !== undefined && bind !== 'preview') fail(`bind must be 'preview'`);
  if (preview === undefined) {
    if (previewTimeoutMs !== undefined) fail('previewTimeoutMs goes with preview');
    if (bind !== undefined) fail('bind goes with preview');
    return {};
  }
  if (typeof preview !== 'function') fail('preview must be a function that returns a list of changes');
  const timeoutMs = previewTimeoutMs ?? defaultTimeoutMs;
  checkPositiveInteger(`${place}: previewTimeoutMs`, timeoutMs, longestPreviewMs);
  return { preview, previewTimeoutMs: timeoutMs, ...(bind !== undefined && { bind }) };
}

/** Reads the option `show` of a tool or a gated activity. A name without a matching argument shows nothing. */
export function readShow(place: string, show: unknown): { show?: readonly string[] } {
  if (show === undefined) return {};
  const isName = (name: unknown): boolean => typeof name === 'string' && name !== '' && name.length <= 200;
  if (Array.isArray(show) && show.length <= maxShown && show.every(isName) && new Set(show).size === show.length) {
    return { show: Object.freeze([...(show as string[])]) };
  }
  throw new DefinitionError(
    `${place}: show must be a list of at most ${maxShown} different argument names, such as ['amount', 'recipient']`,
  );
}

export const shellSubjectOptions = ['argument', 'shell', 'beside'];

/** Reads the option `subject` of a tool whose arguments have this JSON Schema. */
export function readSubject(
  place: string,
  subject: unknown,
  schema: JsonObject,
): Pick<Tool, 'subject' | 'shellSubject' | 'beside'> {
  if (subject === undefined) return {};
  const fail: Fail = failAt(place);
  const properties = (schema['properties'] ?? {}) as JsonObject;
  const names = Object.keys(properties);
  const known = names.join(', ') || 'none';
  if (typeof subject !== 'object') {
    if (typeof subject === 'string' && Object.hasOwn(properties, subject)) return { subject };
    fail(`subject must name an argument of its input (${known})`);
  }
  checkOptions(`${place}: subject`, subject, shellSubjectOptions);
  const { argument, shell, beside } = subject as { argument?: unknown; shell?: unknown; beside?: unknown };
  if (shell !== true) fail('subject.shell must be true; for any other text name the argument alone');
  if (typeof argument !== 'string' || !Object.hasOwn(properties, argument))
    fail(`subject.argument must name an argument of its input (${known})`);
  const { type = 'string' } = properties[argument] as JsonObject;
  if (type !== 'string') fail('subject.argument must name an argument that is text');
  if (beside === undefined) return { subject: argument, shellSubject: true };
  checkBeside(place, beside, argument, names);
  return { subject: argument, shellSubject: true, beside: Object.freeze([...beside]) };
}

/** Throws unless `beside` lists arguments other than the command. `names`: all arguments, if they are known. */
export function checkBeside(
  place: string,
  beside: unknown,
  command: string,
  names?: readonly string[],
): asserts beside is string[] {
  const isOther = (name: unknown): boolean =>
    typeof name === 'string' && name !== command && (names === undefined || names.includes(name));
  if (Array.isArray(beside) && beside.every(isOther)) return;
  const others = names?.filter((name) => name !== command).join(', ') || 'none';
  throw new DefinitionError(`${place}: subject.beside must list arguments beside '${command}' (${others})`);
}

/** `problem` names a place and the expected value, in at most 1,000 characters. */
export type ValidatedArguments = { args: JsonObject } | { problem: string };

/**
 * Parses `args` with the tool's schema: fills defaults and strips unknown keys. The result is shown, hashed, approved
 * and executed. A reviewer's edit is parsed again, so the schema must give its result back unchanged: a transform that
 * doubles an amount would double it again. Never throws.
 */
export async function validateArguments({ name, input }: Tool, args: JsonObject): Promise<ValidatedArguments> {
  try {
    const parsed = await parseWith('arguments', input, args);
    if ('problem' in parsed) return parsed;
    const { value } = parsed;
    if (isDeepStrictEqual(await parseWith('arguments', input, value), parsed)) return { args: value };
    return { problem: `arguments: the schema of tool '${name}' changes or refuses what it has given itself` };
  } catch {
    // A custom check threw. Its message is for the author, not for a model.
    return { problem: `arguments: a check of tool '${name}' failed on them` };
  }
}

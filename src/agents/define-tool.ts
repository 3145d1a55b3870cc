import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Previewed } from '../core/base/call-preview.ts';
import { cacheScopes, type Json, type JsonObject, risks, type Risk } from '../core/base/tool-call.ts';
import { isObject } from '../core/base/json.ts';
import { checkOptions, checkPositiveInteger, DefinitionError, type Fail, failAt } from './check-options.ts';
import type { PreviewContext, Reconciled, ResultCheckContext, Tool, ToolContext, Verdict } from './definitions.ts';
import { toolMark } from './definitions.ts';
import { jsonSchemaOf, type ToolSchema, parseWith } from './tool-schema.ts';
import { maxShown } from '../core/policy/policy.ts';
import { isDeepStrictEqual } from 'node:util';

type ArgumentName<Schema extends ToolSchema> = Extract<keyof StandardSchemaV1.InferOutput<Schema>, string>;

/** Options of `defineTool`. `name`, `description`, `input` and `execute` are required. */
export interface ToolOptions<Schema extends ToolSchema> {
  /** The name: 1 to 64 letters, digits, `_` or `-`. It is also the type of the tool's activity in Temporal. */
  name: string;
  /** What the tool does, for the model. */
  description: string;
  /** The schema of the arguments, an object. The model receives its JSON Schema. */
  input: Schema;
  /** The effect that a call can have, for rules: `read_only`, `write` or `destructive`. Default `write`. */
  risk?: Exclude<Risk, 'unknown'>;
  /**
   * The argument that patterns `name:args` match. Default: the canonical JSON of all arguments. `{ argument, shell:
   * true }` names a shell command: a policy must allow each simple command in it. `beside` names arguments that are
   * harmless beside any command, such as `description`; to allow others, such as `cwd`, a rule must name them.
   */
  subject?:
    ArgumentName<Schema> | { argument: ArgumentName<Schema>; shell: true; beside?: readonly ArgumentName<Schema>[] };
  /**
   * The arguments whose values lists and Temporal's UI show while a call waits, even if no worker runs. The workflow's
   * memo stores these values without secrets, each cut to 200 characters. Default: only the arguments' names.
   */
  show?: readonly ArgumentName<Schema>[];
  /**
   * Describes the effect of a call in a sentence, such as `Refund €40 to Ann`, which reviewers read first. It is cut to
   * 300 characters and recorded. If it throws, returns no text or takes over a second, there is none. Default: none.
   */
  describe?: (args: StandardSchemaV1.InferOutput<Schema>) => string | Promise<string>;
  /**
   * Shows reviewers the change that a call would make, such as a file before and after. It must only read, because it
   * runs before the call is approved, and only for calls that wait for a reviewer. If it throws, takes too long or
   * returns something else, reviewers see that it failed. Default: none.
   */
  preview?: (args: StandardSchemaV1.InferOutput<Schema>, context: PreviewContext) => Previewed | Promise<Previewed>;
  /** The longest time that `preview` may take, in milliseconds. Default 10 seconds, at most 10 minutes. */
  previewTimeoutMs?: number;
  /**
   * With `preview`, an approved call runs only if its preview still holds. Just before the call starts, `preview` runs
   * again; if a fact has changed, the call does not run, and reviewers are asked again. The facts are `facts` if the
   * preview returns `{ changes, facts }`, else all changes. Default: the call runs even if the preview has changed.
   */
  bind?: 'preview';
  /**
   * Lets one result answer all equal calls of a run, which then neither run nor ask; only for risk `read_only`. With
   * `run`, the result counts until the user of a session writes again; with `session`, in the whole session. A call
   * that may change something ends both (docs/tools.md). Default: each call runs.
   */
  cache?: (typeof cacheScopes)[number];
  /** More JSON of the tool's definition, which models and reviewers do not see: if it changes, the tool has changed. */
  pinned?: JsonObject;
  /** True if a call whose outcome is unknown may be repeated. Default false. */
  idempotent?: boolean;
  /** The heartbeat timeout, which detects a killed worker. Default 30 s. False if the tool blocks its thread. */
  heartbeat?: false | { timeoutMs: number };
  /** Start-to-close timeout of one attempt, in milliseconds. Default 10 minutes. */
  timeoutMs?: number;
  /** Runs the call, with exactly the approved arguments. It returns JSON. If it throws, the model gets the error. */
  execute: (args: StandardSchemaV1.InferOutput<Schema>, context: ToolContext) => unknown;
  /**
   * Finds out, only by reading, what became of a call whose outcome is unknown: it asks a service about
   * `idempotencyKey`, for example. After `yes`, the model gets the `result`. After `no` (the call can never take
   * effect), it passes the second gate again and runs. After `unknown`, an error or five attempts of over 30 seconds,
   * it stays unknown.
   */
  reconcile?: (args: StandardSchemaV1.InferOutput<Schema>, context: ToolContext) => Reconciled | Promise<Reconciled>;
  /**
   * Checks each result (a copy of its JSON), and the text of each error of `execute`. If it returns a text, throws,
   * takes over 30 seconds or returns something else, the result is withheld from transcript and history. The model
   * learns only that the tool ran, and the text as the reason, which must not quote the result. Default: no check.
   */
  checkResult?: (result: Json, context: ResultCheckContext<Schema>) => Verdict;
}

export const defaultHeartbeatTimeoutMs = 30_000;
export const defaultToolTimeoutMs = 10 * 60_000;
export const longestMs = 365 * 24 * 3_600_000;

const callOptions = ['name', 'description', 'input', 'risk', 'subject', 'show', 'describe'] as const;
const previewOptions = ['preview', 'previewTimeoutMs', 'bind'] as const;
const resultOptions = ['cache', 'pinned', 'idempotent'] as const;
const runOptions = ['heartbeat', 'timeoutMs', 'execute', 'reconcile', 'checkResult'] as const;
type OptionName = keyof ToolOptions<ToolSchema>;
const optionNames: OptionName[] = [...callOptions, ...previewOptions, ...resultOptions, ...runOptions];

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
  const { timeoutMs = defaultToolTimeoutMs } = options;
  const place = `tool '${name}'`;
  if (typeof description !== 'string') throw new DefinitionError(`${place}: description must be text`);
  const schema = jsonSchemaOf(`${place}: input`, input);
  checkEffect(place, { risk, cache, pinned, idempotent });
  checkFunctions(place, options);
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

type Effect = Pick<Tool, 'risk' | 'cache' | 'pinned' | 'idempotent'>;

/** Throws a `DefinitionError` for a wrong option about the effect of a call and of its repetition. */
function checkEffect(place: string, { risk, cache, pinned, idempotent }: Effect): void {
  const fail: Fail = failAt(place);
  if (!risks.includes(risk)) fail(`risk must be one of ${risks.join(', ')}`);
  if (cache !== undefined && !cacheScopes.includes(cache)) fail(`cache must be one of ${cacheScopes.join(', ')}`);
  if (cache !== undefined && risk !== 'read_only')
    fail(`cache needs risk 'read_only', because a repeated call would not run; leave it out`);
  if (pinned !== undefined && !isObject(pinned)) fail('pinned must be an object of JSON');
  if (typeof idempotent !== 'boolean') fail('idempotent must be true or false');
}

function checkFunctions<Schema extends ToolSchema>(place: string, options: ToolOptions<Schema>): void {
  const { execute, describe, reconcile, checkResult } = options;
  const fail: Fail = failAt(place);
  if (typeof execute !== 'function') fail('execute must be a function');
  if (describe !== undefined && typeof describe !== 'function')
    fail('describe must be a function that returns one sentence');
  if (reconcile !== undefined && typeof reconcile !== 'function')
    fail(`reconcile must be a function that returns { ran: 'yes', 'no' or 'unknown' }`);
  if (checkResult !== undefined && typeof checkResult !== 'function')
    fail('checkResult must be a function that returns why a result is withheld, or undefined');
}

// A model names the tool that it calls: `toString` would be found in any object of tools, and a member `then` would
// make that object a promise.
const reservedNames = new Set([...Object.getOwnPropertyNames(Object.prototype), 'then']);

/** Throws a `DefinitionError` for a name that models, Temporal or a map of tools could not use. */
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

/** Reads the options about a tool's preview, with their defaults. Without `preview`, the others are refused. */
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

/** Reads the option `show` of a tool or a gated activity. A name that is no argument shows nothing. */
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
  // A schema without a type admits texts, too.
  const { type = 'string' } = properties[argument] as JsonObject;
  if (type !== 'string') fail('subject.argument must name an argument that is text');
  if (beside === undefined) return { subject: argument, shellSubject: true };
  checkBeside(place, beside, argument, names);
  return { subject: argument, shellSubject: true, beside: Object.freeze([...beside]) };
}

/** Throws unless `beside` lists arguments other than `command`. `names`: all arguments, if they are known. */
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

/** The parsed arguments, or a `problem` in at most 1,000 characters that names a place and the expected value. */
export type ValidatedArguments = { args: JsonObject } | { problem: string };

/**
 * Parses `args` with the tool's schema, which fills defaults and strips unknown keys. The result is shown, hashed,
 * approved and executed. An edit of it is parsed again, so the schema must leave its own result unchanged: a transform
 * that doubles an amount would double it twice. Never throws.
 */
export async function validateArguments({ name, input }: Tool, args: JsonObject): Promise<ValidatedArguments> {
  try {
    const parsed = await parseWith('arguments', input, args);
    if ('problem' in parsed) return parsed;
    const { value } = parsed;
    const parsedAgain = await parseWith('arguments', input, value);
    if (isDeepStrictEqual(parsedAgain, parsed)) return { args: value };
    return { problem: `arguments: the schema of tool '${name}' changes or refuses what it has given itself` };
  } catch {
    // A custom check of the schema threw an error, whose message is for its author, not for a model.
    return { problem: `arguments: a check of tool '${name}' failed on them` };
  }
}

import type { z } from 'zod';
import { risks, type JsonObject, type Risk } from '../core/base/tool-call.ts';
import { checkOptions, checkPositiveInteger } from './check-options.ts';
import { type Tool, type ToolContext, toolMark } from './definitions.ts';
import { DefinitionError } from './definition-error.ts';
import { jsonSchemaOf, type ToolSchema } from './tool-schema.ts';

type ArgumentName<Schema extends ToolSchema> = Extract<keyof z.output<Schema>, string>;

export interface ToolOptions<Schema extends ToolSchema> {
  /** 1 to 64 of letters, digits, `_` and `-`; also the type of the tool's activity. */
  name: string;
  /** For the model. */
  description: string;
  input: Schema;
  /** Default `write`. */
  risk?: Exclude<Risk, 'unknown'>;
  /**
   * The argument that `name:args` patterns match; without it, the canonical JSON of all arguments. `{ argument, shell:
   * true }`: its text is run by a shell, and each simple command in it must be allowed.
   */
  subject?: ArgumentName<Schema> | { argument: ArgumentName<Schema>; shell: true };
  /** True: a call whose outcome is unknown may be repeated. Default false. */
  idempotent?: boolean;
  /** How soon a killed worker is noticed; default 30 s. False for a tool that blocks its thread and cannot heartbeat. */
  heartbeat?: false | { timeoutMs: number };
  /** Longest time of one attempt; default 10 minutes. */
  timeoutMs?: number;
  /** Gets exactly the arguments that were approved; its result must be JSON. A throw is told to the model as an error. */
  execute: (args: z.output<Schema>, context: ToolContext) => unknown;
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
  'idempotent',
  'heartbeat',
  'timeoutMs',
  'execute',
] as const satisfies (keyof ToolOptions<ToolSchema>)[];

/** Declares a tool. Throws a `DefinitionError`, one sentence, for what cannot work. */
export function defineTool<Schema extends ToolSchema>(options: ToolOptions<Schema>): Tool<Schema> {
  checkOptions('defineTool', options, optionNames);
  checkToolName(options.name);
  const { name, description, input, risk = 'write', subject, idempotent = false, heartbeat, execute } = options;
  const place = `tool '${name}'`;
  if (typeof description !== 'string') throw new DefinitionError(`${place}: description must be text`);
  const schema = jsonSchemaOf(`${place}: input`, input);
  if (!risks.includes(risk)) throw new DefinitionError(`${place}: risk must be one of ${risks.join(', ')}`);
  if (typeof idempotent !== 'boolean') throw new DefinitionError(`${place}: idempotent must be true or false`);
  if (typeof execute !== 'function') throw new DefinitionError(`${place}: execute must be a function`);
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
    idempotent,
    heartbeatTimeoutMs: heartbeatTimeout(place, heartbeat),
    timeoutMs,
    execute,
  });
}

// Tools are activities and names from a model are looked up: a name that every object answers to would be found where
// nobody defined it, `then` would make a promise of whatever holds the tools, and Temporal sends every activity that it
// does not know to `default`.
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

function readSubject(place: string, subject: unknown, schema: JsonObject): Pick<Tool, 'subject' | 'shellSubject'> {
  if (subject === undefined) return {};
  const properties = (schema['properties'] ?? {}) as JsonObject;
  const known = Object.keys(properties).join(', ') || 'none';
  if (typeof subject !== 'object') {
    if (typeof subject === 'string' && Object.hasOwn(properties, subject)) return { subject };
    throw new DefinitionError(`${place}: subject must name an argument of its input (${known})`);
  }
  checkOptions(`${place}: subject`, subject, ['argument', 'shell']);
  const { argument, shell } = subject as { argument?: unknown; shell?: unknown };
  if (shell !== true) {
    throw new DefinitionError(`${place}: subject.shell must be true; for any other text name the argument alone`);
  }
  if (typeof argument !== 'string' || !Object.hasOwn(properties, argument)) {
    throw new DefinitionError(`${place}: subject.argument must name an argument of its input (${known})`);
  }
  const { type = 'string' } = properties[argument] as JsonObject;
  if (type !== 'string') throw new DefinitionError(`${place}: subject.argument must name an argument that is text`);
  return { subject: argument, shellSubject: true };
}

function heartbeatTimeout(place: string, heartbeat: ToolOptions<ToolSchema>['heartbeat']): number | null {
  if (heartbeat === undefined) return defaultHeartbeatTimeoutMs;
  if (heartbeat === false) return null;
  checkOptions(`${place}: heartbeat`, heartbeat, ['timeoutMs']);
  checkPositiveInteger(`${place}: heartbeat.timeoutMs`, heartbeat.timeoutMs, longestMs);
  return heartbeat.timeoutMs;
}

/** The subject of a tool: the argument that `name:args` patterns match, and what is harmless beside a command. */
import type { JsonObject } from '../core/base/tool-call.ts';
import { checkOptions } from './check-options.ts';
import type { Tool } from './definitions.ts';
import { DefinitionError } from './definition-error.ts';

export const shellSubjectOptions = ['argument', 'shell', 'beside'];

/** Reads the option `subject` of a tool whose arguments have this JSON Schema. */
export function readSubject(
  place: string,
  subject: unknown,
  schema: JsonObject,
): Pick<Tool, 'subject' | 'shellSubject' | 'beside'> {
  if (subject === undefined) return {};
  const properties = (schema['properties'] ?? {}) as JsonObject;
  const names = Object.keys(properties);
  const known = names.join(', ') || 'none';
  if (typeof subject !== 'object') {
    if (typeof subject === 'string' && Object.hasOwn(properties, subject)) return { subject };
    throw new DefinitionError(`${place}: subject must name an argument of its input (${known})`);
  }
  checkOptions(`${place}: subject`, subject, shellSubjectOptions);
  const { argument, shell, beside } = subject as { argument?: unknown; shell?: unknown; beside?: unknown };
  if (shell !== true) {
    throw new DefinitionError(`${place}: subject.shell must be true; for any other text name the argument alone`);
  }
  if (typeof argument !== 'string' || !Object.hasOwn(properties, argument)) {
    throw new DefinitionError(`${place}: subject.argument must name an argument of its input (${known})`);
  }
  const { type = 'string' } = properties[argument] as JsonObject;
  if (type !== 'string') throw new DefinitionError(`${place}: subject.argument must name an argument that is text`);
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

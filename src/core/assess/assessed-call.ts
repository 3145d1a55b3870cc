import type { JsonObject, Risk } from '../base/tool-call.ts';
import type { ShellSplit } from '../shell/parts.ts';

/** A call as assessors see it. */
export interface AssessedCall {
  /** The tool's name. */
  tool: string;
  args: JsonObject;
  risk: Risk;
  /** The argument that `name:args` patterns match. */
  subject?: string;
  /** The split of a shell subject, if there is one. */
  shell?: ShellSplit;
  /** For a shell command: the other arguments that the tool declares harmless. Default: none. */
  beside?: readonly string[];
}

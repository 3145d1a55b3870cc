import { z } from 'zod';
import type { Risk } from '../core/base/tool-call.ts';
import { checkOptions } from './check-options.ts';
import { isAgent, type Agent } from './definitions.ts';
import { defineTool } from './define-tool.ts';
import type { Tool } from './definitions.ts';
import { DefinitionError } from './definition-error.ts';

export interface AgentToolOptions {
  /** Default: the agent's name, every character but letters, digits, `_` and `-` made a `_`. */
  name?: string;
  /** For the calling model. Default: the agent's `description`, else one that says whom it calls. */
  description?: string;
  /** Default `read_only`: calling an agent changes nothing by itself, and each call that it makes passes its own gate. */
  risk?: Exclude<Risk, 'unknown'>;
}

const optionNames = ['name', 'description', 'risk'] as const satisfies (keyof AgentToolOptions)[];
const longestInput = 400_000;

/**
 * An agent as a tool of another one. The model calls it with `{ input: text }` and gets the agent's last words. The call
 * passes the gate like any other; then the agent runs as a run of its own, under its worker's ceiling, everything that
 * binds the calling run, and its own policy, the strictest of all. What it asks for is in the inbox under its own id.
 * Throws a `DefinitionError`, one sentence, for what cannot work.
 *
 * @example
 * const clerk = defineAgent({ name: 'clerk', instructions: 'Look things up.', model: scriptedModel([]) });
 * agentTool(clerk).risk; // => 'read_only'
 * agentTool(clerk, { name: 'ask_clerk', risk: 'write' }).name; // => 'ask_clerk'
 */
export function agentTool(agent: Agent, options: AgentToolOptions = {}): Tool {
  if (!isAgent(agent)) throw new DefinitionError('agentTool: expected what defineAgent returned');
  checkOptions('agentTool', options, optionNames);
  const {
    name = toolNameOf(agent.name),
    description = agent.description ?? `Gives a task to agent '${agent.name}' and returns its answer.`,
    risk = 'read_only',
  } = options;
  const tool = defineTool({
    name,
    description,
    input: z.object({ input: z.string().min(1).max(longestInput).describe('The task, with all that it needs.') }),
    risk,
    execute: runsElsewhere,
  });
  return Object.freeze({ ...tool, agent });
}

/** A tool's name made of an agent's, which may hold blanks and any letters. */
export function toolNameOf(agentName: string): string {
  return agentName.replaceAll(/[^A-Za-z0-9_-]/g, '_');
}

/** Tools of this kind have no activity (worker.ts). */
export function runsElsewhere(): never {
  throw new Error('a call of an agent is a run of its own, not an activity');
}

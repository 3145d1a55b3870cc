import { z } from 'zod';
import type { Risk } from '../core/base/tool-call.ts';
import { checkOptions, DefinitionError } from './check-options.ts';
import { isAgent, type Agent, type Tool } from './definitions.ts';
import { defineTool } from './define-tool.ts';

/** Options of `agentTool`. */
export interface AgentToolOptions {
  /** The tool's name. Default: the agent's, with `_` for every character except letters, digits, `_` and `-`. */
  name?: string;
  /** The description for the calling model. Default: the agent's `description`, or a sentence that names the agent. */
  description?: string;
  /** The risk of a call. Default `read_only`, because each call that the agent makes passes a gate itself. */
  risk?: Exclude<Risk, 'unknown'>;
}

const optionNames = ['name', 'description', 'risk'] as const satisfies (keyof AgentToolOptions)[];
const longestInput = 400_000;

/**
 * Makes an agent a tool of another agent, whose model calls it with `{ input: text }` and gets the final text. Each
 * call starts a run with its own workflow id and requests. The worker's ceiling, all policies of the calling run and
 * the agent's policy bind that run; the strictest answer counts. Throws a `DefinitionError` for invalid options.
 *
 * @example
 * ```ts
 * import { agentTool, defineAgent, scriptedModel } from 'countersign';
 *
 * const clerk = defineAgent({ name: 'clerk', instructions: 'Look orders up.', model: scriptedModel([]) });
 * const support = defineAgent({
 *   name: 'support',
 *   instructions: 'Help customers.',
 *   model: scriptedModel([{ calls: [{ tool: 'ask_clerk', args: { input: 'Where is order 7?' } }] }]),
 *   tools: [agentTool(clerk, { name: 'ask_clerk' })],
 * });
 * console.log(support.tools.map(({ name, risk }) => `${name}: ${risk}`)); // [ 'ask_clerk: read_only' ]
 * ```
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

export function toolNameOf(agentName: string): string {
  return agentName.replaceAll(/[^A-Za-z0-9_-]/g, '_');
}

/** The `execute` of agents as tools, and of handoffs. It is never called, because a workflow runs these itself. */
export function runsElsewhere(): never {
  throw new Error('a call of an agent is a run of its own, not an activity');
}

/** Returns the tools by which an agent hands over its run, one for each of its `handoffs`. */
export function handoffTools(agent: Agent): Tool[] {
  const place = `agent '${agent.name}'`;
  const targets: unknown = agent.handoffs();
  if (!Array.isArray(targets) || !targets.every(isAgent)) {
    throw new DefinitionError(`${place}: handoffs must be a list of what defineAgent returned`);
  }
  if (targets.includes(agent)) throw new DefinitionError(`${place}: handoffs name the agent itself`);
  return targets.map((target) => handoffTool(place, target));
}

/** Makes the tool of one handoff. Its risk is `read_only`, because a handoff changes nothing by itself. */
function handoffTool(place: string, target: Agent): Tool {
  const name = `transfer_to_${toolNameOf(target.name)}`;
  if (name.length > 64) {
    throw new DefinitionError(`${place}: handoff to '${target.name}': its name must have at most 52 characters`);
  }
  const what = target.description === undefined ? '' : ` ${target.description}`;
  const tool = defineTool({
    name,
    description: `Hands this conversation over to agent '${target.name}'.${what}`,
    input: z.object({ reason: z.string().max(1_000).optional() }),
    risk: 'read_only',
    execute: runsElsewhere,
  });
  return Object.freeze({ ...tool, handoff: target });
}

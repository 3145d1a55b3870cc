import { definitionDigest } from '../core/base/digest.ts';
import type { ToolDefinition } from '../core/base/tool-call.ts';
import { isAgent, type Agent } from './definitions.ts';
import { isTool, type Tool } from './definitions.ts';
import { DefinitionError } from './definition-error.ts';
import { handoffTools } from './handoff-tool.ts';

/** What a worker offers. Names may come from a model or a caller, so that look-ups find nothing but what was defined. */
export interface Registry {
  readonly agents: readonly Agent[];
  readonly tools: readonly Tool[];
  agent(name: string): Agent | undefined;
  /** All tools of a known agent, those by which it hands over included. */
  toolsOf(agent: Agent): readonly Tool[];
  tool(name: string): Tool | undefined;
}

/**
 * Joins agents, those that they call or hand over to, their tools, and tools that no agent has (for workflows of one's
 * own with a gate).
 * One tool may serve several agents. Throws a `DefinitionError` when a name stands for two different things.
 */
export function createRegistry(input: { agents: readonly Agent[]; tools?: readonly Tool[] }): Registry {
  const agents = new Map<string, Agent>();
  const tools = new Map<string, Tool>();
  const addTool = (tool: Tool): void => {
    const known = tools.get(tool.name);
    if (known !== undefined && known !== tool && !isSameAgent(known, tool)) {
      throw new DefinitionError(
        `tool name '${tool.name}' is used by two different tools; rename one, or share one tool object`,
      );
    }
    tools.set(tool.name, tool);
  };

  if (!Array.isArray(input.agents) || !input.agents.every(isAgent)) {
    throw new DefinitionError('agents must be a list of what defineAgent returned');
  }
  const usedTwice = (name: string) => new DefinitionError(`agent name '${name}' is used twice; rename one`);
  const names = input.agents.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw usedTwice(twice);
  const toolsOf = new Map<Agent, readonly Tool[]>();
  const addAgent = (agent: Agent): void => {
    if (toolsOf.has(agent)) return;
    if (agents.has(agent.name)) throw usedTwice(agent.name);
    agents.set(agent.name, agent);
    const own = [...agent.tools, ...handoffTools(agent)];
    toolsOf.set(agent, own);
    const ownNames = own.map(({ name }) => name);
    const taken = ownNames.find((name, index) => ownNames.indexOf(name) !== index);
    if (taken !== undefined) throw new DefinitionError(`agent '${agent.name}': tool name '${taken}' is used twice`);
    own.forEach(addTool);
    for (const { agent: nested, handoff } of own) [nested, handoff].forEach((other) => other && addAgent(other));
  };
  input.agents.forEach(addAgent);
  const loose = input.tools ?? [];
  if (!Array.isArray(loose) || !loose.every(isTool) || loose.some(({ agent }) => agent !== undefined)) {
    throw new DefinitionError('tools must be a list of what defineTool returned');
  }
  loose.forEach(addTool);

  return {
    agents: [...agents.values()],
    tools: [...tools.values()],
    agent: (name) => agents.get(name),
    tool: (name) => tools.get(name),
    toolsOf: (agent) => toolsOf.get(agent) ?? agent.tools,
  };
}

/** Two tools that say the same of the same agent: each agent that calls it may have made its own. */
function isSameAgent(one: Tool, other: Tool): boolean {
  const target = one.agent ?? one.handoff;
  return (
    target !== undefined &&
    target === (other.agent ?? other.handoff) &&
    one.description === other.description &&
    one.risk === other.risk
  );
}

/** The tool as a run records it at its start (I12). */
export function definitionOf(tool: Tool): ToolDefinition {
  const { name, description, schema, risk, subject, shellSubject, idempotent, heartbeatTimeoutMs, timeoutMs } = tool;
  const { agent, handoff } = tool;
  return {
    name,
    description,
    schema,
    risk,
    ...(subject === undefined ? {} : { subject }),
    ...(shellSubject === undefined ? {} : { shellSubject }),
    idempotent,
    heartbeatTimeoutMs,
    timeoutMs,
    definition: definitionDigest({ name, description, schema }),
    ...(agent === undefined ? {} : { agent: agent.name }),
    ...(handoff === undefined ? {} : { handoff: handoff.name }),
  };
}

import { definitionDigest } from '../core/digest.ts';
import type { ToolDefinition } from '../core/tool-call.ts';
import { isAgent, type Agent } from './define-agent.ts';
import { isTool, type Tool } from './define-tool.ts';
import { DefinitionError } from './definition-error.ts';

/** What a worker offers. Names may come from a model or a caller, so that look-ups find nothing but what was defined. */
export interface Registry {
  readonly agents: readonly Agent[];
  readonly tools: readonly Tool[];
  agent(name: string): Agent | undefined;
  tool(name: string): Tool | undefined;
}

/**
 * Joins agents, their tools, and tools that no agent has (for workflows of one's own with a gate).
 * One tool may serve several agents. Throws a `DefinitionError` when a name stands for two different things.
 */
export function createRegistry(input: { agents: readonly Agent[]; tools?: readonly Tool[] }): Registry {
  const agents = new Map<string, Agent>();
  const tools = new Map<string, Tool>();
  const addTool = (tool: Tool): void => {
    const known = tools.get(tool.name);
    if (known !== undefined && known !== tool) {
      throw new DefinitionError(
        `tool name '${tool.name}' is used by two different tools; rename one, or share one tool object`,
      );
    }
    tools.set(tool.name, tool);
  };

  if (!Array.isArray(input.agents) || !input.agents.every(isAgent)) {
    throw new DefinitionError('agents must be a list of what defineAgent returned');
  }
  for (const agent of input.agents) {
    if (agents.has(agent.name)) throw new DefinitionError(`agent name '${agent.name}' is used twice; rename one`);
    agents.set(agent.name, agent);
    agent.tools.forEach(addTool);
  }
  const loose = input.tools ?? [];
  if (!Array.isArray(loose) || !loose.every(isTool)) {
    throw new DefinitionError('tools must be a list of what defineTool returned');
  }
  loose.forEach(addTool);

  return {
    agents: [...agents.values()],
    tools: [...tools.values()],
    agent: (name) => agents.get(name),
    tool: (name) => tools.get(name),
  };
}

/** The tool as a run records it at its start (I12). */
export function definitionOf(tool: Tool): ToolDefinition {
  const { name, description, schema, risk, subject, shellSubject, idempotent, heartbeatTimeoutMs, timeoutMs } = tool;
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
  };
}

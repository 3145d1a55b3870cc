import { definitionDigest } from '../core/base/digest.ts';
import type { ToolDefinition } from '../core/base/tool-call.ts';
import { isAgent, isTool, type Agent, type Tool } from './definitions.ts';
import { DefinitionError } from './check-options.ts';
import { handoffTools } from './agent-tool.ts';
import { nameUsedTwice } from './define-agent.ts';
import { OpenToolsets } from './define-toolset.ts';
import { nfc } from '../core/base/text.ts';
import { isObject } from '../core/base/json.ts';
import type { KnownNames } from '../policy-file/lint-names.ts';

/** The agents and tools of a worker. A look-up finds only what was defined, even for a name like `toString`. */
export interface Registry {
  readonly agents: readonly Agent[];
  readonly tools: readonly Tool[];
  /** Finds an agent; the name need not be in NFC. */
  agent(name: string): Agent | undefined;
  /** Returns all tools of a known agent, including its handoff tools. */
  toolsOf(agent: Agent): readonly Tool[];
  tool(name: string): Tool | undefined;
  readonly toolsets: OpenToolsets;
}

/**
 * Collects the given agents, the agents that these call or hand over to, the tools of all of them, and the tools of
 * custom workflows. Throws a `DefinitionError` if one name stands for two different things.
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
  const twice = nameUsedTwice(input.agents);
  if (twice !== undefined) throw usedTwice(twice);
  const toolsOf = new Map<Agent, readonly Tool[]>();
  const addAgent = (agent: Agent): void => {
    // Agents may hand over to each other, so a known one ends the recursion.
    if (toolsOf.has(agent)) return;
    if (agents.has(agent.name)) throw usedTwice(agent.name);
    agents.set(agent.name, agent);
    const own = [...agent.tools, ...handoffTools(agent)];
    toolsOf.set(agent, own);
    const taken = nameUsedTwice(own);
    if (taken !== undefined) throw new DefinitionError(`agent '${agent.name}': tool name '${taken}' is used twice`);
    own.forEach(addTool);
    for (const { agent: nested, handoff } of own) [nested, handoff].forEach((other) => other && addAgent(other));
  };
  input.agents.forEach(addAgent);
  const otherTools = input.tools ?? [];
  if (!Array.isArray(otherTools) || !otherTools.every(isTool) || otherTools.some(({ agent }) => agent !== undefined)) {
    throw new DefinitionError('tools must be a list of what defineTool returned');
  }
  otherTools.forEach(addTool);
  const toolsets = new OpenToolsets([...agents.values()].flatMap((agent) => agent.toolsets));
  for (const name of tools.keys()) {
    if (toolsets.owns(name)) throw new DefinitionError(`tool name '${name}' belongs to a toolset; rename one`);
  }

  return {
    agents: [...agents.values()],
    tools: [...tools.values()],
    agent: (name) => agents.get(nfc(name)),
    tool: (name) => tools.get(name),
    toolsOf: (agent) => toolsOf.get(agent) ?? agent.tools,
    toolsets,
  };
}

/** True if both tools call or hand over to the same agent in the same way: several agents may each have created one. */
function isSameAgent(one: Tool, other: Tool): boolean {
  const target = one.agent ?? one.handoff;
  return (
    target !== undefined &&
    target === (other.agent ?? other.handoff) &&
    one.description === other.description &&
    one.risk === other.risk
  );
}

/** The tool definition that a run records when it starts (I12). */
export function definitionOf(tool: Tool): ToolDefinition {
  const { name, description, schema, risk, subject, shellSubject, beside, pinned } = tool;
  const { show, idempotent, heartbeatTimeoutMs, timeoutMs, previewTimeoutMs, bind, cache, agent, handoff } = tool;
  return {
    name,
    description,
    schema,
    risk,
    subject,
    shellSubject,
    beside,
    show,
    idempotent,
    heartbeatTimeoutMs,
    timeoutMs,
    previewTimeoutMs,
    bind,
    ...(tool.reconcile !== undefined && { reconciles: true as const }),
    cache,
    definition: definitionDigest({ name, description, schema, pinned }),
    agent: agent?.name,
    handoff: handoff?.name,
  };
}

/** False for a tool that calls an agent or hands over to one: a workflow runs these without an activity. */
export function isActivity({ agent, handoff }: Pick<Tool, 'agent' | 'handoff'>): boolean {
  return agent === undefined && handoff === undefined;
}

/** Returns the names that a policy may use: of tools, gated activities and agents, and of known arguments. */
export function knownNames(
  { agents, tools, toolsets }: Registry,
  gated: ReadonlyMap<string, ToolDefinition>,
): KnownNames {
  const all = [...tools.map(definitionOf), ...gated.values()];
  return {
    tools: new Map(all.map((definition) => [definition.name, argumentsOf(definition)])),
    required: new Map(all.map((definition) => [definition.name, requiredOf(definition)])),
    prefixes: toolsets.prefixes,
    agents: agents.map(({ name }) => name),
  };
}

/** Returns the names of the arguments, or undefined if the schema admits further ones. */
function argumentsOf({ schema }: ToolDefinition): string[] | undefined {
  const { properties, additionalProperties = false } = schema;
  return isObject(properties) && additionalProperties === false ? Object.keys(properties) : undefined;
}

function requiredOf({ schema: { required } }: ToolDefinition): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}

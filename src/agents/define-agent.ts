import type { LanguageModelV4 } from '@ai-sdk/provider';
import { checkOptions, checkPositiveInteger } from './check-options.ts';
import { type Agent, agentMark, isAgent, isTool, type Tool } from './definitions.ts';
import { DefinitionError } from './definition-error.ts';
import { checkModelCall, type ModelCallOptions } from './model-call.ts';
import { nfc } from '../core/base/normal-text.ts';

/** Options of `defineAgent`. `name`, `instructions` and `model` are required. */
export interface AgentOptions {
  /** 1 to 64 characters, kept in NFC; policies and runs name the agent by it. */
  name: string;
  /** The system prompt; recorded in each run at its start. */
  instructions: string;
  /** Any model that implements the interface of `@ai-sdk/provider`, version 4. */
  model: LanguageModelV4;
  /** The agent's purpose. The models of agents that call it or hand over to it see this text. */
  description?: string;
  /** Default: none. `agentTool(other)` makes another agent a tool. */
  tools?: readonly Tool[];
  /**
   * Agents that a run of this agent can be handed over to, each by a tool `transfer_to_NAME` of risk `read_only`. From
   * the next turn on the run continues with the other agent's instructions, tools and policy, and the same transcript.
   * Use a function if agents hand over to each other; it is called when the worker is created. Default: none.
   */
  handoffs?: readonly Agent[] | (() => readonly Agent[]);
  /**
   * The text of a policy file (YAML or JSON), or the document as an object. It can only tighten the operator's ceiling.
   */
  policy?: string | object;
  /** The most model calls in a run that starts with this agent. Default 50. */
  maxTurns?: number;
  /** How the model is called: streaming, settings such as `temperature`, time-outs and attempts. */
  modelCall?: ModelCallOptions;
}

export const defaultMaxTurns = 50;
const mostTurns = 100_000;

const optionNames = [
  'name',
  'instructions',
  'model',
  'description',
  'tools',
  'handoffs',
  'policy',
  'maxTurns',
  'modelCall',
] as const satisfies (keyof AgentOptions)[];

/**
 * Declares an agent: instructions, a model, and the tools that the model may call. A worker runs it (`createWorker`), and
 * a client starts it by its name. Throws a `DefinitionError`, one sentence, for invalid options.
 *
 * @example
 * ```ts
 * import { defineAgent, openAICompatible } from 'countersign';
 *
 * const support = defineAgent({
 *   name: 'support',
 *   instructions: 'You help customers with their orders.',
 *   model: openAICompatible({ baseURL: 'http://127.0.0.1:11434/v1', model: 'llama3.3' }),
 *   policy: 'rules: [{ pattern: refund, action: ask }]',
 *   maxTurns: 20,
 * });
 * console.log(support.name, support.maxTurns); // support 20
 * ```
 */
export function defineAgent(options: AgentOptions): Agent {
  checkOptions('defineAgent', options, optionNames);
  const { name, instructions, model, description, tools = [], handoffs = [], policy } = options;
  const { maxTurns = defaultMaxTurns, modelCall } = options;
  checkAgentName(name);
  const place = `agent '${name}'`;
  if (typeof instructions !== 'string') throw new DefinitionError(`${place}: instructions must be text`);
  checkModel(place, model, modelCall?.stream);
  if (Object.values(tools ?? {}).some(isAiSdkTool)) {
    throw new DefinitionError(
      `${place}: tools of the AI SDK pass no gate: declare each with defineTool({ name, description, input, execute }), with its inputSchema as input`,
    );
  }
  if (!Array.isArray(tools) || !tools.every(isTool)) {
    throw new DefinitionError(`${place}: tools must be a list of what defineTool or agentTool returned`);
  }
  const names = tools.map((tool: Tool) => tool.name);
  const twice = names.find((each, index) => names.indexOf(each) !== index);
  if (twice !== undefined) throw new DefinitionError(`${place}: tool name '${twice}' is used twice`);
  if (description !== undefined && typeof description !== 'string') {
    throw new DefinitionError(`${place}: description must be text`);
  }
  if (typeof handoffs !== 'function' && (!Array.isArray(handoffs) || !handoffs.every(isAgent))) {
    throw new DefinitionError(`${place}: handoffs must be a list of what defineAgent returned`);
  }
  if (policy !== undefined && typeof policy !== 'string' && (typeof policy !== 'object' || policy === null)) {
    throw new DefinitionError(`${place}: policy must be the text of a policy file or an object`);
  }
  checkPositiveInteger(`${place}: maxTurns`, maxTurns, mostTurns);
  if (modelCall !== undefined) checkModelCall(`${place}: modelCall`, modelCall);
  // Options that were not given are absent, also where somebody prints the agent.
  return Object.freeze({
    [agentMark]: true as const,
    name: nfc(name),
    instructions,
    model,
    ...(description === undefined ? {} : { description }),
    tools: Object.freeze([...tools]),
    handoffs: typeof handoffs === 'function' ? handoffs : () => handoffs,
    ...(policy === undefined ? {} : { policy }),
    maxTurns,
    ...(modelCall === undefined ? {} : { modelCall: Object.freeze({ ...modelCall }) }),
  });
}

/** True for what `tool` of the AI SDK returns. */
function isAiSdkTool(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'inputSchema' in value;
}

function checkAgentName(name: unknown): void {
  if (typeof name !== 'string' || name.length > 64 || !/^[^\s\p{C}](?:[^\p{C}\p{Zl}\p{Zp}]*[^\s\p{C}])?$/u.test(name)) {
    throw new DefinitionError(
      'agent name: expected 1 to 64 visible characters on one line, without blanks at either end',
    );
  }
}

function checkModel(place: string, model: unknown, stream: ModelCallOptions['stream']): void {
  const shape = (typeof model === 'object' && model !== null ? model : {}) as Record<keyof LanguageModelV4, unknown>;
  if (shape.specificationVersion !== 'v4') {
    const found = typeof shape.specificationVersion === 'string' ? ` (found '${shape.specificationVersion}')` : '';
    throw new DefinitionError(
      `${place}: model must implement version 'v4' of the model interface of @ai-sdk/provider${found}, such as openAICompatible({ … })`,
    );
  }
  if (typeof shape.doStream !== 'function' && typeof shape.doGenerate !== 'function') {
    throw new DefinitionError(`${place}: model has neither doStream nor doGenerate`);
  }
  const needed = stream === 'on' ? 'doStream' : stream === 'off' ? 'doGenerate' : undefined;
  if (needed !== undefined && typeof shape[needed] !== 'function') {
    throw new DefinitionError(`${place}: modelCall.stream is '${stream}', and model has no ${needed}`);
  }
}

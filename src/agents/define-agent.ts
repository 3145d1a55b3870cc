import type { LanguageModelV4 } from '@ai-sdk/provider';
import { checkOptions, checkPositiveInteger, DefinitionError, type Fail, failAt } from './check-options.ts';
import type { Agent, CheckContext, Tool, Toolset, Verdict } from './definitions.ts';
import { agentMark, isAgent, isTool, isToolset } from './definitions.ts';
import { checkModelCall, type ModelCallOptions } from './model-call.ts';
import { jsonSchemaOf, type ToolSchema } from './tool-schema.ts';
import type { Message } from '../contract.ts';
import { nfc } from '../core/base/text.ts';
import { isMediaType, mostFiles, type TakenFiles } from '../core/base/user-files.ts';
import { storedLimits } from '../core/base/size-limits.ts';

/** Options of `defineAgent`. `name`, `instructions` and `model` are required. */
export interface AgentOptions {
  /** The name by which policies and runs refer to the agent: 1 to 64 characters, stored in NFC. */
  name: string;
  /** The system prompt. Each run records it when it starts. */
  instructions: string;
  /** Any model that implements the interface of `@ai-sdk/provider`, version 4. */
  model: LanguageModelV4;
  /** The agent's purpose. Agents that call this one or hand over to it give this text to their model. */
  description?: string;
  /** Tools, agents as tools (`agentTool`), and toolsets, whose tools a run records when it starts. Default: none. */
  tools?: readonly (Tool | Toolset)[];
  /** More toolsets, for options that spread another agent, whose toolsets are here. Default: none. */
  toolsets?: readonly Toolset[];
  /**
   * Agents that can take over a run of this agent, each by a tool `transfer_to_NAME` of risk `read_only`. From the next
   * turn on, the run has their instructions, tools and policy, and keeps its transcript. Use a function if agents hand
   * over to each other; the worker calls it when it is created. Default: none.
   */
  handoffs?: readonly Agent[] | (() => readonly Agent[]);
  /** The text of a policy file, or its content as an object. It can only restrict the operator's ceiling further. */
  policy?: string | object;
  /** The most model calls in a run that starts with this agent. Default 50. */
  maxTurns?: number;
  /** How the model is called: streaming, settings such as `temperature`, time-outs and attempts. */
  modelCall?: ModelCallOptions;
  /** The files that a user may send. Default: none, and a message with a file is refused. */
  files?: FileOptions;
  /**
   * The schema of the final answer, an object, which the result of a run has as `structuredOutput`. If an answer does
   * not match, the model is asked again, at most twice. Default: a run ends with any text.
   */
  output?: ToolSchema;
  /**
   * A function that runs before each call of the model, with a copy of the transcript. If it returns a text, the model
   * is not called, and the run fails as `input_refused` with that text as reason; in a session only the turn fails. If
   * it throws, takes over 30 seconds or returns something else, it is tried up to five times, then the run fails as
   * `check_failed`. Default: no check.
   */
  checkInput?: (messages: Message[], context: CheckContext) => Verdict;
}

const defaultMaxTurns = 50;
const mostTurns = 100_000;

const modelOptions = ['name', 'instructions', 'model', 'description'] as const;
const toolOptions = ['tools', 'toolsets', 'handoffs', 'policy'] as const;
const runOptions = ['maxTurns', 'modelCall', 'files', 'output', 'checkInput'] as const;
const optionNames = [...modelOptions, ...toolOptions, ...runOptions] satisfies (keyof AgentOptions)[];

/** Members of an `Agent` that are not options. They are accepted, so that options may contain `...agent`. */
const derivedNames = ['outputSchema'] as const satisfies Exclude<keyof Agent, keyof AgentOptions>[];

/**
 * Declares an agent: instructions, a model, and the tools that the model may call. A worker runs it (`createWorker`),
 * and a client starts it by its name. Throws a `DefinitionError`, one sentence, for invalid options.
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
  checkOptions('defineAgent', options, [...optionNames, ...derivedNames], `known are ${optionNames.join(', ')}`);
  const { name, instructions, model, description, tools = [], toolsets: more = [], handoffs = [], policy } = options;
  const { maxTurns = defaultMaxTurns, modelCall, files, output, checkInput } = options;
  checkAgentName(name);
  const place = `agent '${name}'`;
  const fail: Fail = failAt(place);
  if (typeof instructions !== 'string') fail('instructions must be text');
  checkModel(place, model, modelCall?.stream);
  const { ownTools, toolsets } = partedTools(fail, tools, more);
  if (description !== undefined && typeof description !== 'string') fail('description must be text');
  if (typeof handoffs !== 'function' && (!Array.isArray(handoffs) || !handoffs.every(isAgent)))
    fail('handoffs must be a list of what defineAgent returned');
  if (policy !== undefined && typeof policy !== 'string' && (typeof policy !== 'object' || policy === null))
    fail('policy must be the text of a policy file or an object');
  checkPositiveInteger(`${place}: maxTurns`, maxTurns, mostTurns);
  if (modelCall !== undefined) checkModelCall(`${place}: modelCall`, modelCall);
  if (checkInput !== undefined && typeof checkInput !== 'function')
    fail('checkInput must be a function that returns why the input is refused, or undefined');
  const outputSchema = output === undefined ? undefined : jsonSchemaOf(`${place}: output`, output, 'output');
  // An option that was not given is absent from the result, so that a printed agent shows only what is set.
  return Object.freeze({
    [agentMark]: true as const,
    name: nfc(name),
    instructions,
    model,
    ...(description === undefined ? {} : { description }),
    tools: Object.freeze(ownTools),
    toolsets: Object.freeze(toolsets),
    handoffs: typeof handoffs === 'function' ? handoffs : () => handoffs,
    ...(policy === undefined ? {} : { policy }),
    maxTurns,
    ...(modelCall === undefined ? {} : { modelCall: Object.freeze({ ...modelCall }) }),
    ...(files === undefined ? {} : { files: takenFiles(`${place}: files`, files) }),
    ...(outputSchema === undefined ? {} : { output, outputSchema }),
    ...(checkInput === undefined ? {} : { checkInput }),
  });
}

/** Validates the options `tools` and `toolsets` (`more`), and parts the tools from the toolsets. */
function partedTools(fail: Fail, tools: readonly (Tool | Toolset)[], more: readonly Toolset[]) {
  // The AI SDK takes an object of tools by name.
  if (Object.values(tools ?? {}).some(isAiSdkTool))
    fail(
      'tools of the AI SDK pass no gate: declare each with defineTool({ name, description, input, execute }), with its inputSchema as input',
    );
  if (!Array.isArray(tools) || !tools.every((each) => isTool(each) || isToolset(each)))
    fail('tools must be a list of what defineTool, agentTool, defineToolset or mcpServer returned');
  if (!Array.isArray(more) || !more.every(isToolset))
    fail('toolsets must be a list of what defineToolset or mcpServer returned');
  const ownTools: Tool[] = tools.filter(isTool);
  const toolsets: Toolset[] = [...tools.filter(isToolset), ...more];
  const tool = nameUsedTwice(ownTools);
  if (tool !== undefined) fail(`tool name '${tool}' is used twice`);
  const toolset = nameUsedTwice(toolsets);
  if (toolset !== undefined) fail(`toolset name '${toolset}' is used twice`);
  return { ownTools, toolsets };
}

export function nameUsedTwice(named: readonly { name: string }[]): string | undefined {
  const names = named.map(({ name }) => name);
  return names.find((each, index) => names.indexOf(each) !== index);
}

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

/** Throws a `DefinitionError` unless `model` is of version 4 and has a method to call, or the one for `stream`. */
export function checkModel(place: string, model: unknown, stream?: ModelCallOptions['stream']): void {
  const shape = (typeof model === 'object' && model !== null ? model : {}) as Record<keyof LanguageModelV4, unknown>;
  const fail: Fail = failAt(place);
  if (shape.specificationVersion !== 'v4') {
    const found = typeof shape.specificationVersion === 'string' ? ` (found '${shape.specificationVersion}')` : '';
    fail(
      `model must implement version 'v4' of the model interface of @ai-sdk/provider${found}, such as openAICompatible({ … })`,
    );
  }
  if (typeof shape.doStream !== 'function' && typeof shape.doGenerate !== 'function')
    fail('model has neither doStream nor doGenerate');
  const needed = stream === 'on' ? 'doStream' : stream === 'off' ? 'doGenerate' : undefined;
  if (needed !== undefined && typeof shape[needed] !== 'function')
    fail(`modelCall.stream is '${stream}', and model has no ${needed}`);
}

/** The option `files` of `defineAgent`: which files the agent accepts from users. Only `types` is required. */
export interface FileOptions {
  /** Media types, such as `['image/png', 'application/pdf']`. */
  types: readonly string[];
  /**
   * The most bytes of one file that is sent as data. Default and maximum 4,000,000. In sum, the files of one message
   * may have 700,000 bytes, or 4,000,000 if the worker has `largePayloads`.
   */
  maxBytes?: number;
  /** The most files of one message. Default 10, at most 20. */
  maxFiles?: number;
  /**
   * Hosts from which users may name files by an https address: `files.example.com`, `*.example.com` for all hosts
   * below, or `*`. The model's provider fetches the file, never the worker. Default: none.
   */
  hosts?: readonly string[];
}

const defaultMaxFiles = 10;
const hostShape = /^(?:\*|(?:\*\.)?[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,10})$/;

/** Reads the option `files`, with its defaults. Throws a `DefinitionError` for wrong values. */
function takenFiles(place: string, options: FileOptions): TakenFiles {
  checkOptions(place, options, ['types', 'maxBytes', 'maxFiles', 'hosts']);
  const fail: Fail = failAt(place);
  const { types, maxBytes = storedLimits.fileBytes, maxFiles = defaultMaxFiles, hosts = [] } = options;
  if (!Array.isArray(types) || types.length === 0 || !types.every(isMediaType))
    fail(`types must be a list of media types, such as ['image/png', 'application/pdf']`);
  checkPositiveInteger(`${place}: maxBytes`, maxBytes, storedLimits.fileBytes);
  checkPositiveInteger(`${place}: maxFiles`, maxFiles, mostFiles);
  if (!Array.isArray(hosts) || !hosts.every((each) => typeof each === 'string' && hostShape.test(each)))
    fail(`hosts must be a list of host names in lower case, such as ['files.example.com', '*.example.org']`);
  return Object.freeze({ types: Object.freeze([...types]), maxBytes, maxFiles, hosts: Object.freeze([...hosts]) });
}

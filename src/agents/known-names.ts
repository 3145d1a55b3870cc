import { isObject } from '../core/base/json.ts';
import type { ToolDefinition } from '../core/base/tool-call.ts';
import type { KnownNames } from '../policy-file/lint-names.ts';
import { definitionOf, type Registry } from './registry.ts';

/** The names of a worker's tools, gated activities and agents, and of their arguments where those are listed. */
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

/** Undefined if a call may bring others. */
function argumentsOf({ schema }: ToolDefinition): string[] | undefined {
  const { properties, additionalProperties = false } = schema;
  return isObject(properties) && additionalProperties === false ? Object.keys(properties) : undefined;
}

function requiredOf({ schema: { required } }: ToolDefinition): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}

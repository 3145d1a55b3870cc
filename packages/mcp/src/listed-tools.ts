import { defineTool, type JsonObject, riskFromMcpHints, type Tool, type ToolContext } from 'countersign';
import { escapeText, shortened } from 'countersign/base';
import { definitionDigest } from 'countersign/json';
import { argumentSchema } from './argument-schema.ts';
import { toolName } from './tool-result.ts';

/** A tool as the MCP client returns it. The client has checked its shape, but its texts are the server's. */
export interface ListedTool {
  name: string;
  description?: string;
  inputSchema: object;
  annotations?: object;
}

export interface ToolSettings {
  server: string;
  /** The only tools to offer, by the server's own names. */
  tools?: readonly string[];
  trusted: boolean;
  /** The timeout of the tool's activity in milliseconds: for the call, and for what the worker does around the call. */
  attemptMs: number;
  call: (tool: string, args: object, context: ToolContext) => Promise<unknown>;
}

const longestDefinition = 64_000;
/** The most characters of all definitions of a server. A run records them in one payload of at most a megabyte. */
const longestList = 300_000;
const mostTools = 200;
const longestShown = 80;

/** Converts the tools of a server to tools of agents. Leaves out unusable ones, with a sentence about each. */
export function listedTools(
  listed: readonly ListedTool[],
  settings: ToolSettings,
): { tools: Tool[]; leftOut: string[] } {
  const { server, tools: wanted } = settings;
  const offered = listed.filter(({ name }) => wanted === undefined || wanted.includes(name));
  const candidates = offered.slice(0, mostTools);
  const shared = sharedNames(candidates, server);
  const tools: Tool[] = [];
  const leftOut = (wanted ?? [])
    .filter((name) => !listed.some((tool) => tool.name === name))
    .map((name) => `MCP server '${server}' has no tool ${quotedName(name)}`);
  let length = 0;
  for (const tool of candidates) {
    const size = definitionLength(tool);
    const nameProblem = shared.has(toolName(server, tool.name)) ? 'another one gets the same name' : undefined;
    const converted = lengthProblem(size, length) ?? nameProblem ?? convertedTool(tool, settings);
    if (typeof converted === 'string') {
      leftOut.push(`tool ${quotedName(tool.name)} of MCP server '${server}' is not offered: ${converted}`);
    } else {
      tools.push(converted);
      length += size;
    }
  }
  if (offered.length > mostTools) {
    leftOut.push(`MCP server '${server}' lists ${offered.length} tools: only the first ${mostTools} are offered`);
  }
  return { tools, leftOut };
}

/** Returns the names that `toolName` gives to more than one tool: it replaces characters, so two names can coincide. */
function sharedNames(tools: readonly ListedTool[], server: string): Set<string> {
  const names = tools.map(({ name }) => toolName(server, name));
  return new Set(names.filter((name, index) => names.indexOf(name) < index));
}

/** Returns why a definition is too long, by itself or after the `earlier` characters of the tools before it. */
function lengthProblem(size: number, earlier: number): string | undefined {
  if (size > longestDefinition) return `its definition has more than ${longestDefinition} characters`;
  return earlier + size > longestList ? `all definitions have more than ${longestList} characters` : undefined;
}

/** Returns the characters of a definition as JSON; infinite if it is nested too deeply for `JSON.stringify`. */
function definitionLength(tool: ListedTool): number {
  const { name, description = '', inputSchema, annotations } = tool;
  try {
    return JSON.stringify({ name, description, inputSchema, annotations }).length;
  } catch {
    return Infinity;
  }
}

/** Converts a tool of a server to a tool of agents. If its schema is unusable, returns the reason as a clause. */
function convertedTool(tool: ListedTool, { server, trusted, attemptMs, call }: ToolSettings): Tool | string {
  const { name, description = '', inputSchema, annotations } = tool;
  const pinned = { tool: name, ...(annotations !== undefined && { annotations: annotations as JsonObject }) };
  try {
    const converted = defineTool({
      name: toolName(server, name),
      description,
      input: argumentSchema(inputSchema as JsonObject),
      risk: riskFromMcpHints(annotations, trusted),
      pinned,
      timeoutMs: attemptMs,
      execute: (args, context) => call(name, args, context),
    });
    // A run needs the digest of each tool. This call throws now if the definition nests too deep for a digest.
    definitionDigest({ name, description, schema: converted.schema, pinned });
    return converted;
  } catch {
    // The error's own message is not used, because it may quote texts of the server.
    return 'its schema is no JSON Schema of an object, or nests too deep';
  }
}

function quotedName(name: string): string {
  return `'${escapeText(shortened(name, longestShown))}'`;
}

import { defineTool, type JsonObject, riskFromMcpHints, type Tool, type ToolContext } from 'countersign';
import { escapeText, shortened } from 'countersign/base';
import { definitionDigest } from 'countersign/json';
import { argumentSchema } from './argument-schema.ts';
import { toolName } from './tool-result.ts';

/** A tool as the client returns it: its shape is valid, and the server wrote its texts. */
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
  /** The longest time of one attempt, with all work of the worker around it, in milliseconds. */
  attemptMs: number;
  call: (tool: string, args: object, context: ToolContext) => Promise<unknown>;
}

const longestDefinition = 64_000;
/** The most characters of all definitions of a server. A run records them, and has room for one megabyte. */
const longestList = 300_000;
const mostTools = 200;
const longestShown = 80;

/** Converts the tools of a server. Leaves out those that cannot be used, with a sentence about each. */
export function listedTools(
  listed: readonly ListedTool[],
  settings: ToolSettings,
): { tools: Tool[]; leftOut: string[] } {
  const { server, tools: wanted } = settings;
  const offered = listed.filter(({ name }) => wanted === undefined || wanted.includes(name));
  const names = new Map<string, number>();
  for (const { name } of offered.slice(0, mostTools)) {
    const given = toolName(server, name);
    names.set(given, (names.get(given) ?? 0) + 1);
  }
  const tools: Tool[] = [];
  const leftOut = (wanted ?? [])
    .filter((name) => !listed.some((each) => each.name === name))
    .map((name) => `MCP server '${server}' has no tool ${quotedName(name)}`);
  const leaveOut = (name: string, why: string): void => {
    leftOut.push(`tool ${quotedName(name)} of MCP server '${server}' is not offered: ${why}`);
  };
  let length = 0;
  for (const tool of offered.slice(0, mostTools)) {
    const size = lengthOf(tool);
    if (size > longestDefinition) leaveOut(tool.name, `its definition has more than ${longestDefinition} characters`);
    else if (length + size > longestList)
      leaveOut(tool.name, `all definitions have more than ${longestList} characters`);
    else if (names.get(toolName(server, tool.name))! > 1) leaveOut(tool.name, 'another one gets the same name');
    else {
      const made = madeTool(tool, settings);
      if (typeof made === 'string') leaveOut(tool.name, made);
      else {
        tools.push(made);
        length += size;
      }
    }
  }
  if (offered.length > mostTools) {
    leftOut.push(`MCP server '${server}' lists ${offered.length} tools: only the first ${mostTools} are offered`);
  }
  return { tools, leftOut };
}

/** Returns the characters of a definition as JSON; infinite if it is nested too deeply for `JSON.stringify`. */
function lengthOf(tool: ListedTool): number {
  const { name, description = '', inputSchema, annotations } = tool;
  try {
    return JSON.stringify({ name, description, inputSchema, annotations }).length;
  } catch {
    return Infinity;
  }
}

/** Converts a tool of a server to one that agents can call. Returns a clause if its schema is unusable. */
function madeTool(tool: ListedTool, { server, trusted, attemptMs, call }: ToolSettings): Tool | string {
  const { name, description = '', inputSchema, annotations } = tool;
  const pinned = { tool: name, ...(annotations !== undefined && { annotations: annotations as JsonObject }) };
  try {
    const made = defineTool({
      name: toolName(server, name),
      description,
      input: argumentSchema(inputSchema as JsonObject),
      risk: riskFromMcpHints(annotations, trusted),
      pinned,
      timeoutMs: attemptMs,
      execute: (args, context) => call(name, args, context),
    });
    // Its result is not needed: this throws for a definition that nests too deep for a digest.
    definitionDigest({ name, description, schema: made.schema, pinned });
    return made;
  } catch {
    // The message may quote texts of the server.
    return 'its schema is no JSON Schema of an object, or nests too deep';
  }
}

function quotedName(name: string): string {
  return `'${escapeText(shortened(name, longestShown))}'`;
}

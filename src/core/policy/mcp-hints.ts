import type { Risk } from '../base/tool-call.ts';

/** What an MCP server says of one of its tools; whatever it says may be wrong, missing or no truth value at all. */
export interface McpHints {
  readOnlyHint?: unknown;
  destructiveHint?: unknown;
}

/**
 * The risk of an MCP tool. On a server that the policy trusts its hints are believed: `readOnlyHint` makes it read_only,
 * `destructiveHint: false` write, all else destructive. On any other they can only raise it, from write on.
 */
export function riskFromMcpHints(hints: McpHints | null | undefined, trusted: boolean): Exclude<Risk, 'unknown'> {
  const { readOnlyHint, destructiveHint } = hints ?? {};
  if (!trusted) return destructiveHint === true ? 'destructive' : 'write';
  if (readOnlyHint === true) return 'read_only';
  return destructiveHint === false ? 'write' : 'destructive';
}

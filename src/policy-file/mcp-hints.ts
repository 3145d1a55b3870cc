import type { Risk } from '../core/base/tool-call.ts';

/** The hints that an MCP server declares about one of its tools. Values may be wrong, missing or not boolean. */
export interface McpHints {
  /** True: the tool changes nothing. */
  readOnlyHint?: unknown;
  /** False: the tool only adds, and destroys nothing. */
  destructiveHint?: unknown;
}

/**
 * The risk of an MCP tool. A trusted server's `readOnlyHint` gives `read_only`, its `destructiveHint: false` gives
 * `write`, all else `destructive`. Hints of another server can only raise the risk, from `write` to `destructive`.
 *
 * @example
 * ```ts
 * import { riskFromMcpHints } from 'countersign';
 *
 * const listed = { name: 'search', annotations: { readOnlyHint: true } };
 * console.log(riskFromMcpHints(listed.annotations, true)); // read_only
 * console.log(riskFromMcpHints(listed.annotations, false)); // write
 * ```
 */
export function riskFromMcpHints(hints: McpHints | null | undefined, trusted: boolean): Exclude<Risk, 'unknown'> {
  const { readOnlyHint, destructiveHint } = hints ?? {};
  if (!trusted) return destructiveHint === true ? 'destructive' : 'write';
  if (readOnlyHint === true) return 'read_only';
  return destructiveHint === false ? 'write' : 'destructive';
}

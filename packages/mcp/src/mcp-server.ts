import { defineToolset, type Toolset } from 'countersign';
import { checkServerOptions, type McpServerOptions } from './server-options.ts';
import { ServerTools } from './server-tools.ts';

/**
 * The tools of an MCP server, for the `tools` of an agent. Each call of them passes the gate as a call of any other tool.
 * Nothing is started or reached before a run needs it; each worker has its own process or session, restarts it when it
 * fails, and ends it when the worker ends. Throws a `DefinitionError`, one sentence, for invalid options.
 *
 * @example
 * ```ts
 * import { defineAgent, scriptedModel } from 'countersign';
 * import { mcpServer } from '@countersign/mcp';
 *
 * const files = mcpServer({ name: 'files', command: 'mcp-server-filesystem', args: ['/srv/reports'] });
 * const clerk = defineAgent({
 *   name: 'clerk',
 *   instructions: 'You keep the reports in order.',
 *   model: scriptedModel([]),
 *   tools: [files],
 *   policy: 'rules: [{ pattern: files__write_file, action: ask }, { pattern: "files__read_*", action: allow }]',
 * });
 * console.log(clerk.toolsets.map(({ name }) => name)); // [ 'files' ]
 * ```
 */
export function mcpServer(options: McpServerOptions): Toolset {
  checkServerOptions(options);
  const { name } = options;
  return defineToolset({ name, open: () => new ServerTools(options) });
}

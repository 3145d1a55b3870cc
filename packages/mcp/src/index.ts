/** The tools of MCP servers in agents. */
// Re-exports only.
export { mcpServer } from './mcp-server.ts';
export type { HttpServer, McpServerOptions, ServerOptions, StdioServer } from './server-options.ts';

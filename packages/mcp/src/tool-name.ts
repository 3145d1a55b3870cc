import { createHash } from 'node:crypto';

const longestName = 64;
const hashDigits = 8;

/**
 * The name under which an agent has a server's tool: `SERVER__TOOL`. Characters that no tool name may have become `_`. A name
 * that is too long is cut, and ends with `_` and the beginning of the SHA-256 of the tool's own name.
 */
export function toolName(server: string, tool: string): string {
  const name = `${server}__${tool.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`;
  if (name.length <= longestName) return name;
  const hash = createHash('sha256').update(tool).digest('hex').slice(0, hashDigits);
  return `${name.slice(0, longestName - hashDigits - 1)}_${hash}`;
}

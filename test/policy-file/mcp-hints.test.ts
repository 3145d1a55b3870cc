import { expect, test } from 'vitest';
import { riskFromMcpHints, type McpHints } from '../../src/policy-file/mcp-hints.ts';
import type { Risk } from '../../src/core/base/tool-call.ts';

test.each<[McpHints | null | undefined, Risk, Risk]>([
  [undefined, 'destructive', 'write'],
  [null, 'destructive', 'write'],
  [{}, 'destructive', 'write'],
  [{ readOnlyHint: true }, 'read_only', 'write'],
  [{ readOnlyHint: false }, 'destructive', 'write'],
  [{ destructiveHint: false }, 'write', 'write'],
  [{ destructiveHint: true }, 'destructive', 'destructive'],
  [{ readOnlyHint: false, destructiveHint: false }, 'write', 'write'],
  [{ readOnlyHint: true, destructiveHint: true }, 'read_only', 'destructive'],
  [{ readOnlyHint: 'true', destructiveHint: 'false' }, 'destructive', 'write'],
])('%j: %s on a trusted server, %s on any other', (hints, trusted, other) => {
  expect(riskFromMcpHints(hints, true)).toBe(trusted);
  expect(riskFromMcpHints(hints, false)).toBe(other);
});

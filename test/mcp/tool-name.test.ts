import { expect, test } from 'vitest';
import { toolName } from '../../packages/mcp/src/tool-result.ts';

test.each([
  ['read_file', 'files__read_file'],
  ['read-file', 'files__read-file'],
  ['read.file/2 now', 'files__read_file_2_now'],
  ['läs', 'files__l_s'],
  ['x'.repeat(57), `files__${'x'.repeat(57)}`],
  ['x'.repeat(58), `files__${'x'.repeat(48)}_5ef8b2e5`],
])('%j becomes %j', (tool, name) => {
  expect(toolName('files', tool)).toBe(name);
  expect(name.length).toBeLessThanOrEqual(64);
});

test('long names that begin alike stay apart', () => {
  const names = ['a', 'b'].map((end) => toolName('files', `${'x'.repeat(100)}${end}`));
  expect(new Set(names).size).toBe(2);
});

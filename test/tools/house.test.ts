import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

interface Report {
  all: { lines: number; files: number };
  rooms: { room: string; lines: number }[];
  cycles: string[][];
}

/** The linter finds cycles of plain imports; this one also follows `import()`, behind which types lead back. */
test('no files import one another, types and import() included', () => {
  const root = new URL('../..', import.meta.url);
  const report = JSON.parse(
    execFileSync(process.execPath, ['tools/house.ts', '--json'], { cwd: root, encoding: 'utf8' }),
  ) as Report;
  expect(report.cycles).toEqual([]);
  expect(report.rooms.map(({ room }) => room)).toContain('core/policy');
  expect(report.rooms.reduce((sum, { lines }) => sum + lines, 0)).toBe(report.all.lines);
});

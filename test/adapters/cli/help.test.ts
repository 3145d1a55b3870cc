import { describe, expect, test } from '@jest/globals';
import type { Command } from 'commander';
import { createProgram } from '../../../src/adapters/cli/program.ts';
import { simpleCommands } from '../../support/page-commands.ts';
import { countersignProblem } from '../../support/parse-countersign.ts';
import { parseCli } from './support.ts';

const program = createProgram();

/** The words that lead to each command that help shows, groups and the program itself included. */
function pathsOf(command: Command, path: string[] = []): string[][] {
  const visible = command
    .createHelp()
    .visibleCommands(command)
    .filter((each) => each.name() !== 'help');
  return [path, ...visible.flatMap((each) => pathsOf(each, [...path, each.name()]))];
}

const paths = pathsOf(program);
const isGroup = (path: string[]): boolean => paths.some((each) => each.length > path.length && each[0] === path[0]);

test('the walk finds commands, groups and subcommands', () => {
  const named = paths.map((path) => path.join(' '));
  expect(named).toEqual(expect.arrayContaining(['', 'server', 'approvals', 'approvals list', 'grants revoke']));
  expect(named.length).toBeGreaterThan(25);
});

describe.each(paths.map((path): [string, string[]] => [['countersign', ...path].join(' '), path]))(
  '%s',
  (name, path) => {
    test('--help shows its usage, its flags and examples that the program accepts', async () => {
      const { code, stdout, stderr } = await parseCli([...path, '--help']);
      expect([code, stderr, stdout.split('\n')[0]]).toEqual([0, '', expect.stringContaining(`Usage: ${name} `)]);
      if (!isGroup(path) && path.length > 0)
        for (const flag of ['--json', '--address', '--namespace', '--debug']) expect(stdout).toContain(flag);

      const lines = /^Examples:\n((?: {2}.+\n)+)/m.exec(stdout)?.[1]?.trim().split(/\n */) ?? [];
      expect(lines).not.toEqual([]);
      for (const line of lines) {
        const ours = simpleCommands(line).filter(([word]) => word === 'countersign');
        expect(ours).toHaveLength(1);
        expect([line, await countersignProblem(ours[0]!.slice(1), true)]).toEqual([line, undefined]);
        expect(`${line} `).toContain(`${path[0] === undefined ? 'countersign' : `countersign ${path[0]}`} `);
      }
    });
  },
);

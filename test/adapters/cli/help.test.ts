import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { Command } from 'commander';
import { createProgram } from '../../../packages/cli/src/run-command-line.ts';
import { simpleCommands } from '../../support/page-commands.ts';
import { countersignProblem } from './parse-countersign.ts';
import { cli } from './support.ts';

const program = await createProgram();

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

test('--help loads the list of commands and none of them', () => {
  const hooks = `import { registerHooks } from 'node:module';
    const load = (url, context, next) => (console.error(url), next(url, context));
    registerHooks({ load });`;
  const main = fileURLToPath(new URL('../../../packages/cli/src/main.ts', import.meta.url));
  const options = ['--import', `data:text/javascript,${encodeURIComponent(hooks)}`, main, '--help'];
  const { status, stderr } = spawnSync(process.execPath, options, {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const loaded = stderr.split('\n').filter((line) => line.startsWith('file:'));
  expect(status).toBe(0);
  expect(loaded.filter((url) => url.includes('/commander/'))).not.toEqual([]);
  const inOrder = loaded.filter((url) => url.includes('/src/')).map((url) => url.replace(/^.*\/src\//, ''));
  expect(inOrder).toEqual(expect.arrayContaining(['main.ts', 'commands.ts']));
  expect(inOrder.filter((file) => /command-line|approve|client/.test(file))).toEqual(['run-command-line.ts']);
});

describe.each(paths.map((path): [string, string[]] => [['countersign', ...path].join(' '), path]))(
  '%s',
  (name, path) => {
    test('--help shows its usage, its flags and examples that the program accepts', async () => {
      const { code, stdout, stderr } = await cli([...path, '--help']);
      expect([code, stderr, stdout.split('\n')[0]]).toEqual([0, '', expect.stringContaining(`Usage: ${name} `)]);
      if (!isGroup(path) && path.length > 0)
        for (const flag of ['--json', '--namespace', '--debug']) expect(stdout).toContain(flag);
      // These two start a server of their own, and refuse an address.
      const hasServer = path[0] === 'server' || path[0] === 'dev';
      if (!isGroup(path) && path.length > 0)
        for (const flag of ['--address', '--tls']) expect([flag, stdout.includes(flag)]).toEqual([flag, !hasServer]);
      if (isGroup(path) && path.length > 0) expect(stdout).toMatch(/--json/);

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

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { commandsOf, flagsOf, type PageCommand, pages, readPage, simpleCommands } from '../../support/page-commands.ts';
import { countersignProblem } from '../../adapters/cli/parse-countersign.ts';
import { temporalProblem } from '../../support/temporal-cli.ts';

/**
 * Every command on every page is valid: the real `countersign` parses it, the real `temporal` parses it and finds no
 * server, npm has the script. Commands that these three cannot check are run by the test in the table.
 */

const readRoot = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const { scripts } = JSON.parse(readRoot('package.json')) as { scripts: Record<string, string> };

/** Lines of shell blocks that a test reads from the page and runs unchanged. */
const runBy: [page: string, line: RegExp, test: string][] = [
  ['README.md', /^alias countersign=/, 'test/e2e/examples/readme.test.ts'],
  ['docs/wire.md', /^(?:openssl (?:genpkey|pkey) |value=\$\(openssl |printf %s )/, 'test/core/messages/manual.test.ts'],
  ['docs/gateway.md', /^curl /, 'test/adapters/http/page.test.ts'],
  ['docs/encryption.md', /^node -p /, 'test/codec/encryption-codec.test.ts'],
  ['docs/wire.md', /^countersign (?:reviewer-key|approve .* --sign) /, 'test/adapters/cli/signer.test.ts'],
  ['docs/identity.md', /^(?:openssl rand|printf %s) /, 'test/adapters/http/identity/page.test.ts'],
  ['docs/webhook.md', /^echo "whsec_\$\(openssl rand /, 'test/adapters/webhook/signature.test.ts'],
  ['docs/web-push.md', /^npx web-push generate-vapid-keys/, 'test/adapters/web-push/page.test.ts'],
  ['docs/testing.md', /^NODE_OPTIONS=--experimental-vm-modules npx jest /, 'test/e2e/examples/jest.test.ts'],
  ['docs/gateway-events.md', /^curl /, 'test/adapters/http/gateway-events-page.test.ts'],
];

const all = pages().flatMap((page) => commandsOf(page));

/** Why the command fails for a reader who types it; undefined if it is accepted. */
async function problemOf({ page, line, isWhole }: PageCommand): Promise<string | undefined> {
  if (isWhole && runBy.some(([where, what]) => where === page && what.test(line))) return undefined;
  const commands = simpleCommands(line);
  if (commands.length === 0) return 'no command';
  for (const words of commands) {
    const problem = await problemOfOne(words, isWhole);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

async function problemOfOne([program = '', ...words]: string[], isWhole: boolean): Promise<string | undefined> {
  // An event id is a number.
  const given = words.map((word) => (word === 'EVENT' ? '7' : word));
  if (program === 'countersign') return countersignProblem(given, isWhole);
  if (program === 'temporal') return temporalProblem(given, isWhole);
  if (program === 'npx') return problemOfOne(words, isWhole);
  if (program === 'echo') return undefined;
  return program === 'npm' ? npmProblem(given) : `no test runs '${program}'`;
}

function npmProblem([command, script = '']: string[]): string | undefined {
  if (command === 'install' || command === 'pack' || command === 'test' || command === 'ls') return undefined;
  return command === 'run' && script in scripts ? undefined : `there is no script '${script}'`;
}

test('the pages have commands', () => {
  const has = (page: string): number => all.filter((each) => each.page === page && each.isWhole).length;
  expect([has('README.md'), has('docs/wire.md'), has('docs/operations.md')].every((count) => count > 0)).toBe(true);
  expect(all.length).toBeGreaterThan(50);
});

test.each(all.map((each): [string, string, PageCommand] => [each.page, each.line, each]))(
  '%s: %s',
  async (_page, _line, each) => {
    expect(await problemOf(each)).toBeUndefined();
  },
);

/** Pages with rules about other programs. */
const aboutOthers = ['docs/assessment.md'];
const flags = pages()
  .filter((page) => !aboutOthers.includes(page))
  .flatMap((page) => flagsOf(readPage(page)).map((flag): [string, string] => [page, flag]));

/** Why none of these commands accepts the flag. */
async function flagProblem(flag: string, commands: PageCommand[]): Promise<string | undefined> {
  for (const { page, line } of commands) {
    if ((await problemOf({ page, line: `${line} ${flag}`, isWhole: false })) === undefined) return undefined;
  }
  return `no command of the page takes ${flag}`;
}

test.each(flags)('%s: a command of the page accepts %s', async (page, flag) => {
  expect(await flagProblem(flag, commandsOf(page))).toBeUndefined();
});

test.each(runBy)('%s: the lines that a test runs exist, and the test reads the page (%#)', (page, what, path) => {
  expect(commandsOf(page).filter(({ line }) => what.test(line))).not.toEqual([]);
  expect(readRoot(path)).toContain(page);
});

describe('commands that no reader could type are found', () => {
  const inPage = (text: string) => commandsOf('docs/a.md', text);
  const told = async (text: string) => Promise.all(inPage(text).map(problemOf));
  const sh = (line: string): string => `\`\`\`sh\n${line}\n\`\`\`\n`;

  test.each<[string, RegExp]>([
    ['countersign aprove ID', /unknown command 'aprove'/],
    ['countersign approve ID --forever', /unknown option '--forever'/],
    ['countersign watch', /missing required argument/],
    [
      'temporal workflow reset --workflow-id ID --reapply-exclude Signal,Update --reason why',
      /invalid argument "Signal,Update"/,
    ],
    ['temporal workflow reset --workflow-id ID --type LastWorkflowTask', /required flag\(s\) "reason"/],
    ['temporal workflow rewind --workflow-id ID', /unknown flag/],
    ['temporal workflow rewind', /unknown command/],
    ['temporal workflow', /unknown command/],
    ['npm run nothing', /there is no script 'nothing'/],
    ['npm install && npm run nothing', /there is no script 'nothing'/],
    ['docker compose up', /no test runs 'docker'/],
  ])('%s', async (line, problem) => {
    expect(await told(sh(line))).toEqual([expect.stringMatching(problem)]);
  });

  test('also in a sentence, except for omitted arguments', async () => {
    expect(await told('Say `countersign aprove`.')).toEqual([expect.stringMatching(/unknown command/)]);
    expect(await told('Each `temporal workflow` command, and `temporal wirkflow`.')).toEqual([
      undefined,
      expect.stringMatching(/unknown flag/),
    ]);
    expect(await told('Say `countersign approve` or `temporal workflow reset`, but not `countersign`.')).toEqual([
      undefined,
      undefined,
    ]);
  });

  test('a flag with a value that no command of the page accepts', async () => {
    const text = 'With `--reapply-exclude Signal,Update` of `temporal workflow reset`.';
    expect(flagsOf(text)).toEqual(['--reapply-exclude Signal,Update']);
    expect(await flagProblem(flagsOf(text)[0]!, inPage(text))).toContain('no command');
  });

  test('in a block that is not marked as shell', () => {
    expect(() => inPage('```\ntemporal workflow list\n```\n')).toThrow('not marked sh');
  });

  test('across several lines', () => {
    expect(inPage(sh('temporal workflow list \\\n  --limit 5')).flatMap(({ line }) => simpleCommands(line))).toEqual([
      ['temporal', 'workflow', 'list', '--limit', '5'],
    ]);
  });
});

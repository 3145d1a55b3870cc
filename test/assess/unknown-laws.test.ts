import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assess } from '../../src/assess/assess.ts';
import type { AssessedCall } from '../../src/core/assess/assessment.ts';
import { splitShell } from '../../src/shell/split.ts';
import { least, runs } from '../support/thorough.ts';

/** What is not known is never called reversible, in commands as in code, however a command is written and wrapped. */

const unknown = fc.constantFrom(
  '$X -rf /srv',
  '"$X" y',
  '${X:-ls} y',
  '$(cat x) y',
  '`cat x` y',
  'r$X y',
  '/bin/r? y',
  'r\0m y',
  'eval "$X"',
  'sh -c "$X"',
  'bash -lc "$X"',
  'source ./x',
  '. ./x',
  'sh < x',
  'sh <<< "$X"',
  'bash run.sh',
  'bash <(cat x)',
  'echo cm0gLXJmIC8K | base64 -d | sh',
  'cat x | bash -s -- y',
  'python3 -c "$X"',
  'cat x | python3',
  'python3.12 report.py',
  'node -e 1',
  'perl x.pl',
  'ssh host',
  'xargs -I{} {} y',
  'xargs -I% % y',
  'find . -exec {} ;',
  'psql -c "$X"',
  'mysql < x.sql',
  'cat x.sql | psql',
  `ls ${'x'.repeat(21_000)}`,
  '((ls',
);
const known = fc.constantFrom(
  'ls',
  'ls -l "$X"',
  'git status',
  'echo sh',
  'grep -r eval src',
  'cat x',
  "printf '%s' x",
);
const quoted = (command: string): string => `'${command.replaceAll("'", `'\\''`)}'`;
/** A blank keeps brackets apart: two begin arithmetic, which runs nothing. */
const wrap = fc.constantFrom<(command: string) => string>(
  (command) => command,
  (command) => `true; ${command}`,
  (command) => `${command} && ls`,
  (command) => `ls || ${command}`,
  (command) => `${command} | cat`,
  (command) => `( ${command} )`,
  (command) => `{ ${command}; }`,
  (command) => `if true; then ${command}; fi`,
  (command) => `for i in 1 2; do ${command}; done`,
  (command) => `f() { ${command}; }; f`,
  (command) => `ls $( ${command} )`,
  (command) => `A=1 ${command}`,
  (command) => `${command} > /tmp/x`,
  (command) => `env A=1 sh -c ${quoted(command)}`,
  (command) => `sh -c ${quoted(command)}`,
  (command) => `nohup sh -c ${quoted(command)} &`,
  (command) => `docker exec box sh -c ${quoted(command)}`,
  (command) => `timeout 5 sh -c ${quoted(command)}`,
  (command) => `eval ${quoted(command)}`,
);
const calls: Record<string, (command: string) => AssessedCall> = {
  split: (command) => ({
    tool: 'bash',
    args: { command },
    risk: 'write',
    subject: 'command',
    shell: splitShell(command),
  }),
  'named bash': (command) => ({ tool: 'bash', args: { command }, risk: 'write' }),
  'named terminal': (command) => ({ tool: 'terminal', args: { input: command }, risk: 'write' }),
  cmd: (command) => ({ tool: 'start', args: { cmd: command }, risk: 'read_only' }),
  'in a list of objects': (command) => ({ tool: 'start', args: { steps: [{ command }] }, risk: 'write' }),
  'in a list': (command) => ({ tool: 'start', args: { commands: ['ls', command] }, risk: 'write' }),
  'of argv': (command) => ({ tool: 'start', args: { argv: ['sh', '-c', command] }, risk: 'write' }),
};
const kind = fc.constantFrom(...Object.keys(calls));
const wrapped = (command: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(command, wrap, wrap).map(([command, outer, inner]) => outer(inner(command)));

test('a command of which is not known what it runs is never reversible', () => {
  fc.assert(
    fc.property(wrapped(unknown), kind, (command, kind) => {
      expect(assess(calls[kind]!(command)).reversible).toBe(false);
    }),
    { numRuns: runs(2_000) },
  );
});

test('a command whose programs are named is, if nothing says otherwise', () => {
  let reversible = 0;
  fc.assert(
    fc.property(wrapped(known), kind, (command, kind) => {
      if (assess(calls[kind]!(command)).reversible) reversible++;
    }),
    { numRuns: runs(2_000) },
  );
  expect(reversible).toBeGreaterThan(least(1_000));
});

test.each([
  'cp a b',
  'mv a b',
  '/bin/cp a b',
  'sudo mv a b',
  'ls | tee f',
  'install a b',
  'ln -sf a b',
  'rsync a b',
  'scp a h:b',
  'sed -i s/a/b/ f',
  'sort -o f f',
  'curl -o f https://example.com',
  'wget -O f https://example.com',
  'tar xf a.tar',
  'unzip a.zip',
  'patch -p1',
  '> f',
  'ls > f',
  'ls >| f',
  'ls &> f',
  'ls 2> f',
  'sh -c "ls > f"',
])('what may overwrite a file is not reversible: %s', (command) => {
  for (const call of Object.values(calls)) expect(assess(call(command)).reversible).toBe(false);
});

test.each([
  'ls >> f',
  'ls > /dev/null',
  'ls 2>&1',
  'ls < f',
  'ln -s a b',
  'sed s/a/b/ f',
  'sort f',
  'curl https://example.com',
  'tar tf a.tar',
  'mkdir a',
  'ls',
  'git status',
  'make',
  'npm run build',
  'sh -c ls',
  'env A=1 ls',
  'sudo ls',
  'echo x | grep y',
])('%s is reversible', (command) => {
  expect(assess({ tool: 'bash', args: { command }, risk: 'write' }).reversible).toBe(true);
});

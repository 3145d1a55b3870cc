/**
 * Compares `splitShell` with real bash on random programs: every command that bash tries to run must be a part, word
 * for word, unless the split reports that it is not certain.
 *
 * Bash is restricted (no path in a command's name, no file written, no `cd`), has a PATH without programs and an empty
 * folder, and reports each command that it does not find. Globs and `~` stand for themselves: the split does not expand
 * them.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import fc from 'fast-check';
import type { ShellSplit } from '../../src/core/shell/parts.ts';
import { splitShell } from '../../src/shell/split.ts';
import { runs } from '../support/thorough.ts';

const bash = spawnSync('bash', ['-c', 'echo $BASH_VERSION'], { encoding: 'utf8' }).stdout?.trim() ?? '';
const missing = bash === '' ? 'bash is not installed here' : undefined;
const programs = runs(500);
const seed = 20_261_122;

/**
 * Runs each program in a subshell of one bash. A report is one line, so that reports of background programs do not mix.
 * US separates fields, RS replaces a newline.
 */
const runner = `
command_not_found_handle() {
  local IFS=$'\\x1f' report
  report="$PROGRAM$IFS$*"
  printf '%s\\n' "\${report//$'\\n'/$'\\x1e'}" >&9
  return $(( \${#1} % 2 ))
}
mapfile -d '' programs
PATH=/var/empty/none HOME='~'
set -f -r
for PROGRAM in "\${!programs[@]}"; do
  ( ulimit -t 2; eval "\${programs[PROGRAM]}" ) </dev/null 8>&9
done
`;

/** Letters only, so that nothing dangerous runs even if this test is wrong. */
const wrapper = fc.constantFrom('sudo', 'xargs', 'env', 'find', 'timeout');
const name = fc.oneof({ weight: 20, arbitrary: fc.constantFrom('aa', 'bbb', 'cc', 'ddd', 'git') }, wrapper);
const plain = fc.constantFrom(
  'x',
  '-f',
  '/',
  'status',
  'y z',
  '*',
  '{}',
  ';',
  '$x',
  '`',
  '"',
  "'",
  '\\',
  '2>(bbb)',
  '{x}<(cc)',
  '#',
  '',
  '=',
  'a=b',
  '{a,b}',
);
const inDouble = (text: string): string => `"${text.replace(/[$`"\\]/g, '\\$&')}"`;
const quoting = fc.constantFrom<(text: string) => string>(
  (text) => text.replace(/[^\w/=-]/g, '\\$&') || "''",
  (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`,
  inDouble,
  (text) => `${text.slice(0, 1).replace(/\W/, '\\$&')}''${inDouble(text.slice(1))}`,
  (text) => `${text.slice(0, 1).replace(/\W/, '\\$&')}\\\n${inDouble(text.slice(1))}`,
);
const quoted = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(quoting, text).map(([quote, own]) => quote(own));
const odd = fc.constantFrom(
  '$x',
  '${x}',
  '{a,b}',
  '{1..2}',
  '~',
  '$((1+1))',
  '"$@"',
  '[ab]',
  '*',
  "$'x'",
  '$"x"',
  '"',
  '`',
  '(',
  '\\',
  '2>(bbb)',
  '{x}<(cc)',
);
const noComment = (text: string): string => text.replace(/#.*/, '');
const single = (text: string): string => text.replaceAll("'", '');

const word = (depth: number): fc.Arbitrary<string> => {
  const usual = { weight: 16, arbitrary: quoted(fc.oneof(name, plain)) };
  if (depth === 0) return fc.oneof(usual, odd);
  const inner = list(depth - 1);
  return fc.oneof(
    usual,
    odd,
    inner.map((text) => `$(${text}\n)`),
    inner.map((text) => `"$(${text}\n)"`),
    inner.map((text) => `\`${noComment(text).replace(/[\\`$]/g, '\\$&')}\``),
    inner.map((text) => `<(${text}\n)`),
    inner.map((text) => `\${x:-$(${text}\n)}`),
    inner.map((text) => `$((1+$(${text}\n)))`),
  );
};

const simple = (depth: number): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.oneof(
        { weight: 12, arbitrary: fc.constant('') },
        fc.constantFrom('v=1 ', 'v=$(aa v) ', '2>&1 ', '! ', 'time '),
      ),
      fc.oneof({ weight: 10, arbitrary: quoted(name) }, fc.constantFrom('eval', 'command', 'echo', 'test', ':')),
      fc.array(word(depth), { maxLength: 3 }),
      fc.oneof(
        { weight: 8, arbitrary: fc.constant('') },
        fc.constantFrom(' 2>&1', ' >&2', ' <<<y', ' <<<"$(git h)"', ' # aa z', ' >file', ' </dev/null'),
      ),
    )
    .map(([before, program, words, after]) => `${before}${[program, ...words].join(' ')}${after}`);

const compound = (depth: number): fc.Arbitrary<string> => {
  if (depth === 0) return simple(0);
  const [inner, own] = [list(depth - 1), simple(depth - 1)];
  return fc.oneof(
    { weight: 14, arbitrary: simple(depth) },
    inner.map((text) => `(${text}\n)`),
    inner.map((text) => `{ ${text}\n}`),
    fc.tuple(inner, inner).map(([when, then]) => `if ${when}\nthen ${then}\nelse ${when}\nfi`),
    fc.tuple(inner, inner).map(([when, body]) => `while ${when}\ndo ${body}\nbreak; done`),
    fc.tuple(word(0), inner).map(([text, body]) => `for v in ${text}; do ${body}\ndone`),
    fc.tuple(word(0), inner).map(([text, body]) => `case ${text} in ${text}) ${body}\n;; *) ${body}\nesac`),
    inner.map((text) => `f() { ${text}\n}; f`),
    fc.tuple(own, inner).map(([text, body]) => `${noComment(text)} <<E\n$(${body}\n)\nE`),
    fc.tuple(own, inner).map(([text, body]) => `${noComment(text)} <<'E'\n${body}\nE`),
    quoted(inner).map((text) => `eval ${text}`),
    inner.map((text) => `[[ -n $(${text}\n) ]]`),
    inner.map((text) => `test -v 'q[$(${single(text)}\n)]'`),
    inner.map((text) => `trap '${single(text)}' EXIT`),
  );
};

const list = (depth: number): fc.Arbitrary<string> =>
  fc
    .array(fc.tuple(compound(depth), fc.constantFrom('\n', '\n', '\n', ' && ', ' || ', ' | ', '; ', ' & ', ' \\\n ')), {
      minLength: 1,
      maxLength: depth + 1,
    })
    .map((items) => items.map(([text, end], at) => (at === items.length - 1 ? text : text + end)).join(''));

/** Returns the commands that bash tried to run, by the index of their text. */
function tried(texts: string[], folder: string): Map<number, string[][]> {
  const runnerFile = join(folder, 'runner');
  writeFileSync(runnerFile, runner);
  const { output } = spawnSync('bash', ['--norc', '--noprofile', runnerFile], {
    cwd: folder,
    env: {},
    input: texts.map((text) => `${text}\0`).join(''),
    stdio: ['pipe', 'ignore', 'ignore', 'ignore', 'ignore', 'ignore', 'ignore', 'ignore', 'ignore', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
  });
  const found = new Map<number, string[][]>();
  for (const line of (output[9] as unknown as Buffer).toString().split('\n').slice(0, -1)) {
    const [index, ...words] = line.replaceAll('\x1e', '\n').split('\x1f');
    found.set(Number(index), [...(found.get(Number(index)) ?? []), words]);
  }
  return found;
}

(missing === undefined ? describe : describe.skip)(`against bash ${bash || `(skipped: ${missing})`}`, () => {
  let folder: string;
  let cases: { text: string; split: ShellSplit; ran: string[][] }[];

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'countersign-shell-'));
    const texts = [1, 2].flatMap((depth) => fc.sample(list(depth), { numRuns: programs / 2, seed }));
    const found = tried(texts, folder);
    cases = texts.map((text, index) => ({ text, split: splitShell(text), ran: found.get(index) ?? [] }));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('enough programs ran a command, and some splits were certain', () => {
    const ran = cases.filter((each) => each.ran.length > 0);
    const certain = ran.filter(({ split }) => split.uncertain.length === 0);
    expect(ran.length).toBeGreaterThan(0.75 * programs);
    expect(certain.length).toBeGreaterThan(0.15 * programs);
  });

  test('a certain split has every command, word for word', () => {
    const missed = cases
      .filter(({ split }) => split.uncertain.length === 0)
      .flatMap(({ text, split, ran }) => {
        const parts = new Set(split.parts.map((part) => part.text));
        return ran.filter((words) => !parts.has(words.join(' '))).map((words) => ({ text, words, parts: [...parts] }));
      });
    expect(missed).toEqual([]);
  });

  test('an uncertain split also has every program, if only a wrapper, a substitution or a redirection makes it uncertain', () => {
    const seen = new Set(['wrapper program', 'substitution', 'redirection to a file', 'redirection from a file']);
    const missed = cases
      .filter(({ split }) => split.uncertain.length > 0 && split.uncertain.every((reason) => seen.has(reason)))
      .flatMap(({ text, split, ran }) => {
        const names = new Set(split.parts.map((part) => part.text.split(' ')[0]));
        return ran.filter(([program]) => !names.has(program)).map((words) => ({ text, words, names: [...names] }));
      });
    expect(missed).toEqual([]);
  });
});

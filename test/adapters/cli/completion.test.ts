import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Shell, shells } from '../../../packages/cli/src/completion/completion-scripts.ts';
import { cli } from './support.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-completion-'));
beforeAll(async () => {
  for (const shell of shells) writeFileSync(join(folder, shell), (await cli(['completion', shell])).stdout);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Sources the script in the shell and prints, line by line, what it offers for the last of these words. */
const drivers: Record<Shell, (words: string[]) => string[]> = {
  bash: (words) => [
    '--norc',
    '-c',
    `source ${folder}/bash && complete -p countersign >/dev/null || exit 1
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _countersign; printf '%s\\n' "\${COMPREPLY[@]}"`,
    'bash',
    ...words,
  ],
  zsh: (words) => [
    '-fc',
    `compdef() { [ "$*" = '_countersign countersign' ] || exit 1 }
    _files() { print FILES }
    # The real one filters by the word under the cursor, and shows flags only after a dash.
    _describe() {
      local isFlags=; [ "$1" = -o ] && { isFlags=1; shift }
      local each; for each in "\${(@P)2}"; do
        [[ -n $isFlags && $words[CURRENT] != -* ]] || [[ \${each%%:*} != $words[CURRENT]* ]] || print -r -- "\${each%%:*}"
      done
    }
    source ${folder}/zsh; words=("$@"); CURRENT=$#; _countersign`,
    'zsh',
    ...words,
  ],
  fish: (words) => [
    '--no-config',
    '-c',
    `source ${folder}/fish; complete -C '${words.join(' ')}' | string split -f 1 \\t; true`,
  ],
};

/** `folder` is where the shell looks for files: the scripts. */
function offered(shell: Shell, words: string): string[] {
  const args = drivers[shell](`countersign ${words}`.split(' '));
  const { status, stdout, stderr } = spawnSync(shell, args, { encoding: 'utf8', cwd: folder });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout.split('\n').filter((line) => line !== '' && line !== 'FILES');
}

const cases: [words: string, offers: string[]][] = [
  ['appro', ['approvals', 'approve']],
  ['approvals ', ['list', 'show', 'preview', 'help']],
  ['policy e', ['eval', 'explain']],
  ['approvals --wat', ['--watch']],
  ['approvals list --wat', ['--watch']],
  ['audit ', ['export', 'verify', 'help']],
  ['audit --fol', ['--follow']],
  ['approve 4f0c --rea', ['--reason']],
  ['approve 4f0c --always ', ['call', 'arguments', 'tool']],
  ['grants revoke run-1 --al', ['--all']],
  ['policy explain policy.yaml --risk dest', ['destructive']],
  ['approvals --tool show --run x --inter', ['--interval']],
  ['completion --he', ['--help']],
  ['--vers', ['--version']],
  ['reviewer-key --o', ['--out', '--of']],
];

for (const shell of shells) {
  const isHere = spawnSync(shell, ['--version']).status === 0;

  (isHere ? describe : describe.skip)(`${shell} completes`, () => {
    test.each(cases)('countersign %s: %j', (words, offers) => {
      expect(offered(shell, words).toSorted()).toEqual(offers.toSorted());
    });

    test.each(['policy check ', 'run tidy --policy ', 'approve '])('countersign %s: files', (words) => {
      const others = offered(shell, words).filter((each) => !shells.some((name) => name === each));
      expect(others).toEqual([]);
    });
  });

  test(`${shell}: the script has what help shows`, async () => {
    const { stdout } = await cli(['completion', shell]);
    const words = ['reviewer-key', 'older-than', 'clean', 'bypassPermissions', 'message', 'session'];
    for (const word of words) expect(stdout).toContain(word);
  });
}

test('an unknown shell: exit 2', async () => {
  expect(await cli(['completion', 'csh'])).toEqual({
    code: 2,
    stdout: '',
    stderr:
      "error: command-argument value 'csh' is invalid for argument 'shell'. Allowed choices are bash, zsh, fish.\n",
  });
});

test('--json: the script as a JSON value', async () => {
  const { stdout } = await cli(['completion', 'bash', '--json']);
  expect(JSON.parse(stdout)).toEqual({ shell: 'bash', script: (await cli(['completion', 'bash'])).stdout });
});

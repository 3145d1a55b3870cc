import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Rule } from '../../../src/core/policy/policy.ts';
import { compilePolicy, evaluate } from '../../../src/core/policy/ruling.ts';
import { splitShell } from '../../../src/shell/split.ts';
import { wrappers, type Wrapper } from '../../../src/shell/wrappers.ts';
import { least, runs } from '../../support/thorough.ts';

/** A star stays where it stands: in the place of a container, a host or an option, it never spans the command behind it. */

const answer = (pattern: string, command: string): string => {
  const rules: Rule[] = [{ pattern: `bash:${pattern}`, action: 'allow' }];
  const run = compilePolicy({ version: 1, rules, riskDefaults: {}, approval: {} }, 'run');
  const call = {
    tool: 'bash',
    args: { command },
    risk: 'write' as const,
    subject: 'command',
    shell: splitShell(command),
  };
  return evaluate({ run }, call).action;
};

test.each([
  ['docker exec * ls*', 'docker exec box ls -l', 'allow'],
  ['docker exec * ls*', 'docker exec box rm ls', 'ask'],
  ['docker exec * ls*', "docker exec box sh -c 'rm x' ls", 'ask'],
  ['docker exec * cat *', 'docker exec box rm cat x', 'ask'],
  ['docker exec * ls*', 'docker exec -u root box ls', 'ask'],
  ['docker exec -it * ls*', 'docker exec -it box ls', 'allow'],
  ['docker exec -it * ls*', 'docker exec -it box rm ls', 'ask'],
  ['docker exec --odd * ls*', 'docker exec --odd box rm ls', 'ask'],
  ['docker run * ls*', 'docker run image rm ls', 'ask'],
  ['docker compose exec * ls*', 'docker compose exec web rm ls', 'ask'],
  ['kubectl exec * -- ls*', 'kubectl exec pod -- ls /srv', 'allow'],
  ['kubectl exec * -- ls*', 'kubectl exec pod -- rm -- ls', 'ask'],
  ['kubectl exec * -c app -- ls*', 'kubectl exec pod -c app -- rm -c app -- ls', 'ask'],
  ['sudo * ls*', 'sudo rm ls', 'ask'],
  ['sudo ?* ls*', 'sudo rm ls', 'ask'],
  ['sudo -u * ls*', 'sudo -u root ls', 'allow'],
  ['sudo -u * ls*', 'sudo -u root -E ls', 'ask'],
  ['sudo -u * ls*', 'sudo -u root rm ls', 'ask'],
  ['env * ls*', 'env rm ls', 'ask'],
  ['ssh * ls*', 'ssh host rm ls', 'ask'],
  ['nix shell * ls*', 'nix shell pkg -c rm ls', 'ask'],
  ['git -C * status*', 'git -C dir status -s', 'allow'],
  ['git -C * status*', 'git -C dir rm status', 'ask'],
  ['find . -exec ls*', 'find . -exec ls {} \\;', 'allow'],
  ['find . -exec ls*', 'find . -exec ls \\; -delete', 'ask'],
  ['find . -exec ls*', 'find . -exec ls \\; -fprint x', 'ask'],
  ['find /srv -exec grep -l foo {}*', 'find /srv -exec grep -l foo {} \\; -delete', 'ask'],
  ['find . -exec sudo ls*', 'find . -exec sudo ls \\; -delete', 'ask'],
  ['su bob -c ls*', 'su bob -c ls -s /tmp/x', 'ask'],
  ['npx -c ls*', 'npx -c ls -p x', 'ask'],
  ['docker run * ls*', 'docker run --privileged lsimage', 'ask'],
  ['docker run * ls*', 'docker run -v/:/host ls', 'ask'],
  ['sudo docker run * ls*', 'sudo docker run -v/:/host ls', 'ask'],
  ['docker run *', 'docker run -it image', 'allow'],
  ['ssh * ls*', 'ssh -A lshost', 'ask'],
  ['chroot * ls*', 'chroot --userspec=x ls', 'ask'],
  ['git * status*', 'git -C status push --force', 'ask'],
  ['git * status*', 'git --git-dir status push', 'ask'],
  ['git -C * status*', 'git -C "/x status" push --force', 'ask'],
  ['git -C /srv* status*', 'git -C /srv/a status -s', 'allow'],
  ['find . -exec ls*', 'find ". -exec ls" . -delete', 'ask'],
  ['find * -exec ls*', 'find . -name "x -exec ls" -o -delete', 'ask'],
  ['find . -name * -exec ls*', 'find . -name "x -exec ls" -delete', 'ask'],
  ['rsync -a /srv/ backup:*', 'rsync -a "/srv/ backup:" evil:', 'ask'],
  ['git commit -m *', 'git commit -m "mend the gate"', 'allow'],
  ['git commit -m mend*', 'git commit -m "mend the gate"', 'allow'],
  ['git commit -m mend the gate', 'git commit -m "mend the gate"', 'allow'],
  ['git *', 'git -C dir status', 'allow'],
  ['sudo git *', 'sudo git -C dir status', 'allow'],
  ['sudo *', 'sudo ls -l', 'allow'],
  ['docker exec box *', 'docker exec box ls -l', 'allow'],
])('%s: %s: %s', (pattern, command, expected) => expect(answer(pattern, command)).toBe(expected));

/** The words before the command, as the table of wrappers describes them. */
function wordsBefore(name: string, form: Wrapper): fc.Arbitrary<string[]> {
  const letters = Array.from(form.flags ?? '')
    .filter((letter) => /[a-z]/i.test(letter))
    .map((letter) => [`-${letter}`]);
  const values = Array.from(form.values ?? '').map((letter) => [`-${letter}`, 'value']);
  const long = (form.long ?? '').split(' ').filter(Boolean);
  const named = long.map((each) => (each.endsWith('=') ? [`--${each}value`] : [`--${each}`]));
  const option = fc.constantFrom(...letters, ...values, ...named, ['--odd'], ['-Ω', 'value']);
  const options = fc.array(option, { maxLength: 2 }).map((all) => all.flat());
  const operands = (count: number): string[] => Array.from({ length: count }, (_, index) => `operand${index}`);
  if (form.subcommands !== undefined) {
    return fc.tuple(fc.constantFrom(...form.subcommands.split(' ')), options).map(([each, given]) => {
      const [subcommand, count = '0'] = each.split(':');
      return [name, subcommand!, ...given, ...operands(Number(count))];
    });
  }
  return options.map((given) => [name, ...given, ...operands(form.operands ?? 0)]);
}

const starting = [...wrappers].filter(([, { runs: kind }]) => kind === 'words' || kind === 'script');
const before = fc.constantFrom(...starting).chain(([name, form]) => wordsBefore(name, form));
const stars = fc.array(fc.boolean(), { minLength: 8, maxLength: 8 });
/** A program is never a star: a rule names its wrapper. */
const patternOf = (words: readonly string[], where: readonly boolean[]): string =>
  [...words.map((word, at) => (at > 0 && where[at % where.length]! ? '*' : word)), 'ls*'].join(' ');

describe('law', () => {
  test('a rule for a harmless command in a wrapper never allows one that holds a harmful part', () => {
    const harmful = fc.constantFrom('rm ls', 'rm -rf / ls', "sh -c 'rm x' ls", 'env rm ls', 'sudo rm ls', 'rm x ls -l');
    fc.assert(
      fc.property(before, stars, harmful, (words, where, command) => {
        expect(answer(patternOf(words, where), `${words.join(' ')} ${command}`)).not.toBe('allow');
      }),
      { numRuns: runs(2_000) },
    );
  });

  test('it allows the harmless one', () => {
    let allowed = 0;
    fc.assert(
      fc.property(before, stars, (words, where) => {
        if (answer(patternOf(words, where), `${words.join(' ')} ls -l`) === 'allow') allowed++;
      }),
      { numRuns: runs(2_000) },
    );
    expect(allowed).toBeGreaterThan(least(100));
  });
});

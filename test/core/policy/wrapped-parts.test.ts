/** A rule that names a wrapper covers what it names and no more. */
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import type { Rule } from '../../../src/core/policy/policy.ts';
import { compilePolicy, evaluate } from '../../../src/core/policy/ruling.ts';
import { splitShell } from '../../../src/shell/split.ts';

const answer = (rules: Rule[], command: string): string =>
  evaluate(
    { run: compilePolicy({ version: 1, rules, riskDefaults: {}, approval: {} }, 'run') },
    { tool: 'bash', args: { command }, risk: 'write', subject: 'command', shell: splitShell(command) },
  ).action;
const allows = (patterns: string | string[], command: string): boolean =>
  answer(
    [patterns].flat().map((pattern) => ({ pattern: `bash:${pattern}`, action: 'allow' })),
    command,
  ) === 'allow';

describe('covered', () => {
  test.each<[string | string[], string]>([
    ['sudo ls*', 'sudo ls -l /root'],
    ['sudo *', 'sudo ls -l /root'],
    ['sudo -u * ls*', 'sudo -u root ls -l'],
    ['sudo env ls*', 'sudo env ls'],
    ['find . -exec ls*', 'find . -exec ls -l {} +'],
    ['find . -name x -exec ls*', 'find . -name x -exec ls {} +'],
    ['find . -exec ls {} + -exec wc {} +', 'find . -exec ls {} + -exec wc {} +'],
    ['ssh build uptime*', 'ssh build uptime -p'],
    ['ssh -o StrictHostKeyChecking=no build uptime*', 'ssh -o StrictHostKeyChecking=no build uptime'],
    ['ssh build -v uptime*', 'ssh build -v uptime -p'],
    ['watch kubectl get*', 'watch kubectl get pods'],
    ['eval ls*', 'eval ls -l'],
    ['xargs rm *', 'xargs rm -f'],
    ['parallel -j 2 gzip* ::: *', 'parallel -j 2 gzip -9 ::: a'],
    ['nice -n 5 make*', 'nice -n 5 make all'],
    ['sh -c ls', 'sh -c ls'],
    ['bash -lc ls*', 'bash -lc ls'],
    ['git -c safe.directory=* status*', 'git -c safe.directory=/x status -s'],
    ['git -C * status*', 'git -C dir status'],
    ['git *', 'git -C dir --no-pager log'],
    ['npx --yes tsc*', 'npx --yes tsc --noEmit'],
    ['docker exec box ls*', 'docker exec box ls -l'],
    ['python -c *', 'python -c print'],
  ])('%s covers %s', (pattern, command) => expect(allows(pattern, command)).toBe(true));
});

describe('covered, because the rule writes the options out', () => {
  test.each([
    ['docker exec -it box ls*', 'docker exec -it box ls'],
    ['docker exec -it box ls*', 'docker exec -it box ls -la /srv src'],
    ['kubectl exec -it pod -- ls*', 'kubectl exec -it pod -- ls -l /srv'],
    ['uv run --frozen pytest*', 'uv run --frozen pytest -q tests'],
    ['docker run --rm node:24 npm test*', 'docker run --rm node:24 npm test -- a b'],
    ['docker run --rm * *', 'docker run --rm image start'],
    ['docker run --rm docker exec -it box ls*', 'docker run --rm docker exec -it box ls'],
    ['docker exec -it box ls -l', 'docker exec -it box ls -l'],
  ])('%s covers %s', (pattern, command) => expect(allows(pattern, command)).toBe(true));

  test.each([
    ['docker exec * ls*', 'docker exec -it box ls'],
    ['docker exec -it *ls', 'docker exec -it box ls; rm x'],
    ['docker exec -it box ls*', 'docker exec -it box ls $(rm x)'],
    ['docker exec -it box *', "docker exec -it box sh -c 'rm x'"],
    ['docker exec -i box ls*', 'docker exec -it box ls'],
    ['docker *', 'docker exec -it box ls'],
    ['sudo --odd *', 'sudo --odd'],
  ])('%s does not cover %s', (pattern, command) => expect(allows(pattern, command)).toBe(false));

  test('a deny still sees each place where a command could begin', () => {
    const rules: Rule[] = [
      { pattern: 'bash:docker exec --odd box ls*', action: 'allow' },
      { pattern: 'bash:rm *', action: 'deny' },
    ];
    expect(answer(rules, 'docker exec --odd box ls rm x')).toBe('deny');
  });
});

describe('not covered', () => {
  test.each<[string | string[], string]>([
    ['find *ls*', 'find . -exec ls'],
    ['find . -exec ls*', "find . -exec ls {} ';' -exec rm {} ';'"],
    ['find . -exec ls*', 'find . -exec ls {} + -delete'],
    ['find . -exec ls*', 'find . -exec ls {} + -fprintf /etc/x y'],
    ['ssh build uptime*', 'ssh build uptime "&& rm -rf ~"'],
    ['ssh build uptime*', 'ssh build uptime \\; rm -rf ~'],
    ['ssh build *', 'ssh build -o ProxyCommand="touch /tmp/x" uptime'],
    ['ssh * uptime', 'ssh -o ProxyCommand="touch /tmp/x" build uptime'],
    ['ssh build *', 'ssh build -o "LocalCommand touch /tmp/x" uptime'],
    ['ssh build *', 'ssh build -v uptime'],
    ['watch kubectl get*', "watch kubectl get pods '&& kubectl delete ns prod'"],
    ['eval ls*', "eval ls ';' rm x"],
    ['parallel ls*', "parallel ls ';' rm ::: x"],
    ['su -c ls*', 'su -c ls\\;rm'],
    ['sh -c ls*', 'sh -c ls\\;rm'],
    ['bash -c ls*', "bash -c ls'; rm x'"],
    ['git -c safe.directory=* status*', "git -c safe.directory=/x -c core.fsmonitor='touch /tmp/x' status"],
    ['git status*', 'git -C /evil status'],
    ['git *', 'git -c core.pager=evil log'],
    // In the place of the inner `log`, the outer text has `log`, too.
    ['git -C //log bisect run *', 'git -C //log bisect run git -C d log'],
    ['sudo ls*', 'sudo ls > f'],
    ['sudo ls*', 'sudo ls; sudo rm x'],
    [['sudo ls*', 'rm *'], 'sudo rm x'],
    ['* ls', 'sudo ls'],
    ['sudo *', 'sudo env ls'],
    ['xargs ls*', 'xargs ls | sh'],
    ['docker-compose exec * ls*', 'docker-compose exec web rm ls'],
    ['lxc exec * ls*', 'lxc exec box rm ls'],
    ['incus exec * ls*', 'incus exec box rm ls'],
    ['crictl exec * ls*', 'crictl exec box rm ls'],
    ['wsl ls*', "wsl ls ';' rm x"],
    ['distrobox enter * ls*', 'distrobox enter box -- rm ls'],
    ['vagrant ssh *', 'vagrant ssh -c "rm x"'],
    ['fly ssh console *', 'fly ssh console -C "rm x"'],
    ['gcloud compute ssh *', 'gcloud compute ssh host --command "rm x"'],
    ['aws ecs *', 'aws ecs execute-command --command "rm x"'],
  ])('%s does not cover %s', (pattern, command) => expect(allows(pattern, command)).toBe(false));
});

test.each([
  'docker-compose exec web rm x',
  'lxc exec box rm x',
  'wsl rm x',
  'toolbox run rm x',
  'heroku run rm x',
  'vagrant ssh -c "rm x"',
  'fly ssh console -C "rm x"',
  'gcloud compute ssh host --command "rm x"',
  'aws ecs execute-command --command "rm x"',
  'az vm run-command invoke --scripts "rm x"',
])('a deny sees what %s runs', (command) => {
  const rules: Rule[] = [
    { pattern: 'bash', action: 'allow' },
    { pattern: 'bash:rm *', action: 'deny' },
  ];
  expect(answer(rules, command)).toBe('deny');
});

test.each(['docker-compose up -d', 'lxc list', 'heroku logs', 'vagrant up', 'fly deploy -c fly.toml', 'aws s3 ls'])(
  '%s runs no other program',
  (command) => expect(allows(`${command.split(' ')[0]} *`, command)).toBe(true),
);

test('an inner command may be covered by a rule of its own, if that names the wrapper', () => {
  expect(allows(['sh -c ls', 'sh -c wc*', 'sh -c ls;wc'], 'sh -c "ls;wc"')).toBe(false);
  const rules: Rule[] = ['sh -c ls', 'sh -c wc*', 'sh -c *"ls;wc"'].map((each) => ({
    pattern: `bash:${each}`,
    action: 'allow',
  }));
  expect(answer(rules, 'sh -c "ls;wc"')).toBe('allow');
});

test('law: what a rule with a wrapper allows, no additional command in the wrapper makes it allow', () => {
  const wrapper = fc.constantFrom('sudo ', 'ssh build ', 'eval ', 'watch ', 'find . -exec ', 'nice ');
  const inner = fc.constantFrom('ls', 'ls -l', 'ls a b');
  const added = fc.constantFrom(
    "';' rm x",
    "'&&' rm x",
    '\\; rm x',
    '+ -exec rm {} +',
    "';' -exec rm {} +",
    '| sh',
    '; rm x',
  );
  fc.assert(
    fc.property(wrapper, inner, added, (start, command, more) => {
      fc.pre(!/^(sudo|nice|find)/.test(start) || !/^[\\']/.test(more) || more.includes('-exec'));
      fc.pre(start.startsWith('find') || !more.includes('-exec'));
      expect(allows(`${start}ls*`, `${start}${command}`)).toBe(true);
      expect(allows(`${start}ls*`, `${start}${command} ${more}`)).toBe(false);
    }),
  );
});

/** After `true`, an ask about the first words counts for that part and not for the raw text. */
test.each<[string, string, string[], string, 'allow' | 'ask']>([
  ['a wrapper runs what the rule names', 'sudo *', ['sudo *'], 'sudo ls', 'allow'],
  ['a wrapper that a wrapper runs is no command', 'sudo *', ['sudo *'], 'sudo env ls', 'ask'],
  ['the rule begins the command', 'docker *', ['docker exec --odd box *'], 'docker exec --odd box ls', 'allow'],
  ['the rule begins it at an option', 'docker *', ['docker exec * *'], 'docker exec --odd box ls', 'ask'],
  [
    'it begins it there within another wrapper',
    'sudo *',
    ['sudo docker exec * *'],
    'sudo docker exec --odd box ls',
    'ask',
  ],
  [
    'two globs begin it at one word',
    'docker *',
    ['docker exec --odd box ls*', 'docker exec --odd box l*'],
    'docker exec --odd box ls',
    'allow',
  ],
  [
    'two globs begin it at two words',
    'docker *',
    ['docker exec --odd box ls*', 'docker exec --odd *'],
    'docker exec --odd box ls',
    'ask',
  ],
  ['an operand of a wrapper without a command', 'docker *', ['docker run *'], 'docker run --rm lsimage', 'allow'],
  [
    'one of two globs names it after a wildcard',
    'docker *',
    ['docker run *', 'docker run * ls*'],
    'docker run --rm lsimage',
    'ask',
  ],
  ['the first command that eval runs', 'ls', ['sudo --odd eval?ls*'], 'sudo --odd eval ls \\; rm x', 'allow'],
  ['the second one', 'rm *', ['sudo --odd eval?ls*'], 'sudo --odd eval ls \\; rm x', 'ask'],
  ['an argument that could be a wrapper', 'b *', ['sudo --odd a*'], 'sudo --odd a env b ls', 'allow'],
])('%s: the ask of %s, lifted by %j, for %s: %s', (_, asked, [pattern, glob], command, action) => {
  const rules: Rule[] = [
    { pattern: 'bash', action: 'allow' },
    { pattern: `bash:${asked}`, action: 'ask' },
    { pattern: `bash:${pattern}`, ...(glob !== undefined && { args: { command: glob } }), action: 'allow' },
  ];
  expect(answer(rules, `true; ${command}`)).toBe(action);
});

test('a split without places is covered only by a rule that spells it', () => {
  const ruled = (pattern: string): string =>
    evaluate(
      {
        run: compilePolicy(
          { version: 1, rules: [{ pattern, action: 'allow' }], riskDefaults: {}, approval: {} },
          'run',
        ),
      },
      {
        tool: 'bash',
        args: { command: 'sudo ls' },
        risk: 'write',
        subject: 'command',
        shell: {
          parts: [
            { text: 'sudo ls', reduced: 'sudo ls', wrapper: 'sudo' },
            { text: 'ls', reduced: 'ls', wrapper: 'sudo', within: 0 },
          ],
          uncertain: ['wrapper program'],
        },
      },
    ).action;
  expect(ruled('bash:sudo ls*')).toBe('ask');
  expect(ruled('bash:sudo ls')).toBe('allow');
});

/** `countersign policy`, each time in its own process. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { type CliResult, cli, jsonLines, startCli } from './support.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-cli-policy-'));
afterAll(() => rmSync(folder, { recursive: true }));

const files = {
  'good.yaml': `
mode: default
rules:
  - { id: git, pattern: 'bash:git *', action: allow }
  - { id: rm, pattern: 'bash:rm *', action: deny, reason: 'Nothing is removed' }
  - { pattern: 'send_*', action: ask, reason: "Mail \u202eneeds a person" }
  - { pattern: 'get_*', when: 'args.size < 5', action: allow }
agents:
  intern:
    rules:
      - { pattern: 'send_*', action: deny }
`,
  'bad.yaml': 'version: 1\nrules:\n  - { pattern: "a", action: maybe }\n  - { pattern: "[z-a]", action: deny }\n',
  'named.yaml': 'agents: { "rene\u0301": { rules: [{ pattern: a, action: deny }] } }\n',
  'torn.yaml': 'rules: [\n',
  'deep.json': '['.repeat(60) + ']'.repeat(60),
  'control.yaml': 'rules:\n  - { pattern: "a", "\\e[31m": 1, action: deny }\n',
  'shadowed.yaml': `rules:
  - { pattern: 'get_user', action: deny }
  - { pattern: 'get_*', action: ask, ask: { on_timeout: allow } }
`,
  'ceiling.yaml': 'approval: { max_timeout: 2d }\n',
  'advised.yaml': `advisor: { name: triage, timeout: 20s }
rules:
  - { pattern: pay, action: ask, ask: { advisor: { name: judge, may_approve: true } } }
  - { pattern: wire, action: ask, ask: { advisor: false } }
  - { pattern: wipe, action: deny }
`,
  'empty.yaml': '',
  'none.yaml': 'rules: []\n',
  'sum.yaml': `rules: [{ pattern: pay, when: "sum('pay', 'eur') + args.eur > 9.0", action: deny }]\n`,
};
for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);

const policy = (args: string[], input?: string): Promise<CliResult> =>
  cli(['policy', ...args], { cwd: folder, ...(input === undefined ? {} : { input }) });

describe('check', () => {
  test.concurrent.each<[string[], number, string, string]>([
    [['good.yaml'], 0, '', ''],
    [['none.yaml'], 0, '', ''],
    [
      ['bad.yaml'],
      1,
      "bad.yaml:3:29 'action' must be one of allow, ask, deny, not 'maybe'\nbad.yaml:4:16 'pattern' holds the reversed range [z-a]\n",
      '',
    ],
    [['deep.json'], 1, 'deep.json:1:1 a policy is at most 50 levels deep\n', ''],
    [['control.yaml'], 1, "control.yaml:2:21 unknown key '\\u{001B}[31m'", ''],
    [['ceiling.yaml', '--as', 'ceiling'], 0, '', ''],
    [['ceiling.yaml', '--as', 'run'], 1, "ceiling.yaml:1:13 'max_timeout' belongs in the ceiling", ''],
    [
      ['shadowed.yaml'],
      0,
      '',
      'shadowed.yaml:2:1 warning: rule ceiling#1 can never decide: rule ceiling#2 matches all it matches, and comes later\n',
    ],
    [['shadowed.yaml', '--as', 'agent'], 0, '', "warning: rule agent#1 denies in an agent's policy"],
  ])('%j: %i', async (args, code, stdout, stderr) => {
    const result = await policy(['check', ...args]);
    expect(result).toEqual({
      code,
      stdout: stdout === '' ? '' : expect.stringContaining(stdout),
      stderr: stderr === '' ? '' : expect.stringContaining(stderr),
    });
  });

  test.concurrent('text that does not parse is reported with its position', async () => {
    const { code, stdout } = await policy(['check', 'torn.yaml']);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^torn\.yaml:\d+:\d+ .+\n/)]);
  });

  test.concurrent('--json: one finding per line', async () => {
    const bad = await policy(['check', 'bad.yaml', '--json']);
    expect([bad.code, jsonLines(bad)[0]]).toEqual([
      1,
      {
        file: 'bad.yaml',
        line: 3,
        column: 29,
        kind: 'error',
        message: "'action' must be one of allow, ask, deny, not 'maybe'",
      },
    ]);
    const warned = await policy(['check', 'shadowed.yaml', '--json']);
    expect([warned.code, new Set(jsonLines(warned).map(({ kind }) => kind))]).toEqual([0, new Set(['warning'])]);
  });
});

describe('explain', () => {
  test.each(['ren\u00e9', 'rene\u0301'])('names of agents compare in NFC: %j', async (agent) => {
    const { stdout } = await policy(['explain', 'named.yaml', '--tool', 'a', '--agent', agent, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ action: 'deny' });
  });

  const shell = ['--subject', '{"argument":"command","shell":true}'];
  const withTimeout = ['--subject', '{"argument":"command","shell":true,"beside":["timeout"]}'];
  const timed = ['--tool', 'bash', '--args', '{"command":"git log","timeout":5}'];
  test.concurrent.each<[string[], object]>([
    [
      ['--tool', 'bash', '--args', '{"command":"git log"}', '--subject', 'command'],
      { action: 'allow', rule: 'git', reason: null, severity: 'medium', layer: 'ceiling' },
    ],
    [
      ['--tool', 'bash', '--args', '{"command":"git log; rm x"}', '--subject', 'command'],
      { action: 'allow', rule: 'git' },
    ],
    [
      ['--tool', 'bash', '--args', '{"command":"git log; rm x"}', ...shell],
      { action: 'deny', rule: 'rm', reason: 'Nothing is removed' },
    ],
    [
      [...timed, ...shell],
      {
        action: 'ask',
        rule: 'git',
        reason: "rule git allows the command, not 'timeout' beside it",
        matches: expect.arrayContaining([
          { rule: 'git', action: 'allow', matched: false, why: "it allows the command, not 'timeout' beside it" },
        ]),
      },
    ],
    [[...timed, ...withTimeout], { action: 'allow', rule: 'git', reason: null }],
    [
      ['--tool', 'send_mail'],
      { action: 'ask', rule: 'ceiling#3', reason: 'Mail \u202eneeds a person', layer: 'ceiling' },
    ],
    [['--tool', 'send_mail', '--agent', 'intern'], { action: 'deny', rule: 'ceiling.intern#1' }],
    [['--tool', 'send_mail', '--mode', 'headless'], { action: 'deny', rule: null, layer: 'default' }],
    [['--tool', 'x', '--risk', 'read_only'], { action: 'allow', rule: null, severity: 'safe', layer: 'default' }],
    [['--tool', 'x', '--risk', 'destructive'], { action: 'deny', rule: null, severity: 'high' }],
    [['--tool', 'x', '--risk', 'unknown'], { action: 'ask', rule: null }],
    [
      ['--tool', 'get_x', '--args', '{"size":"big"}'],
      {
        action: 'ask',
        rule: null,
        reason: "rule ceiling#4 cannot be evaluated: _<_ does not work on (string, int); it reads 'size'",
      },
    ],
  ])('%j', async (args, expected) => {
    const result = await policy(['explain', 'good.yaml', ...args]);
    expect([result.code, result.stderr]).toEqual([0, '']);
    const [answer] = jsonLines(result);
    expect(answer).toMatchObject(expected);
    expect(Object.keys(answer!)).toEqual(['action', 'rule', 'reason', 'severity', 'layer', 'advisors', 'matches']);
  });

  test.concurrent('each rule states whether it matched and why', async () => {
    const result = await policy(['explain', 'good.yaml', '--tool', 'send_mail', '--json']);
    expect(jsonLines(result)[0]!['matches']).toEqual([
      { rule: 'git', action: 'allow', matched: false, why: 'its pattern is for another tool' },
      { rule: 'rm', action: 'deny', matched: false, why: 'its pattern is for another tool' },
      { rule: 'ceiling#3', action: 'ask', matched: true, why: 'it matches' },
      { rule: 'ceiling#4', action: 'allow', matched: false, why: 'its pattern is for another tool' },
      { rule: 'ceiling.intern#1', action: 'deny', matched: false, why: "it is for agent 'intern'" },
    ]);
    expect(result.stdout).not.toContain('\u202e');
  });

  test.concurrent.each([
    ['pay', [{ name: 'judge', timeoutMs: 30_000 }]],
    ['look', [{ name: 'triage', timeoutMs: 20_000 }]],
    ['wire', []],
    ['wipe', []],
  ])('the advisors that %s is put to', async (tool, advisors) => {
    const result = await policy(['explain', 'advised.yaml', '--tool', tool, '--json']);
    expect(jsonLines(result)[0]!['advisors']).toEqual(advisors);
  });

  test.concurrent('sums of earlier calls', async () => {
    const call = ['explain', 'sum.yaml', '--tool', 'pay', '--args', '{"eur":5}', '--json'];
    const results = await Promise.all([policy(call), policy([...call, '--sums', '{"pay":{"eur":5}}'])]);
    expect(results.map((result) => jsonLines(result)[0]!['action'])).toEqual(['ask', 'deny']);
    const cases = ['{"pay":{"eur":4}}', '{"pay":{"eur":5}}', '{"pay":5}', '{"pay":{"eur":"5"}}'].map(
      (sums) => `{"tool":"pay","args":{"eur":5},"sums":${sums}}\n`,
    );
    const error = `'sums' must be what earlier calls add up to, by tool and argument: {"refund":{"amount":700}}`;
    const lines = jsonLines(await policy(['eval', 'sum.yaml', '--cases', '-'], cases.join('')));
    expect(lines).toMatchObject([{ action: 'ask' }, { action: 'deny' }, { error }, { error }]);
  });

  test.concurrent('a policy that does not load: exit 1', async () => {
    expect(await policy(['explain', 'bad.yaml', '--tool', 'x'])).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^bad\.yaml:3:29 .+\nbad\.yaml:4:16 .+\n$/),
    });
  });
});

const shellCase = (command: unknown): object => ({
  tool: 'bash',
  args: { command },
  subject: { argument: 'command', shell: true },
});

describe('eval', () => {
  const lines: [line: string, answer: object][] = [
    [
      JSON.stringify({ id: 'a', ...shellCase('git log') }),
      { id: 'a', action: 'allow', rule: 'git', reason: null, severity: 'medium' },
    ],
    [
      JSON.stringify({ id: 2, ...shellCase('git log && /bin/rm x') }),
      { id: 2, action: 'deny', rule: 'rm', reason: 'Nothing is removed', severity: expect.any(String) },
    ],
    [
      JSON.stringify({ id: 3, ...shellCase(7), risk: 'read_only' }),
      { id: 3, case: 3, tool: 'bash', action: 'deny', rule: 'rm' },
    ],
    [
      JSON.stringify({ id: 4, tool: 'bash', args: { command: 'git log; rm x' }, subject: 'command' }),
      { id: 4, action: 'allow', rule: 'git' },
    ],
    ['{"tool":"x","args":{}}', { id: null, action: 'ask', rule: null, reason: null, severity: 'medium' }],
    [
      '{"tool":"x","args":{},"risk":"unknown"}',
      { id: null, action: 'ask', rule: null, reason: null, severity: 'high' },
    ],
    ['{"tool":"x","args":{},"risk":"read_only"}\r', { id: null, action: 'allow', rule: null }],
    ['{"tool":"x","args":{},"risk":"read_only","mode":"confirm_all"}', { action: 'ask', rule: null }],
    ['{"tool":"send_x","args":{}}', { action: 'ask', rule: 'ceiling#3', reason: 'Mail \u202eneeds a person' }],
    ['{"tool":"send_x","args":{},"agent":"intern"}', { action: 'deny', rule: 'ceiling.intern#1' }],
    ['{"id":{"n":1},"tool":"x","args":{"a":"\u2028\u2029\u0085"}}', { id: { n: 1 }, action: 'ask' }],
    ['{"id":"__proto__","tool":"constructor","args":{"__proto__":{"a":1}}}', { id: '__proto__', action: 'ask' }],
    ['{"tool":"\\ud800","args":{}}', { action: 'ask', rule: null }],
    ['{"tool":"","args":{},"note":"a key of mine"}', { action: 'ask' }],
    ['', { id: null, error: 'the line is empty' }],
    ['nonsense', { id: null, error: 'the line is not JSON' }],
    ['[]', { id: null, error: 'the line is not an object' }],
    ['null', { id: null, error: 'the line is not an object' }],
    ['{"id":7}', { id: 7, error: "'tool' must be a text" }],
    ['{"id":7,"tool":"x"}', { id: 7, error: "'args' is missing" }],
    ['{"id":7,"tool":"x","args":[]}', { id: 7, error: "'args' must be an object" }],
    ['{"id":7,"tool":"x","args":null}', { id: 7, error: "'args' must be an object" }],
    ['{"id":7,"tool":"x","args":{"a":{"b":1,"\\u0062":2}}}', { id: 7, error: 'args.a.b: expected each key once' }],
    ['{"id":7,"tool":"x","tool":"y","args":{}}', { id: null, error: "'tool' appears twice in the line" }],
    [
      '{"id":7,"tool":"x","args":{"n":9007199254740993}}',
      { id: 7, error: 'args.n: expected a number that a double holds exactly; send it as text' },
    ],
    ['{"id":7,"tool":"x","args":{},"mod":"plan"}', { id: null, error: "unknown key 'mod': did you mean 'mode'?" }],
    [
      '{"id":7,"tool":"x","args":{},"caller":{"userId":"ann"}}',
      { id: null, error: expect.stringMatching(/^unknown key 'caller'; known are id, tool/) },
    ],
    ['{"id":7,"tool":"x","args":{"n":1e999}}', { id: 7, error: 'args.n: expected a number that a double holds' }],
    ['{"id":7,"tool":"x","args":{"n":"\\udc00"}}', { id: 7, error: expect.stringContaining('surrogate') }],
    [
      `{"id":7,"tool":"x","args":{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`,
      { id: 7, error: 'args: expected at most 64 levels of nesting' },
    ],
    ['{"id":9007199254740993,"tool":"x","args":{}}', { id: null, error: expect.stringMatching(/^id: expected/) }],
    ['{"id":7,"tool":"x","args":{},"risk":"safe"}', { id: 7, error: expect.stringContaining("'risk' must be one of") }],
    ['{"id":7,"tool":"x","args":{},"risk":"constructor"}', { id: 7, error: expect.stringContaining("'risk'") }],
    ['{"id":7,"tool":"x","args":{},"mode":"toString"}', { id: 7, error: expect.stringContaining("'mode'") }],
    ['{"id":7,"tool":"x","args":{},"subject":{"shell":true}}', { id: 7, error: expect.stringContaining("'subject'") }],
    [
      '{"id":7,"tool":"bash","args":{"command":"git log","env":{}},"subject":{"argument":"command","shell":true}}',
      { id: 7, action: 'ask', rule: 'git', reason: "rule git allows the command, not 'env' beside it" },
    ],
    [
      '{"id":7,"tool":"bash","args":{"command":"git log","env":{}},"subject":{"argument":"command","shell":true,"beside":["env"]}}',
      { id: 7, action: 'allow', rule: 'git', reason: null },
    ],
    ...['"env"', '[1]', 'null'].map((beside): [string, object] => [
      `{"id":7,"tool":"x","args":{},"subject":{"argument":"a","shell":true,"beside":${beside}}}`,
      { id: 7, error: expect.stringContaining("'subject'") },
    ]),
    ['{"id":7,"tool":"x","args":{},"subject":{"argument":"a","beside":[]}}', { id: 7, error: expect.any(String) }],
    ['{"id":7,"tool":"x","args":{},"subject":null}', { id: 7, error: expect.stringContaining("'subject'") }],
    ['{"id":7,"tool":"x","args":{},"agent":1}', { id: 7, error: "'agent' must be a text" }],
  ];

  const evaluated = policy(['eval', 'good.yaml', '--cases', '-'], `${lines.map(([line]) => line).join('\n')}\n`);

  test('one output line per input line, exit 1 for lines that cannot be read', async () => {
    const result = await evaluated;
    expect([result.code, result.stderr, jsonLines(result).length]).toEqual([1, '', lines.length]);
  });

  test.each(lines.map(([line, answer], index) => [index, line.slice(0, 100), answer] as const))(
    '%i %s',
    async (index, _line, answer) => {
      const out = jsonLines(await evaluated)[index];
      expect(out).toMatchObject(answer);
      expect(Object.keys(out!)).toEqual(
        'error' in out! ? ['id', 'case', 'error'] : ['id', 'case', 'tool', 'action', 'rule', 'reason', 'severity'],
      );
    },
  );

  test('cases from a file, the last line without a line break; --json changes nothing', async () => {
    writeFileSync(join(folder, 'cases.jsonl'), '\ufeff{"id":1,"tool":"x","args":{}}\n{"id":2,"tool":"y","args":{}}');
    const result = await policy(['eval', 'good.yaml', '--cases', 'cases.jsonl', '--json']);
    expect([result.code, jsonLines(result).map(({ id, action }) => [id, action])]).toEqual([
      0,
      [
        [1, 'ask'],
        [2, 'ask'],
      ],
    ]);
  });

  test('no cases', async () => {
    expect(await policy(['eval', 'good.yaml', '--cases', '-'], '')).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test('bytes that are not UTF-8 are an error of their line only', async () => {
    const good = Buffer.from('{"id":1,"tool":"x","args":{}}\n');
    writeFileSync(join(folder, 'latin.jsonl'), Buffer.concat([good, Buffer.from('{"id":"\xe9"}\n', 'latin1'), good]));
    const result = await policy(['eval', 'good.yaml', '--cases', 'latin.jsonl']);
    expect([result.code, jsonLines(result)]).toMatchObject([
      1,
      [{ id: 1 }, { id: null, error: 'the line is not UTF-8' }, { id: 1 }],
    ]);
  });

  test('each line is answered as it arrives', async () => {
    const running = startCli(['policy', 'eval', 'good.yaml', '--cases', '-'], { cwd: folder, keepInputOpen: true });
    for (const [index, id] of ['first', 'second'].entries()) {
      running.child.stdin.write(`{"id":"${id}","tool":"x","args":{}}\n`);
      await running.shows(`{"id":"${id}","case":${index + 1},"tool":"x","action":"ask"`);
    }
    running.child.stdin.end();
    expect((await running.ended).code).toBe(0);
  });

  test.each(['bad.yaml', 'torn.yaml', 'deep.json'])(
    '%s: nothing on standard output, its lines on standard error',
    async (file) => {
      const { code, stdout, stderr } = await policy(
        ['eval', file, '--cases', '-', '--json'],
        '{"tool":"x","args":{}}\n',
      );
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(new RegExp(`^(${file}:\\d+:\\d+ .+\n)+$`));
    },
  );

  test('odd lines: each gets its answer or its error, and none ends the command', async () => {
    const field = fc.oneof(
      fc.constantFrom<unknown>('x', 'bash', 'write', 'unknown', 'plan', 'command', {
        argument: 'command',
        shell: true,
      }),
      fc.jsonValue(),
    );
    const record = fc.record(
      {
        id: fc.jsonValue(),
        tool: field,
        args: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), field),
        risk: field,
        subject: field,
        agent: field,
        mode: field,
      },
      { requiredKeys: ['tool', 'args'] },
    );
    const cut = fc.tuple(record, fc.nat(200)).map(([value, at]) => JSON.stringify(value).slice(0, at));
    const raw = fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\n', ' '));
    const shell = fc
      .string({ unit: fc.constantFrom(...Array.from('git rm;&|$(){}<>\'"`\\*\n')) })
      .map((text) => JSON.stringify(shellCase(text)));
    const line = fc.oneof(
      record.map((value) => JSON.stringify(value)),
      cut,
      raw,
      shell,
    );
    const odd = fc.sample(line, { numRuns: 2_000, seed: 4 });
    const result = await policy(['eval', 'good.yaml', '--cases', '-'], odd.map((each) => `${each}\n`).join(''));
    const out = jsonLines(result);
    expect([result.code, result.stderr, out.length]).toEqual([1, '', odd.length]);
    const failed = out.filter((each) => 'error' in each).length;
    expect(failed).toBeGreaterThan(100);
    expect(failed).toBeLessThan(1_900);
    for (const [index, each] of out.entries()) {
      const { id } = ((): { id?: unknown } => {
        try {
          return (JSON.parse(odd[index]!) as { id?: unknown }) ?? {};
        } catch {
          return {};
        }
      })();
      if (each['id'] !== null) expect(JSON.stringify(each['id'])).toBe(JSON.stringify(id));
      if ('error' in each) expect(each['error']).toMatch(/^('\w+' |the line |args|id).+/);
      else expect(['allow', 'ask', 'deny']).toContain(each['action']);
    }
  });
});

describe('init', () => {
  const presets = readdirSync(new URL('../../../presets/', import.meta.url)).map((name) =>
    name.slice(0, -'.yaml'.length),
  );

  test.concurrent.each(presets)('%s', async (preset) => {
    const file = `init-${preset}.yaml`;
    const result = await policy(['init', '--preset', preset, file]);
    expect([result.code, jsonLines(result)]).toEqual([0, [{ file, preset }]]);
    expect(result.stderr).toMatch(preset === 'sandbox' ? /^WARNING: nobody is asked .+\n$/ : /^$/);
    const written = readFileSync(join(folder, file), 'utf8');
    expect(written).toBe(readFileSync(new URL(`../../../presets/${preset}.yaml`, import.meta.url), 'utf8'));
    expect(await policy(['check', file])).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test.concurrent('--list shows all presets and writes nothing', async () => {
    const result = await policy(['init', '--list', 'listed.yaml']);
    expect([result.code, jsonLines(result).map(({ preset }) => preset)]).toEqual([0, presets.sort()]);
    expect(readdirSync(folder)).not.toContain('listed.yaml');
  });

  test.concurrent('an existing file is replaced only with --force', async () => {
    const home = mkdtempSync(join(folder, 'home-'));
    const run = (...args: string[]) => cli(['policy', 'init', ...args], { cwd: home });
    const text = () => readFileSync(join(home, 'countersign.policy.yaml'), 'utf8');
    expect(await run()).toMatchObject({ code: 0, stdout: '{"file":"countersign.policy.yaml","preset":"practical"}\n' });
    const first = text();
    expect(await run('--preset', 'strict')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: countersign.policy.yaml exists already: choose another file, or replace it with --force.\n',
    });
    expect(text()).toBe(first);
    expect((await run('--preset', 'strict', '--force')).code).toBe(0);
    expect(text()).toContain("{ pattern: '*', action: ask }");
  });
});

describe('wrong use: one sentence, exit 2', () => {
  test.concurrent.each<[string[], string]>([
    [['check'], "error: missing required argument 'file'"],
    [['check', 'nothing.yaml'], 'error: The policy nothing.yaml cannot be read: there is no such file.'],
    [['check', '.'], 'error: The policy . cannot be read: it is a folder.'],
    [
      ['check', 'good.yaml', '--as', 'me'],
      "error: option '--as <owner>' argument 'me' is invalid. Allowed choices are ceiling, agent, run.",
    ],
    [['explain', 'good.yaml'], "error: required option '--tool <name>' not specified"],
    [
      ['explain', 'good.yaml', '--tool', 'x', '--args', '{'],
      "error: --args: Quoted object key or end of object '}' expected but reached end of input at position 1; give the arguments of the call as JSON.",
    ],
    [
      ['explain', 'good.yaml', '--tool', 'x', '--args', '[]'],
      `error: --args must be an object, such as '{"path":"a.txt"}'.`,
    ],
    [
      ['explain', 'good.yaml', '--tool', 'x', '--subject', '{"shell":true}'],
      `error: --subject must be an argument's name, or {"argument":NAME,"shell":true,"beside":[NAME,…]}.`,
    ],
    [
      ['explain', 'good.yaml', '--tool', 'x', '--risk', 'bad'],
      "error: option '--risk <risk>' argument 'bad' is invalid. Allowed choices are read_only, write, destructive, unknown.",
    ],
    [
      ['explain', 'good.yaml', '--tool', 'x', '--sums', '{"x":1}'],
      'error: --sums must be what earlier calls add up to, by tool and argument: {"refund":{"amount":700}}.',
    ],
    [['eval', 'good.yaml'], "error: required option '--cases <file>' not specified"],
    [
      ['eval', 'good.yaml', '--cases', 'nothing.jsonl'],
      'error: The cases in nothing.jsonl cannot be read: there is no such file.',
    ],
    [['eval', 'nothing.yaml', '--cases', '-'], 'error: The policy nothing.yaml cannot be read: there is no such file.'],
    [
      ['init', '--preset', '../presets/ci'],
      'error: There is no preset ../presets/ci: it is one of autonomous, ci, development, practical, production, research, sandbox, strict.',
    ],
    [
      ['init', 'no/such/folder.yaml'],
      'error: The policy no/such/folder.yaml cannot be written: its folder does not exist.',
    ],
    [
      ['apply', 'good.yaml'],
      'error: Say what to apply: a policy file, --mode MODE, --channels NAME, or several of them.',
    ],
  ])('%j', async (args, sentence) => {
    expect(await policy(args)).toEqual({ code: 2, stdout: '', stderr: `${sentence}\n` });
  });
});

test('check refuses a file that is not UTF-8, with its place and the remedy', async () => {
  const file = join(folder, 'latin1.yaml');
  writeFileSync(file, Buffer.from('rules:\n  - { pattern: "read:*/gesch\xe4ft/*", action: deny }\n', 'latin1'));
  expect(await policy(['check', 'latin1.yaml'])).toEqual({
    code: 1,
    stdout: 'latin1.yaml:2:29 the byte 0xE4 is not UTF-8: save the file as UTF-8\n',
    stderr: '',
  });
});

test('check with a module says which names match none of its tools and agents', async () => {
  const module = join(import.meta.dirname, '../../fixtures/cli-agents.ts');
  writeFileSync(join(folder, 'names.yaml'), 'rules: [{ pattern: no_such_tool, action: deny }]\n');
  const { code, stderr } = await policy(['check', 'names.yaml', '--module', module]);
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining("warning: rule ceiling#1 matches no tool: there is no 'no_such_tool'"),
  ]);
});

test.each<[string, string, string[]]>([
  [
    'no channel',
    '{}',
    [
      "reminds.yaml:1:1 warning: rule ceiling#1 reminds every 15m, which no channel of the worker sends to people: add one to 'channels'; else only the worker's log has it",
    ],
  ],
  ['a channel that sends messages', '{ chat: { notify: () => undefined } }', []],
  [
    'channels that cannot be made here',
    "'channels: { hook: { kind: webhook, url: https://hooks.example.com, secret: { env: ABSENT_SECRET } } }'",
    [
      "reminds.yaml:1:1 warning: whether a channel sends what it says of waiting requests is not known here: channels:1:13 channel 'hook': The secret in the environment variable ABSENT_SECRET is missing or empty.",
    ],
  ],
])('check with a module says whether reminders are sent: %s', async (name, channels, warnings) => {
  // Each has a module of its own: a process loads one once.
  const module = `${name.replaceAll(' ', '-')}.mjs`;
  writeFileSync(join(folder, module), `export default { agents: [], channels: ${channels} };\n`);
  writeFileSync(
    join(folder, 'reminds.yaml'),
    "rules: [{ pattern: '*', action: ask, ask: { remind: 15m, timeout: 1h } }]\n",
  );
  const { code, stderr } = await policy(['check', 'reminds.yaml', '--module', module]);
  const found = stderr.split('\n').filter((line) => /reminds every|not known here/.test(line));
  expect([code, found]).toEqual([0, warnings]);
});

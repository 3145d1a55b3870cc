import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type CliResult, cli } from './support.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-preview-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const preview = (input: string | object, ...words: string[]): Promise<CliResult> =>
  cli(['approvals', 'preview', ...words], { input: typeof input === 'string' ? input : JSON.stringify(input) });

const refund = { tool: 'refund', args: { orderId: 'o-17', to: 'ann@p\u0430ypal.com' }, risk: 'destructive' };

describe('each channel', () => {
  test.each<[string, RegExp]>([
    ['terminal', /^Refund: .*\n! What this call does may not be reversible\.\n[^]*\nThe raw call\n--all shows it\n$/],
    [
      'text',
      /^Refund: [^]*\nThe raw call\n│ \{"arguments":\{"orderId":"o-17","to":"ann@p\\u0430ypal\.com"\},"tool":"refund"\}\n$/,
    ],
    ['markdown', /^### Refund: [^]*- to: `ann@p\\u\{0430\}ypal\.com`\n[^]*<\/details>\n$/],
    ['html', /^<!doctype html>\n[^]*ann@p<mark>\\u\{0430\}<\/mark>ypal\.com[^]*<\/html>\n$/],
    ['slack', /^\{\n {2}"messages": \[[^]*\}\n$/],
  ])('%s', async (channel, shape) => {
    const { code, stdout, stderr } = await preview(refund, '--channel', channel);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(shape);
  });

  test('--json prints the card and its digest', async () => {
    const { stdout } = await preview(refund, '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      version: 1,
      toolName: 'refund',
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      whole: true,
    });
  });

  test('--all cuts nothing', async () => {
    const call = { tool: 'note', args: { text: 'x'.repeat(5_000) } };
    expect((await preview(call)).stdout).toContain('[3,800 characters hidden; --all shows it]');
    expect((await preview(call, '--all')).stdout).toContain('x'.repeat(5_000));
  });
});

describe('what a run would refuse is shown all the same', () => {
  test.each<[string, string, string[]]>([
    ['a number', '42', ['! The input is not an object { tool, args }', '│ 42']],
    ['no arguments', '{"tool":"a"}', ["! A run would refuse these arguments: 'args' is missing."]],
    [
      'arguments of another kind',
      '{"tool":"a","args":[1,"x"]}',
      ['args: expected an object.', 'args[0]  1', 'args[1]  x'],
    ],
    [
      'a duplicate key',
      '{"tool":"a","args":{"to":"bob","to":"ann"}}',
      ['! A run would refuse these arguments: args.to: expected each key once.', 'to  ann', '"to":"bob","to":"ann"'],
    ],
    [
      'a number that a double does not hold',
      '{"tool":"a","args":{"id":12345678901234567890}}',
      [
        'args.id: expected a number that a double holds exactly',
        '"12345678901234567890"',
        '│ {"tool":"a","args":{"id":12345678901234567890}}',
      ],
    ],
    [
      'half a surrogate pair',
      '{"tool":"a","args":{"id":"\\ud800"}}',
      ['half a surrogate pair', String.raw`id  \u{D800}`],
    ],
    [
      'arguments that the schema refuses',
      '{"tool":"a","args":{"n":"x"},"schema":{"properties":{"n":{"type":"number"}}}}',
      ['args.n: expected number'],
    ],
    ['a schema that is none', '{"tool":"a","args":{"n":1},"schema":{"type":"foo"}}', ['! ', 'n  1']],
    [
      'deep nesting',
      `{"tool":"a","args":{"n":${'['.repeat(9_000)}${']'.repeat(9_000)}}}`,
      ['levels of nesting', '[[[[[['],
    ],
    [
      'a tool without a name',
      '{"tool":7,"args":{},"risk":"huge"}',
      ["! 'tool' is left out: it is not a text.", "! 'risk' is left out"],
    ],
    ['a preview of another kind', '{"tool":"a","args":{},"preview":[{"kind":"x"}]}', ["! 'preview' is left out"]],
  ])('%s', async (_name, input, texts) => {
    const { code, stdout, stderr } = await preview(input, '--channel', 'text');
    expect([code, stderr]).toEqual([0, '']);
    for (const text of texts) expect(stdout).toContain(text);
  });
});

test.each([
  ['', 'Standard input is empty'],
  ['{"tool":', 'Standard input is not JSON'],
])('text that is not JSON is a mistake in the command: %j', async (input, message) => {
  const { code, stdout, stderr } = await preview(input);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toBe(`error: ${message}: give it one JSON object { tool, args }.\n`);
});

test('the call of docs/card.md', async () => {
  const page = readFileSync(new URL('../../../docs/card.md', import.meta.url), 'utf8');
  const [, call = ''] = /```json\n(.*)\n```/.exec(page)!;
  const [, words = ''] = /^countersign approvals preview (.*) < call\.json$/m.exec(page)!;
  const { code, stdout } = await preview(call, ...words.split(' '));
  expect([code, stdout.split('\n')[0]]).toEqual([0, 'Refund: orderId o-17, amount 120']);
});

test('--policy says what the policy answers', async () => {
  const file = join(folder, 'policy.yaml');
  writeFileSync(file, 'rules:\n  - id: big\n    pattern: refund\n    action: ask\n    reason: Refunds need a person\n');
  const { stdout } = await preview(refund, '--policy', file);
  expect(stdout).toMatch(/Reason +Refunds need a person\n[^]*Rule +big\n/);
  writeFileSync(file, 'rules: 7\n');
  const broken = await preview(refund, '--policy', file);
  expect([broken.code, broken.stdout]).toEqual([1, '']);
  expect(broken.stderr).toContain(`${file}:1:`);
});

test('the schema, the sentence and the change are those of the tool', async () => {
  const call = {
    ...refund,
    sentence: 'Refund Ann',
    schema: { properties: { orderId: { title: 'Order' } } },
    preview: [{ kind: 'text', name: 'ledger', before: 'a\n', after: 'b\n' }],
  };
  const { stdout } = await preview(call, '--channel', 'text');
  expect(stdout).toMatch(/^Refund Ann\n/);
  expect(stdout).toContain('Order (orderId)  o-17');
  expect(stdout).toContain('│ -a\n│ +b\n');
});

describe('what a policy redacts', () => {
  const mail = {
    tool: 'send_mail',
    args: { to: 'bob@acme.com', body: 'Ask ann@acme.com about CASE-17' },
    sentence: 'Mail Bob about ann@acme.com',
    preview: [{ kind: 'text', name: 'outbox', before: null, after: 'Ask ann@acme.com' }],
  };
  const policy = join(folder, 'redact.yaml');

  test.each<[string, string, string, RegExp]>([
    ['without a policy', '', 'Ask [EMAIL …om · f966] about CASE-17', /^Mail Bob about \[EMAIL …om · f966\]\n/],
    [
      'its own patterns',
      'redact:\n  patterns:\n    - { name: CASE, pattern: "CASE-[0-9]+" }\n',
      'Ask [EMAIL …om · f966] about [CASE · 1ff8]',
      /! Hidden from you: body\. The tool will receive the real values\.\n/,
    ],
    ['nothing', 'approval: { redact: false }\n', 'Ask ann@acme.com about CASE-17', /\nAlways /],
    ['all arguments', 'approval: { include_arguments: false }\n', '! Part of this request is hidden', /^(?!.*ann@)/],
  ])('%s', async (_name, document, expected, shape) => {
    writeFileSync(policy, `${document}rules: []\n`);
    const words = document === '' ? [] : ['--policy', policy];
    const { code, stdout, stderr } = await preview(mail, '--channel', 'text', ...words);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(expected);
    expect(stdout).toMatch(shape);
    expect(stdout.includes('ann@acme.com')).toBe(document.includes('redact: false'));
    expect(stdout.includes('bob@acme.com')).toBe(!document.includes('include_arguments'));
    expect(/\nAlways /.test(stdout)).toBe(document.includes('redact: false'));
  });

  test('also in a call that is shown as it was written', async () => {
    const { stdout } = await preview(
      '{"tool":"a","args":{"note":"ann@acme.com","note":"eve@acme.com"}}',
      '--channel',
      'text',
    );
    expect(stdout).toContain('"note":"[EMAIL …om · f966]","note":"[EMAIL …om · 1cff]"');
    expect(stdout).not.toContain('@acme.com');
  });
});

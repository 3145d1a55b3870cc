/** `countersign reviewer-key` and every command that signs with such a key, on a real server and worker. */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeReviewerKey } from '../../../packages/cli/src/answers/reviewer-key.ts';
import { publicKeyOf } from '../../../src/client/send/sign-message.ts';
import type { ApprovalDetails, Receipt } from '../../../src/contract.ts';
import { type RunInTest, type World, openWorld } from '../../support/world.ts';
import { type CliResult, cli, jsonLines, terminal } from './support.ts';

const manual = readFileSync(new URL('../../../docs/wire.md', import.meta.url), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'countersign-cli-'));
const inFolder = { cwd: folder };
const ceiling = join(folder, 'ceiling.json');
const people = ['ann', 'bob', 'desk'] as const;
const ann = ['--sign', 'ann.pem', '--key', 'ann-laptop'];
const bob = ['--sign', 'bob.pem', '--key', 'bob-phone'];
const desk = ['--sign', 'desk.pem', '--key', 'desk'];

let world: World;
const publicKeys = {} as Record<(typeof people)[number], string>;
beforeAll(async () => {
  for (const name of people) {
    const made = await cli(['reviewer-key', '--out', `${name}.pem`], inFolder);
    publicKeys[name] = jsonLines(made)[0]!['publicKey'] as string;
  }
  const policy = {
    rules: [{ pattern: 'pay', action: 'ask', ask: { reviewers: ['group:finance'], verified: true } }],
    directory: {
      people: {
        ann: { groups: ['finance'], keys: ['ann-laptop'] },
        bob: { groups: ['finance'], keys: ['bob-phone'] },
        carl: {},
      },
    },
    reviewer_keys: {
      'ann-laptop': publicKeys.ann,
      'bob-phone': publicKeys.bob,
      desk: { public_key: publicKeys.desk, operator: true },
    },
  };
  writeFileSync(ceiling, JSON.stringify(policy, null, 2));
  world = await openWorld({ policy: ceiling });
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

async function waiting(count = 1): Promise<{ run: RunInTest; workflowId: string; ids: string[]; requestId: string }> {
  const calls = Array.from({ length: count }, (_, index) => ({
    tool: 'pay',
    args: { to: `p${index}@acme.com`, amount: 5 },
  }));
  const run = await world.start([{ calls }, { text: '{{lastResult}}' }]);
  const ids = (await run.open(count)).map(({ requestId }) => requestId);
  return { run, workflowId: run.workflowId, ids, requestId: ids[0]! };
}

function receiptOf(result: CliResult): Receipt {
  if (result.code !== 0) throw new Error(result.stderr);
  return jsonLines(result)[0] as unknown as Receipt;
}

const sign = (...args: string[]): Promise<CliResult> => cli(args, inFolder);
const detailsOf = (requestId: string, workflowId: string): Promise<ApprovalDetails> =>
  world.client.approvals.get(requestId, { workflowId });

describe('reviewer-key', () => {
  test('the private key is in a file that only its owner can read; the public key is printed', async () => {
    const made = await cli(['reviewer-key'], inFolder);
    const privateKey = readFileSync(join(folder, 'reviewer-key.pem'), 'utf8');
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(jsonLines(made)).toEqual([{ publicKey: publicKeyOf(privateKey), privateKeyFile: 'reviewer-key.pem' }]);
    expect(statSync(join(folder, 'reviewer-key.pem')).mode & 0o777).toBe(0o600);
  });

  test('on a terminal: only the public key on standard output', () => {
    const written = { stdout: '', stderr: '' };
    makeReviewerKey(join(folder, 'terminal.pem'), {
      ...terminal(),
      line: (text) => void (written.stdout += `${text}\n`),
      note: (text) => void (written.stderr += `${text}\n`),
    });
    const privateKey = readFileSync(join(folder, 'terminal.pem'), 'utf8');
    expect(written).toEqual({
      stdout: `${publicKeyOf(privateKey)}\n`,
      stderr: `${folder}/terminal.pem holds the private key now. Its public key:\n`,
    });
  });

  test('the public key of an existing key', async () => {
    expect(jsonLines(await cli(['reviewer-key', '--of', 'ann.pem'], inFolder))).toEqual([
      { publicKey: publicKeys.ann },
    ]);
  });

  test('an existing file stays unchanged', async () => {
    const before = readFileSync(join(folder, 'ann.pem'), 'utf8');
    expect(await cli(['reviewer-key', '--out', 'ann.pem'], inFolder)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: ann.pem exists already: choose another file with --out.\n',
    });
    expect(readFileSync(join(folder, 'ann.pem'), 'utf8')).toBe(before);
  });

  test('a folder that does not exist', async () => {
    expect(await cli(['reviewer-key', '--out', 'none/ann.pem'], inFolder)).toEqual({
      code: 2,
      stdout: '',
      stderr: 'error: The private key cannot be written to none/ann.pem: its folder does not exist.\n',
    });
  });
});

describe('signed messages are accepted as verified', () => {
  test('approve, as in the manual', async () => {
    const { run, workflowId, requestId } = await waiting();
    expect(await sign('approve', requestId, '--run', workflowId, '--reviewer', 'ann')).toMatchObject({ code: 5 });
    const commands = /^## Signatures\n.*?^```sh command line\n(.*?)^```/ms.exec(manual)![1]!;
    const elsewhere = join(folder, 'elsewhere');
    mkdirSync(elsewhere);
    for (const command of commands.trimEnd().split('\n')) {
      const [program, ...words] = command
        .replace(/ +#.*$/, '')
        .replace(/\b[0-9a-f]{32}\b/, requestId)
        .split(' ');
      expect(program).toBe('countersign');
      // A newly created key is not among those that the worker's policy lists.
      const cwd = words[0] === 'reviewer-key' ? elsewhere : folder;
      expect(await cli(words, { cwd })).toMatchObject({ code: 0, stderr: '' });
    }
    expect(readdirSync(elsewhere)).toEqual(['ann.pem']);
    await run.result();
    const { votes, rule, rulePlace } = await detailsOf(requestId, workflowId);
    expect(votes).toMatchObject([{ reviewerId: 'ann', identity: 'verified', approved: true }]);
    expect([rule, rulePlace]).toEqual(['ceiling#1', 'ceiling.json:3']);
  });

  test.each<[string, string[], string]>([
    ['deny', ['--reason', 'no'], 'denied'],
    ['respond', ['done by hand'], 'responded'],
    ['edit', ['--args', '{"to":"eve@acme.com","amount":5}'], 'approved'],
  ])('%s', async (command, more, outcome) => {
    const { run, workflowId, requestId } = await waiting();
    expect(receiptOf(await sign(command, requestId, ...more, ...ann))).toMatchObject({ outcome });
    expect(await run.result()).toMatchObject({ outcomes: [{ outcome }] });
    expect((await detailsOf(requestId, workflowId)).votes).toMatchObject([{ reviewerId: 'ann', identity: 'verified' }]);
  });

  test('extend and delegate', async () => {
    const { run, workflowId, requestId } = await waiting();
    const before = Date.parse((await run.open())[0]!.deadline!);
    expect(await sign('extend', requestId, '--for', '1m', '--reviewer', 'ann')).toMatchObject({ code: 5 });
    receiptOf(await sign('extend', requestId, '--for', '1m', ...ann));
    expect(Date.parse((await run.open())[0]!.deadline!)).toBe(before + 60_000);
    expect(await sign('delegate', requestId, '--to', 'carl', '--reviewer', 'bob')).toMatchObject({ code: 5 });
    expect(receiptOf(await sign('delegate', requestId, '--to', 'carl', ...bob)).message).toContain(
      "'carl' decides in the place of 'bob'",
    );
    expect((await detailsOf(requestId, workflowId)).delegations).toMatchObject([{ from: 'bob', to: 'carl' }]);
    await run.handle.terminate();
  });

  test('grants revoke and policy apply, only by the operator', async () => {
    const { run, workflowId, ids } = await waiting(2);
    receiptOf(await sign('deny', ids[0]!, '--always', 'call', ...ann));
    const lift = ['grants', 'revoke', workflowId, '--all'];
    expect([(await sign(...lift)).code, (await sign(...lift, ...ann)).code]).toEqual([5, 5]);
    expect(receiptOf(await sign(...lift, ...desk)).message).toBe('revoked grant-1');
    const apply = ['policy', 'apply', workflowId, '--mode', 'confirm_all'];
    expect([(await sign(...apply)).code, (await sign(...apply, ...ann)).code]).toEqual([5, 5]);
    expect(receiptOf(await sign(...apply, ...desk))).toMatchObject({ accepted: true });
    await run.handle.terminate();
  });

  test("a name given with the key must be its owner's", async () => {
    const { run, requestId } = await waiting();
    expect(await sign('approve', requestId, ...ann, '--reviewer', 'bob')).toMatchObject({ code: 5, stdout: '' });
    const another = ['--sign', 'ann.pem', '--key', 'bob-phone'];
    expect(await sign('approve', requestId, ...another)).toMatchObject({ code: 5, stdout: '' });
    expect(receiptOf(await sign('approve', requestId, ...ann, '--reviewer', 'ann')).outcome).toBe('approved');
    await run.result();
  });
});

describe('wrong use: one sentence, exit 2, without any part of a key', () => {
  const both = "error: To sign, give the private key's file and the key's id: --sign FILE --key ID.\n";
  const unread = 'error: --sign: the file of the private key cannot be read';
  const notKey =
    'error: --sign: the private key is not an Ed25519 key: give its PEM without a passphrase, or its 32 bytes in base64.\n';
  const seed = 'nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=';

  test.each<[string, string[], string]>([
    ['no id', ['--sign', 'ann.pem'], both],
    ['no key', ['--key', 'ann-laptop'], both],
    ['no file', ['--sign', 'none.pem', '--key', 'k'], `${unread}: there is no such file.\n`],
    ['a folder', ['--sign', '.', '--key', 'k'], `${unread}: it is a folder.\n`],
    ['the key itself', ['--sign', seed, '--key', 'k'], `${unread}: there is no such file.\n`],
    ['a file as if a folder', ['--sign', `ann.pem/${seed}`, '--key', 'k'], `${unread}: ENOTDIR.\n`],
    ['another file', ['--sign', 'half.pem', '--key', 'k'], notKey],
  ])('%s', async (_name, flags, sentence) => {
    writeFileSync(join(folder, 'half.pem'), readFileSync(join(folder, 'ann.pem'), 'utf8').slice(0, 60));
    const result = await sign('approve', '0'.repeat(32), ...flags, '--address', '127.0.0.1:1', '--debug');
    expect([result.code, result.stdout, result.stderr.slice(0, sentence.length)]).toEqual([2, '', sentence]);
    expect(result.stderr).not.toContain(seed);
  });

  test('close cannot be signed', async () => {
    expect(await sign('close', 'x', ...ann)).toEqual({
      code: 2,
      stdout: '',
      stderr: "error: unknown option '--sign'\n",
    });
  });
});

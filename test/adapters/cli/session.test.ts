/** A person's session with the command line, on a real server and with the worker of the command line. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { eventually } from '../../support/eventually.ts';
import { ranLines } from '../../support/test-agent.ts';
import { type RunningCli, agentsModule, cli, jsonLines, startCli } from './support.ts';

const taskQueue = `cli-${randomUUID()}`;
const folder = mkdtempSync(join(tmpdir(), 'countersign-cli-'));
let worker: RunningCli;

function startWorker(): RunningCli {
  return startCli(['worker', agentsModule, '--task-queue', taskQueue], { env: { COUNTERSIGN_TEST_FOLDER: folder } });
}

beforeAll(async () => {
  worker = startWorker();
  await worker.shows('{"agents":["tester"]}');
});
afterAll(async () => {
  worker.child.kill('SIGTERM');
  await worker.ended;
  rmSync(folder, { recursive: true });
});

const payment = (to: string) => ({ calls: [{ tool: 'pay', args: { to, amount: 5 } }] });
const script = (...turns: object[]): string[] => ['--input', JSON.stringify(turns), '--task-queue', taskQueue];

async function startWaiting(to: string, ...more: string[]): Promise<{ workflowId: string; requestId: string }> {
  const started = await cli(['run', 'tester', '--detach', ...script(payment(to), { text: '{{lastResult}}' }), ...more]);
  expect(started.code).toBe(0);
  const { workflowId } = jsonLines(started)[0] as { workflowId: string };
  const [row] = await eventually('a request', async () => {
    const rows = jsonLines(await cli(['approvals', '--run', workflowId]));
    return rows.length > 0 && rows;
  });
  return { workflowId, requestId: row?.['requestId'] as string };
}

describe('run', () => {
  test('waits for the result; waiting requests are reported on standard error', async () => {
    const run = startCli(['run', 'tester', ...script(payment('ann'), { text: '{{lastResult}}' }), '--caller', 'cy']);
    await run.shows('waiting for approval: pay(to, amount): Risk default for write', 'stderr');
    const [, requestId] = /countersign approve ([0-9a-f]{32})/.exec(run.stderr()) ?? [];
    expect(await cli(['approve', requestId ?? ''])).toMatchObject({ code: 0 });
    const result = await run.ended;
    expect(result.code).toBe(0);
    expect(jsonLines(result)).toEqual([
      {
        workflowId: expect.stringMatching(/^run-tester-/),
        status: 'completed',
        output: 'paid 5 to ann',
        usage: { inputTokens: 0, outputTokens: 0 },
        outcomes: [{ callId: '1.1', toolName: 'pay', requestId, outcome: 'approved', ran: 'yes' }],
      },
    ]);
  });

  test('reads its input from standard input, under its own id, which is used once', async () => {
    const id = `mine-${randomUUID()}`;
    const args = ['run', 'tester', '--input', '-', '--id', id, '--task-queue', taskQueue];
    const input = `${JSON.stringify([{ text: 'hello' }])}\n`;
    const first = await cli(args, { input });
    expect([first.code, jsonLines(first)[0]]).toMatchObject([0, { workflowId: id, output: 'hello' }]);
    expect(await cli(args, { input })).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: Run '${id}' exists already: choose another id, or look at it with \`countersign show\`.\n`,
    });
  });

  test('takes a policy file', async () => {
    const file = join(folder, 'strict.yaml');
    writeFileSync(file, 'version: 1\nrules:\n  - { pattern: pay, action: deny, reason: "No money today" }\n');
    const result = await cli([
      'run',
      'tester',
      ...script(payment('ann'), { text: '{{lastResult}}' }),
      '--policy',
      file,
    ]);
    expect(jsonLines(result)[0]).toMatchObject({
      output: 'Denied: No money today',
      outcomes: [{ outcome: 'denied_by_policy' }],
    });
  });

  test('an unknown agent: exit 3', async () => {
    const { code, stderr } = await cli(['run', 'nobody', ...script({ text: 'x' })]);
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /error: Run 'run-nobody-[0-9a-f]{12}' failed: No agent 'nobody' on this worker; it has: 'tester'\n$/,
    );
  });

  test('Ctrl-C leaves the run alone and says how to return to it', async () => {
    const id = `left-${randomUUID()}`;
    const run = startCli(['run', 'tester', ...script(payment('ann'), { text: 'done' }), '--id', id]);
    await run.shows('waiting for approval', 'stderr');
    run.child.kill('SIGINT');
    await eventually('the end of the process', () => run.child.exitCode !== null);
    const { code, stderr, stdout } = await run.ended;
    expect([code, stdout]).toEqual([130, '']);
    expect(stderr).toContain(`The run continues. Look again: countersign show ${id}\n`);
    const [shown] = jsonLines(await cli(['show', '--json', id])) as { status: string; open: { requestId: string }[] }[];
    expect(shown?.status).toBe('waiting');
    expect((await cli(['deny', shown?.open[0]?.requestId ?? ''])).code).toBe(0);
  });
});

describe('approvals, approve, deny, show', () => {
  test('a denial carries its reason, and the user of this system as the claimed reviewer', async () => {
    const { workflowId, requestId } = await startWaiting('bob');
    const listed = await cli(['approvals', '--run', workflowId, '--json', 'toolName,requestId']);
    const appeared = await eventually('the worker tells of the request', () => {
      const told = worker.stderr().split('\n').slice(0, -1);
      const lines = told.filter((line) => line.includes(requestId)).map((line) => JSON.parse(line) as object);
      return lines.length > 0 && lines;
    });
    expect(appeared).toMatchObject([
      { change: 'appeared', workflowId, toolName: 'pay', argumentNames: ['to', 'amount'] },
    ]);
    expect(worker.stderr()).not.toContain('bob');
    expect(listed).toEqual({ code: 0, stdout: `{"toolName":"pay","requestId":"${requestId}"}\n`, stderr: '' });
    const denied = await cli(['deny', requestId, '--run', workflowId, '--reason', 'not today']);
    expect(jsonLines(denied)).toEqual([
      { requestId, accepted: true, outcome: 'denied', message: `request ${requestId}: denied` },
    ]);
    const shown = await eventually('the end', async () => {
      const [view] = jsonLines(await cli(['show', workflowId]));
      return view?.['status'] === 'completed' && view['result'] !== undefined && view;
    });
    expect(shown).toMatchObject({ workflowId, result: { output: 'Denied: not today' }, open: [] });
    const [details] = jsonLines(await cli(['approvals', 'show', requestId]));
    expect(details).toMatchObject({
      settled: { outcome: 'denied', reason: 'not today', reviewerId: userInfo().username },
    });
  });

  test('a second answer: exit 4, naming the first', async () => {
    const { requestId } = await startWaiting('bob');
    const approved = await startCli(['approve', requestId, '--reviewer', 'ann']).ended;
    expect(approved).toMatchObject({ code: 0, stdout: expect.stringContaining('"outcome":"approved"') });
    // A worker that is too busy to answer leaves only that the run has ended.
    const denied = await eventually('an answer of the worker', async () => {
      const result = await startCli(['deny', requestId]).ended;
      return !result.stderr.includes('is closed') && result;
    });
    expect(denied).toEqual({
      code: 4,
      stdout: '',
      stderr: `error: request ${requestId} was already settled by ann: approved\n`,
    });
  });

  test('too late: exit 4, reported as expired', async () => {
    const file = join(folder, 'short.yaml');
    writeFileSync(file, 'version: 1\nrules: []\napproval: { timeout: 1s }\n');
    const id = `late-${randomUUID()}`;
    const run = await cli(['run', 'tester', ...script(payment('bob'), { text: 'done' }), '--policy', file, '--id', id]);
    const [result] = jsonLines(run) as { outcomes: { requestId: string }[] }[];
    const outcome = result?.outcomes[0];
    expect(outcome).toMatchObject({ outcome: 'expired', ran: 'no' });
    const requestId = outcome?.requestId ?? '';
    const approved = await eventually('an answer of the worker', async () => {
      const result = await cli(['approve', requestId]);
      return !result.stderr.includes('is closed') && result;
    });
    expect(approved).toEqual({
      code: 4,
      stdout: '',
      stderr: `error: request ${requestId} was already settled: expired\n`,
    });
  });

  test('the wrong digest: exit 1; the right one succeeds', async () => {
    const { requestId } = await startWaiting('bob');
    expect((await cli(['approve', requestId, '--digest', '0'.repeat(64)])).code).toBe(1);
    const digest = jsonLines(await cli(['approvals', 'show', requestId]))[0]?.['digest'] as string;
    expect((await cli(['approve', requestId, '--digest', digest])).code).toBe(0);
  });

  test.each([
    [
      'a request that no run has',
      ['approve', '0'.repeat(32)],
      `error: No run lists request ${'0'.repeat(32)}, and one that has just opened may not be listed yet: \`countersign approvals\` lists the open ones.\n`,
    ],
    [
      'what is no request id',
      ['deny', 'nonsense'],
      "error: 'nonsense' is not a request id: give its 32 hex characters, or the first 4 or more.\n",
    ],
    ['a run that does not exist', ['show', 'nowhere'], "error: There is no run 'nowhere' in namespace 'default'.\n"],
    [
      'a request of a run that does not exist',
      ['approve', '0'.repeat(32), '--run', 'nowhere'],
      "error: There is no run 'nowhere' in namespace 'default'.\n",
    ],
    [
      'a hostile id',
      ['show', '\u001b]0;x\u0007\u202e'],
      "error: There is no run '\\u{001B}]0;x\\u{0007}\\u{202E}' in namespace 'default'.\n",
    ],
  ])('%s: exit 3', async (_name, args, stderr) => {
    expect(await cli(args)).toEqual({ code: 3, stdout: '', stderr });
  });

  test('model text reaches no terminal unescaped, and programs get it unchanged', async () => {
    const hostile = 'ann\u202e\u001b[2J\u200b\u{e0041}\u0007"\\';
    const { requestId } = await startWaiting(hostile);
    const shown = await cli(['approvals', 'show', requestId]);
    // eslint-disable-next-line no-control-regex
    expect(shown.stdout).toMatch(/^[\x20-\x7e]+\n$/);
    expect(jsonLines(shown)[0]?.['arguments']).toEqual({ to: hostile, amount: 5 });
    expect((await cli(['deny', requestId])).code).toBe(0);
  });
});

test('every answer says that it was made on the command line', async () => {
  const calls = ['a', 'b', 'c', 'd'].map((to) => ({ tool: 'pay', args: { to, amount: 5 } }));
  const started = await cli(['run', 'tester', '--detach', ...script({ calls }, { text: 'done' })]);
  const { workflowId } = jsonLines(started)[0] as { workflowId: string };
  const ids = await eventually('the requests', async () => {
    const rows = jsonLines(await cli(['approvals', '--run', workflowId]));
    return rows.length === 4 && rows.map(({ requestId }) => requestId as string);
  });
  const answers = [['approve'], ['deny'], ['respond', 'by hand'], ['edit', '--args', '{"to":"e","amount":1}']];
  for (const [index, [name = '', ...rest]] of answers.entries()) {
    expect(await cli([name, ids[index]!, ...rest, '--run', workflowId])).toMatchObject({ code: 0 });
  }
  const client = await createClient();
  await client.run(workflowId).result();
  const { requests } = await client.journal(workflowId);
  await client.close();
  const byId = new Map(requests.map(({ requestId, outcome, viewed }) => [requestId, [outcome, viewed]]));
  expect(ids.map((id) => byId.get(id))).toEqual([
    ['approved', { channel: 'cli' }],
    ['denied', { channel: 'cli' }],
    ['responded', { channel: 'cli' }],
    ['approved', { channel: 'cli' }],
  ]);
});

describe('without a worker', () => {
  test('the inbox and the run are still shown; an answer is recorded; a new worker applies it once', async () => {
    const { workflowId, requestId } = await startWaiting('zoe');
    worker.child.kill('SIGTERM');
    expect((await worker.ended).code).toBe(0);

    expect(jsonLines(await cli(['approvals', '--run', workflowId]))).toMatchObject([{ requestId, toolName: 'pay' }]);
    const [shown] = jsonLines(await cli(['show', workflowId]));
    expect(shown).toMatchObject({
      status: 'waiting',
      note: expect.stringContaining('start one with `countersign worker`'),
    });
    const known = await cli(['approvals', 'show', requestId]);
    expect(known).toMatchObject({ code: 0, stderr: expect.stringContaining('No worker answers') });
    expect(jsonLines(known)).toMatchObject([{ requestId, argumentNames: ['to', 'amount'], shown: 'part' }]);

    expect(await cli(['approve', requestId])).toMatchObject({ code: 2, stderr: expect.stringContaining('--unseen') });
    const approved = await cli(['approve', requestId, '--unseen']);
    expect([approved.code, jsonLines(approved)[0]]).toMatchObject([
      0,
      { accepted: true, message: expect.stringContaining('The decision is recorded, not yet applied: ') },
    ]);
    expect(ranLines(folder)).not.toContain('pay zoe 5');

    worker = startWorker();
    const client = await createClient();
    await expect(client.run(workflowId).result()).resolves.toMatchObject({ output: 'paid 5 to zoe' });
    await client.close();
    expect(ranLines(folder).filter((line) => line === 'pay zoe 5')).toHaveLength(1);
    expect(worker.stderr()).not.toContain(requestId); // the new worker replays what the other one has reported
  });
});

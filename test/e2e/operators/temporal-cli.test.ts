import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client, Connection } from '@temporalio/client';
import type { RunStatus } from '../../../src/contract.ts';
import { eventually } from '../../support/eventually.ts';
import { commandsOf, simpleCommands } from '../../support/page-commands.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { temporal } from '../../support/temporal-cli.ts';
import type { World } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** Without any Countersign code, Temporal's own client and command line can start, answer and read a run. */

let world: World;
let plain: Client;
beforeAll(async () => {
  // The dates in docs/wire.md are years in the future.
  world = await openWorld({ policy: { version: 1, rules: [], approval: { max_timeout: '3650d' } } });
  // Without our converter and names: any Temporal client in any language can do the same.
  plain = new Client({ connection: await Connection.connect({ address: sharedAddress() }) });
});
afterAll(async () => {
  await plain.connection.close();
  await world.close();
});

const script = (to: string): string =>
  JSON.stringify([{ calls: [{ tool: 'pay', args: { to, amount: 5 } }] }, { text: 'told: {{lastResult}}' }]);

const startCommand = (): string[] => ['workflow', 'start', '--type', 'agentRun', '--task-queue', world.taskQueue];

async function startByCommand(...inputs: string[]): Promise<string> {
  const workflowId = `cli-${randomUUID()}`;
  const options = inputs.flatMap((input) => ['--input', input]);
  expect(await temporal([...startCommand(), '--workflow-id', workflowId, ...options])).toMatchObject({ exitCode: 0 });
  return workflowId;
}

async function startByClient(input: unknown): Promise<string> {
  const workflowId = `plain-${randomUUID()}`;
  await plain.workflow.start('agentRun', { workflowId, taskQueue: world.taskQueue, args: [input] });
  return workflowId;
}

/** The id of the open request, from a query with the command line. */
async function findOpen(workflowId: string): Promise<string> {
  return eventually('an open request', async () => {
    const { stdout } = await temporal(['workflow', 'query', '--workflow-id', workflowId, '--name', 'approvals']);
    return /"?requestId"?[":\s]+([0-9a-f]{32})/.exec(stdout)?.[1];
  });
}

const signal = (workflowId: string, ...options: string[]) =>
  temporal(['workflow', 'signal', '--workflow-id', workflowId, '--name', 'decide', ...options]);

describe('a run started and approved without Countersign code', () => {
  test.each<[string, (to: string) => Promise<string>]>([
    ['temporal workflow start', (to) => startByCommand(JSON.stringify({ agent: 'tester', input: script(to) }))],
    ['the plain client', (to) => startByClient({ agent: 'tester', input: script(to) })],
  ])('by %s, approved by temporal workflow signal', async (name, start) => {
    const to = name.replaceAll(' ', '-');
    const workflowId = await start(to);
    const requestId = await findOpen(workflowId);
    expect(world.ran()).not.toContain(`pay ${to} 5`);
    const { exitCode } = await signal(workflowId, '--input', JSON.stringify({ requestId, approved: true }));
    expect(exitCode).toBe(0);
    expect(await plain.workflow.result(workflowId)).toMatchObject({
      status: 'completed',
      output: `told: paid 5 to ${to}`,
      outcomes: [{ outcome: 'approved', ran: 'yes' }],
    });
    expect(world.ran().filter((line) => line === `pay ${to} 5`)).toHaveLength(1);
  });

  test('denied by temporal workflow update, which returns the receipt', async () => {
    const workflowId = await startByClient({ agent: 'tester', input: script('nobody') });
    const requestId = await findOpen(workflowId);
    const input = JSON.stringify({ requestId, approved: false, reason: 'not now' });
    const update = ['workflow', 'update', 'execute', '--workflow-id', workflowId, '--name', 'decide'];
    const { stdout } = await temporal([...update, '--input', input, '--output', 'json']);
    expect(JSON.parse(stdout)).toMatchObject({ result: { requestId, accepted: true, outcome: 'denied' } });
    expect(await plain.workflow.result(workflowId)).toMatchObject({ output: 'told: Denied: not now' });
  });

  test('found in the inbox by a list query', async () => {
    const workflowId = await startByClient({ agent: 'tester', input: script('listed') });
    const requestId = await findOpen(workflowId);
    await eventually('visibility has it', async () => {
      const query = `ApprovalIds = "${requestId}" AND ExecutionStatus = "Running"`;
      const { stdout } = await temporal(['workflow', 'list', '--query', query, '--output', 'json']);
      return stdout.includes(workflowId);
    });
    await signal(workflowId, '--input', JSON.stringify({ requestId, approved: false }));
    await plain.workflow.result(workflowId);
  });
});

describe('a bad start fails with one sentence', () => {
  const agent = 'tester';
  const input = '[{"text":"hello"}]';
  test.each<[string, unknown[], string | RegExp]>([
    ['an unknown agent', [{ agent: 'nobody', input }], "No agent 'nobody' on this worker; it has: 'tester'"],
    ['no input at all', [], `The run's input must be an object such as {"agent":"NAME","input":"TEXT"}`],
    ['a text', ['tester'], `The run's input must be an object such as {"agent":"NAME","input":"TEXT"}`],
    ['a list', [[{ agent, input }]], `The run's input must be an object such as {"agent":"NAME","input":"TEXT"}`],
    ['null', [null], `The run's input must be an object such as {"agent":"NAME","input":"TEXT"}`],
    ['no agent', [{ input }], /^The run's 'agent': /],
    ['no message', [{ agent }], /^The run's 'input': /],
    ['a message of the wrong type', [{ agent, input: 7 }], /^The run's 'input': /],
    ['an unknown field', [{ agent, input, agnet: 'x' }], /^The run's input: .*agnet/],
    ['a session that is none', [{ agent, input, session: false }], /^The run's 'session': /],
    [
      'a policy that is none',
      [{ agent, input, policy: { version: 1, rules: [{ pattern: 'x' }] } }],
      /^The run's policy.*action/,
    ],
  ])('%s', async (_name, args, sentence) => {
    const workflowId = await startByCommand(...args.map((each) => JSON.stringify(each)));
    const { exitCode, stdout } = await temporal([
      'workflow',
      'result',
      '--workflow-id',
      workflowId,
      '--output',
      'json',
    ]);
    expect(exitCode).not.toBe(0);
    const { status, closeEvent } = JSON.parse(stdout) as {
      status: string;
      closeEvent: { workflowExecutionFailedEventAttributes: { failure: { message: string } } };
    };
    expect(status).toBe('FAILED');
    const { message } = closeEvent.workflowExecutionFailedEventAttributes.failure;
    expect(message).toMatch(typeof sentence === 'string' ? sentence.slice(0, 0) : sentence);
    if (typeof sentence === 'string') expect(message).toBe(sentence);
    expect(message).not.toContain('\n');
  });

  test('the command line itself refuses what is not JSON', async () => {
    const { exitCode, stderr } = await temporal([...startCommand(), '--input', '{bad']);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('not valid JSON')]);
  });

  test.each<[string, string[], string, RegExp]>([
    [
      'text',
      ['--input', 'tester', '--input-meta', 'encoding=text/plain'],
      'undecodable',
      /^The run's input could not be/,
    ],
    [
      'protobuf',
      ['--input', '{}', '--input-meta', 'encoding=json/protobuf'],
      'undecodable',
      /^The run's input could not be/,
    ],
    [
      'encrypted',
      ['--input', '{}', '--input-meta', 'encoding=binary/encrypted'],
      'undecodable',
      /^The run's input could not be/,
    ],
    [
      'bytes',
      ['--input-base64', '--input', 'e30=', '--input-meta', 'encoding=binary/plain'],
      'arguments_invalid',
      /^The run's /,
    ],
  ])('a run fails on input that the command line accepts (%s)', async (_name, options, type, sentence) => {
    const workflowId = `cli-${randomUUID()}`;
    expect(await temporal([...startCommand(), '--workflow-id', workflowId, ...options])).toMatchObject({
      exitCode: 0,
    });
    const failed = await plain.workflow.result(workflowId).catch((error: unknown) => error);
    expect(failed).toMatchObject({ cause: { type, message: expect.stringMatching(sentence) } });
  });
});

test('an incorrect --input changes nothing, and a valid decision after it counts', async () => {
  const workflowId = await startByClient({ agent: 'tester', input: script('patient') });
  const requestId = await findOpen(workflowId);
  const refusedByCommand = await signal(workflowId, '--input', `{requestId:${requestId}}`);
  expect([refusedByCommand.exitCode, refusedByCommand.stderr]).toEqual([1, expect.stringContaining('not valid JSON')]);
  const wrong: [string[], string][] = [
    [[], 'invalid_decision'],
    [['--input', 'true'], 'invalid_decision'],
    [['--input', `"${requestId}"`], 'invalid_decision'],
    [['--input', JSON.stringify({ requestId })], 'invalid_decision'],
    [['--input', JSON.stringify({ requestId, approved: 'yes' })], 'invalid_decision'],
    [['--input', JSON.stringify({ requestId: '0'.repeat(32), approved: true })], 'unknown_request'],
    [['--input', 'approve', '--input-meta', 'encoding=text/plain'], 'undecodable'],
    [['--input', '{}', '--input-meta', 'encoding=json/protobuf'], 'undecodable'],
    [['--input', '{}', '--input-meta', 'encoding=binary/encrypted'], 'undecodable'],
    [['--input-base64', '--input', 'e30=', '--input-meta', 'encoding=binary/plain'], 'undecodable'],
  ];
  for (const [options] of wrong) expect(await signal(workflowId, ...options)).toMatchObject({ exitCode: 0 });
  const { refused } = await plain.workflow.getHandle(workflowId).query<RunStatus>('run');
  expect(refused.last.map(({ code }) => code)).toEqual(wrong.map(([, code]) => code));
  await signal(workflowId, '--input', JSON.stringify({ requestId, approved: true }));
  expect(await plain.workflow.result(workflowId)).toMatchObject({ output: 'told: paid 5 to patient' });
});

test('docs/wire.md, from a shell: each command unchanged', async () => {
  const lines = commandsOf('docs/wire.md').filter(
    ({ line, isWhole }) => isWhole && line.includes(' --workflow-id ID '),
  );
  const workflowId = await startByClient({ agent: 'tester', input: script('shell') });
  const [request] = await world.run(workflowId).open();
  const answers = [];
  for (const { line } of lines) {
    const [words = []] = simpleCommands(line);
    const given = words.slice(1).map((word) => (word === 'ID' ? workflowId : word.replace('…', request!.requestId)));
    const { exitCode, stdout, stderr } = await temporal([...given, '--output', 'json']);
    expect({ line, exitCode, stderr }).toMatchObject({ line, exitCode: 0 });
    answers.push(stdout === '' ? undefined : (JSON.parse(stdout) as unknown));
  }
  expect(answers).toHaveLength(4);
  expect(answers[1]).toMatchObject({ queryResult: [{ requestId: request!.requestId, accepted: true }] });
  const { status, outcomes } = await world.run(workflowId).result();
  expect({ status, outcomes }).toMatchObject({ status: 'closed', outcomes: [{ outcome: 'cancelled' }] });
});

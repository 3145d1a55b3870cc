/** How the process of `countersign worker` ends. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { eventually } from '../../support/eventually.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { agentsModule, startCli } from './support.ts';
import { noServer } from './in-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-end-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A command that does not outlive its test. */
function startBound(words: string[], env: NodeJS.ProcessEnv = {}): ReturnType<typeof startCli> {
  const command = startCli(words, { env });
  onTestFinished(() => void command.child.kill('SIGKILL'));
  return command;
}

/** A module that holds a timer and a socket for ever. */
function moduleWith(close: string): string {
  const file = join(folder, `${randomUUID()}.ts`);
  const lines = [
    `import { createServer } from 'node:net';`,
    `import agents from ${JSON.stringify(agentsModule)};`,
    `setInterval(() => undefined, 1_000);`,
    `createServer().listen(0, '127.0.0.1');`,
    `export default agents;`,
    close,
  ];
  writeFileSync(file, lines.join('\n'));
  return file;
}

const waits = `await new Promise((resolve) => setTimeout(resolve, 20));`;

test.each([
  ['no close', '', ''],
  ['a close that is awaited', `export async function close() { ${waits} console.error('closed'); }`, 'closed\n'],
  [
    'a close that fails',
    `export async function close() { ${waits} throw new Error('the pool\\nis gone'); }`,
    'The close() of the module failed: the pool\\nis gone\n',
  ],
])('SIGTERM ends a worker whose module holds handles: %s', async (_name, close, stderr) => {
  const worker = startBound(['worker', moduleWith(close), '--task-queue', `end-${randomUUID()}`]);
  await worker.shows('{"agents":["tester"]}');
  worker.child.kill('SIGTERM');
  const ended = await worker.ended;
  expect(ended).toEqual({ code: 0, stdout: '{"agents":["tester"]}\n', stderr });
});

test('SIGTERM ends a worker in which a tool runs that heeds no signal', async () => {
  const file = join(folder, `${randomUUID()}.ts`);
  const imported = (path: string): string => JSON.stringify(join(import.meta.dirname, '../../..', path));
  const lines = [
    `import { z } from ${imported('node_modules/zod/index.js')};`,
    `import { defineAgent, defineTool } from ${imported('src/index.ts')};`,
    `import { promptScripted } from ${imported('test/support/prompt-scripted.ts')};`,
    `const execute = () => new Promise(() => console.error('it runs'));`,
    `const wait = defineTool({ name: 'wait', description: 'Waits.', input: z.object({}), risk: 'read_only', execute });`,
    `const agent = defineAgent({ name: 'waiter', instructions: 'Wait.', model: promptScripted(), tools: [wait] });`,
    `export default { agents: [agent], shutdownGraceTime: 1 };`,
  ];
  writeFileSync(file, lines.join('\n'));
  const taskQueue = `end-${randomUUID()}`;
  const worker = startBound(['worker', file, '--task-queue', taskQueue]);
  await worker.shows('{"agents":["waiter"]}');
  const client = await createClient({ address: sharedAddress(), taskQueue });
  const { workflowId } = await client.start('waiter', JSON.stringify([{ calls: [{ tool: 'wait', args: {} }] }]));
  await eventually('the tool runs', () => worker.stderr().includes('it runs'));
  worker.child.kill('SIGTERM');
  const ended = await worker.ended;
  await client.session.client.workflow.getHandle(workflowId).terminate();
  await client.close();
  expect(ended).toEqual({
    code: 1,
    stdout: '{"agents":["waiter"]}\n',
    stderr:
      'it runs\nerror: The worker has ended without something that still runs in it, such as a tool that heeds no signal.\n',
  });
});

test('a worker that is refused ends too, after close()', async () => {
  const file = moduleWith(`export function close() { console.error('closed'); }`);
  const worker = startBound(['worker', file, '--address', '127.0.0.1:1'], noServer);
  const ended = await worker.ended;
  expect(ended).toMatchObject({ code: 6, stderr: expect.stringMatching(/^closed\nerror: .*127\.0\.0\.1:1/) });
});

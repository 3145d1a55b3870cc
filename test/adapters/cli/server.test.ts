import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { isRunning } from '../../support/child-processes.ts';
import { makeNamespace } from '../../support/make-namespace.ts';
import { agentsModule, cli, jsonLines, startCli } from './support.ts';
import { listen } from '../../support/listen.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-cli-server-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('server runs until it is stopped, and setup finds everything there', async () => {
  const server = startCli(['server', '--port', '0', '--ui-port', '0', '--db', join(folder, 'state.db')]);
  await server.shows('\n');
  const { address, uiUrl } = JSON.parse(server.stdout()) as { address: string; uiUrl: string };
  expect(address).toMatch(/^127\.0\.0\.1:\d+$/);
  expect((await fetch(uiUrl)).status).toBe(200);

  const setup = await cli(['setup', '--address', address]);
  expect([setup.code, jsonLines(setup)]).toEqual([
    0,
    [{ address, namespace: 'default', added: [], freeSlots: { KEYWORD_LIST: 1, DATETIME: 2 }, retentionDays: 30 }],
  ]);

  server.child.kill('SIGINT');
  expect((await server.ended).code).toBe(0);
  expect(await isRunning(server.child.pid as number)).toBe(false);
  await expect(fetch(uiUrl)).rejects.toThrow('fetch failed');
});

test('a port in use is named', async () => {
  const { port, close } = await listen(createServer());
  const { code, stderr } = await cli(['server', '--port', String(port), '--ui-port', '0']);
  await close();
  expect([code, stderr]).toEqual([
    2,
    `error: Port ${port} is taken: stop what listens there or choose another with --port.\n`,
  ]);
});

test('setup registers what a namespace lacks, and can be repeated', async () => {
  const namespace = `setup-${randomUUID()}`;
  await makeNamespace(namespace);
  const setup = async (): Promise<Record<string, unknown> | undefined> =>
    jsonLines(await cli(['setup', '--namespace', namespace]))[0];
  expect(await setup()).toMatchObject({
    namespace,
    added: ['ApprovalIds', 'ApprovalTags', 'ApprovalDue'],
    freeSlots: { KEYWORD_LIST: 1, DATETIME: 2 },
    retentionDays: 2,
  });
  expect(await setup()).toMatchObject({ added: [] });
});

test('a worker names a bundle that does not exist', async () => {
  const { code, stderr } = await cli(['worker', agentsModule, '--bundle', '/nowhere/workflows.js']);
  expect({ code, stderr }).toEqual({ code: 2, stderr: 'error: There is no file /nowhere/workflows.js.\n' });
});

test('a worker refuses a namespace without the search attributes, and names the remedy', async () => {
  const namespace = `bare-${randomUUID()}`;
  await makeNamespace(namespace);
  const { code, stderr } = await cli(['worker', agentsModule, '--namespace', namespace]);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `error: Namespace '${namespace}' lacks the search attributes ApprovalIds, ApprovalTags, ApprovalDue: run \`countersign setup\` once.\n`,
  });
});

import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client, Connection } from '@temporalio/client';
import { CountersignClientPlugin } from '../../src/client.ts';
import { AskPast, ReadingCodec } from '../../src/client/server/client-plugin.ts';
import { modulePath } from '../../src/connection/module-path.ts';
import { unreadReferences } from '../../src/payload-folder/large-payloads.ts';
import { CountersignPlugin } from '../../src/worker.ts';
import { sharedAddress } from '../support/shared-server.ts';

/** A Temporal client of somebody else, with our plugin. */

const folder = mkdtempSync(join(tmpdir(), 'countersign-client-plugin-'));
const largePayloads = { folder };
let connection: Connection;
beforeAll(async () => {
  connection = await Connection.connect({ address: sharedAddress() });
});
afterAll(async () => {
  await connection.close();
  rmSync(folder, { recursive: true, force: true });
});

const own = modulePath('workflows/sandbox/payload-converter');

describe.each([
  ['the plugin for clients', CountersignClientPlugin],
  ['the plugin for workers and clients', CountersignPlugin],
])('%s', (_name, Plugin) => {
  test('sets the payload converter, the external storage and the interceptor', () => {
    expect(new Plugin({ largePayloads: false }).configureClient({})).toEqual({
      dataConverter: {
        payloadConverterPath: own,
        externalStorage: unreadReferences,
        payloadCodecs: [expect.any(ReadingCodec)],
      },
      interceptors: { workflow: [expect.any(AskPast)] },
    });
  });

  test('keeps what the client has', () => {
    const interceptors = { workflow: [{}], schedule: [{}], activity: [{}], nexus: [{}] };
    const dataConverter = { payloadCodecs: [], externalStorage: unreadReferences };
    const configured = new Plugin({ largePayloads }).configureClient({ interceptors, dataConverter, identity: 'me' });
    expect(configured).toMatchObject({
      identity: 'me',
      interceptors: { ...interceptors, workflow: [interceptors.workflow[0], expect.any(AskPast)] },
      dataConverter: { ...dataConverter, payloadConverterPath: own, payloadCodecs: [expect.any(ReadingCodec)] },
    });
    expect(configured.dataConverter!.externalStorage).toBe(unreadReferences);
  });

  test('given twice, by the connection and the client, adds its interceptor once', () => {
    const plugin = new Plugin();
    expect(plugin.configureClient(plugin.configureClient({})).interceptors!.workflow).toEqual([expect.any(AskPast)]);
  });

  test.each<[string, object, RegExp]>([
    [
      'another payload converter',
      { dataConverter: { payloadConverterPath: '/theirs' } },
      /remove payloadConverterPath \(\/theirs\)/,
    ],
    ['interceptors in the old form', { interceptors: { workflow: {} } }, /write interceptors.workflow as a list\.$/],
  ])('with %s the client is refused in one sentence', (_what, options, message) => {
    expect(() => new Client({ connection, plugins: [new Plugin()], ...options })).toThrow(message);
  });

  test('with a payload folder that cannot be used the client is refused in one sentence', () => {
    const plugin = new Plugin({ largePayloads: { folder: '/dev/null/none' } });
    expect(() => new Client({ connection, plugins: [plugin], namespace: 'theirs' })).toThrow(
      /^The payload folder \/dev\/null\/none\/theirs cannot be used: /,
    );
  });
});

describe('memos that others wrote', () => {
  const plain = (): Client => new Client({ connection });
  const withPlugin = (): Client =>
    new Client({ connection, plugins: [new CountersignClientPlugin({ largePayloads: false })] });
  const withFolder = (): Client =>
    new Client({ connection, plugins: [new CountersignClientPlugin({ largePayloads })] });
  const memoOf = async (client: Client, workflowId: string): Promise<Record<string, unknown> | undefined> =>
    (await client.workflow.getHandle(workflowId).describe()).memo;
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

  test.each([
    ['an encoding that nobody knows', { encoding: bytes('nobody/knows') }, bytes('x')],
    ['no JSON', { encoding: bytes('json/plain') }, bytes('{bad')],
    [
      'a reference to another storage',
      { encoding: bytes('json/protobuf'), messageType: bytes('temporal.api.sdk.v1.ExternalStorageReference') },
      bytes('{"driverName":"s3","claimData":{"key":"of/somebody"}}'),
    ],
  ])('%s: read without an error', async (_what, metadata, data) => {
    const workflowId = `undecodable-${randomUUID()}`;
    await connection.workflowService.startWorkflowExecution({
      namespace: 'default',
      workflowId,
      requestId: randomUUID(),
      workflowType: { name: 'nobodys' },
      taskQueue: { name: 'nobody' },
      memo: {
        fields: { bad: { metadata, data }, good: { metadata: { encoding: bytes('json/plain') }, data: bytes('7') } },
      },
    });
    await expect(memoOf(plain(), workflowId)).rejects.toThrow();
    expect(await memoOf(withPlugin(), workflowId)).toMatchObject({ good: 7, bad: expect.anything() });
    await plain().workflow.getHandle(workflowId).terminate();
  });

  test('a large payload: read from the folder, and without a folder read without an error', async () => {
    const large = randomBytes(200_000).toString('hex');
    const handle = await withFolder().workflow.start('nobodys', {
      workflowId: `large-${randomUUID()}`,
      taskQueue: 'nobody',
      memo: { large, small: 1 },
    });
    expect((await memoOf(withFolder(), handle.workflowId))!['large'] === large).toBe(true);
    const unread = await memoOf(withPlugin(), handle.workflowId);
    expect(unread).toMatchObject({ small: 1 });
    expect(JSON.stringify(unread).length).toBeLessThan(1_000);
    await handle.terminate();
  });
});

test('loading countersign/client does not load the worker', async () => {
  const script = `
    await import('./src/client.ts');
    const { cache } = (await import('node:module')).createRequire(import.meta.url);
    const loaded = Object.keys(cache).map((path) => /node_modules\\/(@temporalio\\/[^/]+)/.exec(path)?.[1]);
    console.log(JSON.stringify([...new Set(loaded)]));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  expect(JSON.parse(stdout)).toContain('@temporalio/client');
  expect(JSON.parse(stdout)).not.toContain('@temporalio/worker');
});

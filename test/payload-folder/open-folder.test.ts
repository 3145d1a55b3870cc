import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openPayloadFolder } from '../../src/payload-folder/open-folder.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-payloads-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const openers = 6;
/** Waits until all threads are here, so that they open the folder at the same time. */
const thread = `
  const { parentPort, workerData } = require('node:worker_threads');
  import(workerData.module).then(({ openPayloadFolder }) => {
    const arrived = new Int32Array(workerData.arrived);
    Atomics.add(arrived, 0, 1);
    while (Atomics.load(arrived, 0) < ${openers});
    parentPort.postMessage(openPayloadFolder(workerData.folder, workerData.namespace).key.toString('hex'));
  });
`;

/** Opens a folder in several threads at once and returns their keys. */
function openedAtOnce(folder: string, namespace: string): Promise<string[]> {
  const module = new URL('../../src/payload-folder/open-folder.ts', import.meta.url).href;
  const workerData = { module, folder, namespace, arrived: new SharedArrayBuffer(4) };
  return Promise.all(
    Array.from({ length: openers }, async () => {
      const [key] = (await once(new Worker(thread, { eval: true, workerData }), 'message')) as [string];
      return key;
    }),
  );
}

describe('the payload folder', () => {
  test('is created with a key, which concurrent openers share and later ones find', async () => {
    const keys = await openedAtOnce(join(folder, 'new'), 'default');
    expect(new Set(keys).size).toBe(1);
    expect(openPayloadFolder(join(folder, 'new'), 'default').key.toString('hex')).toBe(keys[0]);
    expect(readdirSync(join(folder, 'new', 'default'))).toEqual(['key']);
  });

  test.each(['..', '.', 'a/../../b', '/etc', 'ä b'])('namespace %j has its own folder inside', (namespace) => {
    const { path } = openPayloadFolder(folder, namespace);
    expect(path.startsWith(`${folder}/`)).toBe(true);
    expect(readdirSync(folder)).toHaveLength(1);
    expect(existsSync(join(path, 'key'))).toBe(true);
  });

  test.each<[string, () => string, RegExp]>([
    [
      'a file in its place',
      () => {
        writeFileSync(join(folder, 'file'), '');
        return join(folder, 'file');
      },
      /^The payload folder .+ cannot be used: ENOTDIR.+: name a folder that this process may write to\.$/,
    ],
    [
      'a key that is none',
      () => {
        mkdirSync(join(folder, 'default'));
        writeFileSync(join(folder, 'default', 'key'), 'abc');
        return folder;
      },
      /^The payload folder .+ cannot be used: its file 'key' does not hold 64 hex characters: bring it back from a backup\.$/,
    ],
  ])('%s: one sentence', (_case, place, message) => {
    const path = place();
    expect(() => openPayloadFolder(path, 'default')).toThrow(
      expect.objectContaining({ code: 'internal', message: expect.stringMatching(message) }),
    );
  });

  test('each folder has its own key', () => {
    openPayloadFolder(folder, 'one');
    openPayloadFolder(folder, 'two');
    expect(readFileSync(join(folder, 'one', 'key'), 'utf8')).not.toBe(readFileSync(join(folder, 'two', 'key'), 'utf8'));
  });
});

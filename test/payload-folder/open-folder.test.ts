import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openPayloadFolder } from '../../src/payload-folder/open-folder.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-payloads-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the payload folder', () => {
  test('is created with a key, which concurrent openers share and later ones find', async () => {
    const all = await Promise.all(Array.from({ length: 6 }, () => openPayloadFolder(join(folder, 'new'), 'default')));
    const keys = new Set(all.map(({ key }) => key.toString('hex')));
    expect(keys.size).toBe(1);
    expect((await openPayloadFolder(join(folder, 'new'), 'default')).key).toEqual(all[0]!.key);
    expect(readdirSync(join(folder, 'new', 'default'))).toEqual(['key']);
  });

  test.each(['..', '.', 'a/../../b', '/etc', 'ä b'])('namespace %j has its own folder inside', async (namespace) => {
    const { path } = await openPayloadFolder(folder, namespace);
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
  ])('%s: one sentence', async (_case, place, message) => {
    await expect(openPayloadFolder(place(), 'default')).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringMatching(message),
    });
  });

  test('each folder has its own key', async () => {
    await openPayloadFolder(folder, 'one');
    await openPayloadFolder(folder, 'two');
    expect(readFileSync(join(folder, 'one', 'key'), 'utf8')).not.toBe(readFileSync(join(folder, 'two', 'key'), 'utf8'));
  });
});

import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cleanFolder, fileOf, keepFile, readKept } from '../../src/payload-folder/payload-files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-payloads-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');
const filesIn = (): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((each) => (each.isFile() ? [each.name] : []));

describe('payload files', () => {
  test('a file is named by its content, and read back byte by byte', async () => {
    const content = randomBytes(100_000);
    const name = await keepFile(folder, content);
    expect(name).toBe(sha256(content));
    expect(Buffer.from((await readKept(folder, name)) as Uint8Array).equals(content)).toBe(true);
    expect(filesIn()).toEqual([name]);
    expect(statSync(fileOf(folder, name)).mode & 0o777).toBe(0o600);
  });

  test('many writers of the same content leave one complete file and no partial ones', async () => {
    const content = randomBytes(300_000);
    const names = await Promise.all(Array.from({ length: 8 }, () => keepFile(folder, content)));
    expect(new Set(names)).toEqual(new Set([sha256(content)]));
    expect(filesIn()).toEqual([names[0]]);
  });

  test('a rewritten file gets the current time, and a damaged file is repaired', async () => {
    const content = Buffer.from('content');
    const name = await keepFile(folder, content);
    const place = fileOf(folder, name);
    utimesSync(place, new Date(0), new Date(0));
    await keepFile(folder, content);
    expect(statSync(place).mtimeMs).toBeGreaterThan(Date.now() - 60_000);
    writeFileSync(place, 'damage');
    await keepFile(folder, content);
    expect(readFileSync(place, 'utf8')).toBe('content');
  });

  test('processes that clean at once remove each old file once, and no file that is written meanwhile', async () => {
    const contents = Array.from({ length: 60 }, (_, index) => Buffer.from(`content ${index}`));
    const names = await Promise.all(contents.map((content) => keepFile(folder, content)));
    for (const name of names) utimesSync(fileOf(folder, name), new Date(0), new Date(0));
    const beforeMs = Date.now() - 60_000;
    const kept = contents.slice(0, 30);
    const cleaning = [1, 2, 3].map(() => cleanFolder(folder, () => false, { beforeMs }));
    await Promise.all([...cleaning, ...kept.map((content) => keepFile(folder, content))]);
    // A writer may be done before its file is removed, as for any file that no history names.
    await Promise.all(kept.map((content) => keepFile(folder, content)));
    expect(filesIn().toSorted()).toEqual(names.slice(0, 30).toSorted());
    const removed = (await Promise.all(cleaning)).reduce((sum, each) => sum + each.removed, 0);
    expect(removed).toBeGreaterThanOrEqual(30);
  });

  test.each<[string, (place: string) => void, string]>([
    ['other content', (place) => writeFileSync(place, 'other'), 'damaged'],
    ['half of the content', (place) => writeFileSync(place, 'con'), 'damaged'],
    ['nothing', (place) => writeFileSync(place, ''), 'damaged'],
    ['no file', (place) => rmSync(place), 'missing'],
  ])('%s is detected from the file', async (_name, harm, told) => {
    const name = await keepFile(folder, Buffer.from('content'));
    harm(fileOf(folder, name));
    expect(await readKept(folder, name)).toBe(told);
  });

  test('a file that appears during the search is read', async () => {
    const content = Buffer.from('late');
    const reading = readKept(folder, sha256(content));
    await keepFile(folder, content);
    expect(await reading).toEqual(content);
  });

  test('a failed write leaves nothing behind', async () => {
    writeFileSync(join(folder, sha256(Buffer.from('x')).slice(0, 2)), 'a file where a folder should be');
    await expect(keepFile(folder, Buffer.from('x'))).rejects.toThrow(/EEXIST|ENOTDIR/);
    expect(existsSync(join(folder, 'key'))).toBe(false);
    expect(filesIn()).toHaveLength(1);
  });
});

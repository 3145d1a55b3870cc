import { expect, test } from 'vitest';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { withFileLock } from '../../src/connection/file-lock.ts';

test('a lock names its holder from the moment it exists, and leaves nothing behind', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-lock-'));
  const path = join(folder, 'lock');
  const seen = new Set<string>();
  for (let round = 0; round < 200; round += 1) {
    const read = new Promise<void>((resolve) => {
      const whenCreated = () => {
        if (!existsSync(path)) return void setImmediate(whenCreated);
        seen.add(readFileSync(path, 'utf8'));
        resolve();
      };
      whenCreated();
    });
    await withFileLock(path, { onWait: () => undefined }, () => read);
  }
  expect([...seen]).toEqual([`${process.pid} ${hostname()}`]);
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

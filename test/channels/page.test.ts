import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readChannels } from '../../src/adapters/read-channels.ts';

/** The code of docs/channels.md is that of the examples, which tests run, and its file is one that loads. */

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = read('docs/channels.md');
const blocksOf = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, text = '']) => text);

describe('a block of code is in its example', () => {
  test.each(blocksOf('ts'))('%#', (block) => {
    const [, file = '', code = ''] = /^\/\/ (\S+)\n(.*)$/s.exec(block) ?? [];
    // A reader imports the package; the examples import its sources.
    expect(read(file).replaceAll('../../src/channels.ts', 'countersign/channels')).toContain(code);
  });

  test('there are some', () => expect(blocksOf('ts').length).toBeGreaterThan(2));
});

test('the file loads', async () => {
  const [file = ''] = blocksOf('yaml');
  const { channels, ...rest } = await readChannels(file);
  expect(Object.keys(channels)).toEqual(['ci', 'staging', 'desk']);
  expect(rest).toMatchObject({ batchMs: 5_000, quietHours: { timeZone: 'Europe/Berlin', above: 'high' } });
  const [, quiet = ''] = blocksOf('yaml');
  expect(await readChannels(quiet)).toMatchObject({
    quietHours: { workdays: ['mon', 'tue', 'wed', 'thu', 'fri'] },
    quietHoursOf: { night_desk: false },
  });
});

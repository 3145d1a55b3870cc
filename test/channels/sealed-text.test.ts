import { createSecretKey } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { createSeals } from '../../src/channels/sealed-text.ts';

const seals = createSeals({
  secret: createSecretKey(Buffer.from('a key of this test, long enough')),
  namespace: 'test',
});
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

let text: string;
beforeAll(async () => {
  // 16 bytes of tag leave four bits of its last letter unused.
  text = await seals.seal('link', { reviewer: 'ann' }, Date.now() + 60_000);
});

test('a sealed text opens as it was sealed', async () => {
  expect(await seals.open('link', text)).toMatchObject({ reviewer: 'ann' });
});

describe('no other spelling of the same bytes opens', () => {
  const lastLetter = (letter: string): string => text.slice(0, -1) + letter;

  test('another last letter', async () => {
    const same = Array.from(letters).filter((letter) => {
      const [one, other] = [text, lastLetter(letter)].map((each) => Buffer.from(each.split('.')[4]!, 'base64url'));
      return letter !== text.at(-1) && one!.equals(other!);
    });
    expect(same).toHaveLength(15);
    for (const letter of same) expect(await seals.open('link', lastLetter(letter))).toBeUndefined();
  });

  test.each<[string, (sealed: string) => string]>([
    ['padded', (sealed) => `${sealed}==`],
    ['in the other alphabet', (sealed) => sealed.replaceAll('-', '+').replaceAll('_', '/')],
    ['with white space', (sealed) => `${sealed} `],
    ['with a line break', (sealed) => `${sealed}\n`],
    ['with white space inside', (sealed) => `${sealed.slice(0, -3)} ${sealed.slice(-3)}`],
  ])('%s', async (_name, spelled) => {
    let sealed = text;
    while (spelled(sealed) === sealed) sealed = await seals.seal('link', { reviewer: 'ann' }, Date.now() + 60_000);
    expect(await seals.open('link', sealed)).toMatchObject({ reviewer: 'ann' });
    expect(await seals.open('link', spelled(sealed))).toBeUndefined();
  });
});

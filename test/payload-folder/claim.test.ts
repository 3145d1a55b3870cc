import { describe, expect, test } from 'vitest';
import { claimOf, fileNameIn } from '../../src/payload-folder/payload-files.ts';

const key = Buffer.alloc(32, 1);
const name = 'ab'.repeat(32);
const whole = claimOf(key, name);

describe('claims', () => {
  test('name their file only to holders of the key', () => {
    expect(fileNameIn(key, { ...whole })).toBe(name);
  });

  test.each<[string, Record<string, unknown>]>([
    ['nothing', {}],
    ['no proof', { sha256: name }],
    ['a path', { ...whole, sha256: '../../../etc/passwd' }],
    ['a path of the right length', { ...whole, sha256: '../'.repeat(21) + 'x' }],
    ['upper case', { ...whole, sha256: name.toUpperCase() }],
    ['a line break after it', { ...whole, sha256: `${name}\n` }],
    ['another file', { ...whole, sha256: 'cd'.repeat(32) }],
    ['another proof', { ...whole, proof: 'cd'.repeat(32) }],
    ['a short proof', { ...whole, proof: whole.proof.slice(1) }],
    ['what is no text', { sha256: [name], proof: whole.proof }],
    ['a proof by another key', { ...claimOf(Buffer.alloc(32, 2), name) }],
  ])('%s names no file', (_case, claim) => {
    expect(fileNameIn(key, claim)).toBeUndefined();
  });
});

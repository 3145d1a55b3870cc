import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import type { SealedLine } from '../../src/audit/audit-line.ts';
import { type ProvableRun, proofProblem, provableRun, proveEntry, proveHead } from '../../src/audit/entry-proof.ts';
import { sampleExport } from '../support/audit-sample.ts';

const lines = (options = {}) => sampleExport(options).map((text) => JSON.parse(text) as SealedLine);
const alice = provableRun(lines(), 'alice') as ProvableRun;
const bert = provableRun(lines(), 'bert') as ProvableRun;
const seqs = [1, 2, 3, 4, 5, 6];

describe('a proof', () => {
  test.each(seqs)('of entry %i is right for its head, and shows no other entry', (seq) => {
    const proof = proveEntry(alice, seq)!;
    expect(proofProblem(proof)).toBeUndefined();
    expect(proofProblem(JSON.parse(JSON.stringify(proof)))).toBeUndefined();
    expect(proofProblem({ ...proof, head: proveEntry(bert, seq)!.head })).toBe('the head does not cover this entry');
    expect(proofProblem({ ...proof, entry: { ...proof.entry, kind: 'x' } })).toBe('the head does not cover this entry');
    expect(proofProblem({ ...proof, workflowId: 'bert' })).toBe('the head does not cover this entry');
    expect(proofProblem({ ...proof, salts: { ...proof.salts, stray: 'ab'.repeat(16) } })).toContain('stray');
  });

  test.each(seqs)('that the head continues the one over %i entries', (size) => {
    const proof = proveHead(alice, size)!;
    expect(proofProblem(proof)).toBeUndefined();
    const wrong = { ...proof, older: proveHead(bert, size)!.older };
    expect(proofProblem(wrong)).toBe('the newer head does not continue the older one');
  });

  test('of an entry whose values are withheld', () => {
    const redacted = provableRun(lines({ withheld: ['reviewerId'] }), 'alice') as ProvableRun;
    const proof = proveEntry(redacted, 3)!;
    expect(proof.entry).not.toHaveProperty('reviewerId');
    expect(proofProblem(proof)).toBeUndefined();
    expect(proof.head).toEqual(proveEntry(alice, 3)!.head);
  });
});

test('what is not there, and what is not one run', () => {
  expect([proveEntry(alice, 0), proveEntry(alice, 7), proveHead(alice, 0), proveHead(alice, 7)]).toEqual(
    Array.from({ length: 4 }, () => undefined),
  );
  expect(provableRun(lines(), 'carl')).toBeUndefined();
  expect(provableRun(lines())).toBe('the export has several such runs: name one by its workflow id');
});

test('any value is checked without a throw', () => {
  const [entry, head] = [proveEntry(alice, 2)!, proveHead(alice, 2)!];
  const member = fc.constantFrom(...Object.keys({ ...entry, ...head }));
  fc.assert(
    fc.property(fc.constantFrom<object>(entry, head), member, fc.jsonValue(), (proof, name, value) => {
      const changed = { ...proof, [name]: value };
      if (name in proof) expect(typeof proofProblem(changed)).toBe('string');
      expect(proofProblem(value)).toBe('it is no proof');
    }),
  );
});

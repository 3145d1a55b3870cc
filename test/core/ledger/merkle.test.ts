import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { type TreeState, emptyTree, isTree, leafHash, rootOf, withLeaf } from '../../../src/core/ledger/merkle.ts';
import { consistencyProof, inclusionProof, isConsistent, isIncluded, rootOfLeaves } from '../../../src/audit/proofs.ts';

/** The definition of RFC 9162, section 2.1.1, word for word, with another SHA-256. */
function treeHash(entries: Buffer[]): string {
  const hash = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
  const of = (list: Buffer[]): Buffer => {
    if (list.length === 0) return hash();
    if (list.length === 1) return hash(Buffer.from([0]), list[0]!);
    const split = 2 ** (Math.ceil(Math.log2(list.length)) - 1);
    return hash(Buffer.from([1]), of(list.slice(0, split)), of(list.slice(split)));
  };
  return of(entries).toString('hex');
}

const texts = fc.array(fc.string(), { maxLength: 70 });
const treeOf = (list: string[]): TreeState => list.map(leafHash).reduce(withLeaf, emptyTree);

/** The entries of Certificate Transparency's own test vectors, in hex, and the roots of their first 0 to 8. */
const vectors = {
  entries: ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'],
  roots: [
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
    'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
    '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
    'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
    '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
  ],
};

describe('the tree', () => {
  test.each(vectors.roots.map((root, size) => [size, root] as const))(
    'has the root of the known vector of %i leaves',
    (size, root) => {
      // A text holds these bytes only as characters up to 127, and all of them are.
      const list = vectors.entries.slice(0, size).map((hex) => Buffer.from(hex, 'hex').toString('latin1'));
      expect(rootOf(treeOf(list))).toBe(root);
    },
  );

  test('has the root of the definition', () => {
    fc.assert(
      fc.property(texts, (list) => {
        expect(rootOf(treeOf(list))).toBe(treeHash(list.map((text) => Buffer.from(text))));
      }),
    );
  });

  test('is its frontier, and nothing else is a tree', () => {
    fc.assert(
      fc.property(texts, (list) => {
        const tree = treeOf(list);
        expect(isTree(tree)).toBe(true);
        expect(isTree({ ...tree, hashes: [...tree.hashes, leafHash('one more')] })).toBe(false);
      }),
    );
    const bad = [null, 1, {}, { size: 1, hashes: ['x'] }, { size: -1, hashes: [] }, { size: 0.5, hashes: [] }];
    expect(bad.filter(isTree)).toEqual([]);
  });
});

describe('proofs', () => {
  const some = fc.array(fc.string(), { minLength: 1, maxLength: 40 }).chain((list) => {
    const leaves = list.map((text, index) => leafHash(`${index} ${text}`));
    return fc.record({ leaves: fc.constant(leaves), index: fc.nat(leaves.length - 1), at: fc.nat(40) });
  });

  test('of inclusion hold for their leaf and for no other leaf, place or tree', () => {
    fc.assert(
      fc.property(some, ({ leaves, index, at }) => {
        const head = { size: leaves.length, root: rootOfLeaves(leaves) };
        const proof = inclusionProof(leaves, index);
        const shown = { leaf: leaves[index]!, index, proof };
        expect(isIncluded(head, shown)).toBe(true);
        expect(isIncluded(head, { ...shown, leaf: leafHash('another') })).toBe(false);
        expect(isIncluded(head, { ...shown, index: leaves.length })).toBe(false);
        expect(isIncluded(head, { ...shown, index: -1 })).toBe(false);
        expect(isIncluded(head, { ...shown, proof: [...proof, 'no hash'] })).toBe(false);
        expect(isIncluded(head, { ...shown, proof: [...proof, leafHash('')] })).toBe(false);
        expect(isIncluded({ ...head, root: leafHash('') }, shown)).toBe(false);
        if (leaves.length < 2) return;
        const another = (index + 1 + (at % (leaves.length - 1))) % leaves.length;
        expect(isIncluded(head, { ...shown, index: another })).toBe(false);
        expect(isIncluded(head, { ...shown, proof: proof.slice(1) })).toBe(false);
        const changed = proof.with(at % proof.length, leafHash('changed'));
        expect(isIncluded(head, { ...shown, proof: changed })).toBe(false);
      }),
    );
  });

  test('of consistency hold for a prefix and for no other tree', () => {
    fc.assert(
      fc.property(some, ({ leaves, index, at }) => {
        const size = index + 1;
        const [older, newer] = [leaves.slice(0, size), leaves].map((each) => ({
          size: each.length,
          root: rootOfLeaves(each),
        }));
        const proof = consistencyProof(leaves, size);
        expect(isConsistent(older!, newer!, proof)).toBe(true);
        expect(isConsistent({ ...older!, root: leafHash('other') }, newer!, proof)).toBe(false);
        expect(isConsistent(older!, { ...newer!, root: leafHash('other') }, proof)).toBe(false);
        expect(isConsistent(older!, newer!, [...proof, leafHash('more')])).toBe(false);
        if (proof.length === 0) return;
        expect(isConsistent(older!, newer!, proof.slice(1))).toBe(false);
        expect(isConsistent(older!, newer!, proof.with(at % proof.length, leafHash('changed')))).toBe(false);
        const edited = leaves.with(index, leafHash('edited'));
        const forged = { size: edited.length, root: rootOfLeaves(edited) };
        expect(isConsistent(older!, forged, consistencyProof(edited, size))).toBe(false);
      }),
    );
  });

  test('the empty tree is a prefix of each tree', () => {
    const leaves = ['a', 'b', 'c'].map(leafHash);
    const empty = { size: 0, root: rootOf(emptyTree) };
    expect(isConsistent(empty, { size: 3, root: rootOfLeaves(leaves) }, consistencyProof(leaves, 0))).toBe(true);
    expect(isConsistent({ size: 3, root: rootOfLeaves(leaves) }, empty, [])).toBe(false);
  });
});

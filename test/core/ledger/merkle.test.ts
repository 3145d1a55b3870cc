import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { type TreeState, emptyTree, isTree, leafHash, rootOf, withLeaf } from '../../../src/core/ledger/merkle.ts';

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

/** Inclusion and consistency proofs of RFC 9162, sections 2.1.3 and 2.1.4. Hashes are 64 hex digits. */
import { emptyTree, isHash, nodeHash, rootOf, withLeaf } from '../core/ledger/merkle.ts';

/** The root of the tree over these leaf hashes. */
export function rootOfLeaves(leaves: readonly string[]): string {
  return rootOf(leaves.reduce(withLeaf, emptyTree));
}

/** The hashes that lead from the leaf at `index`, from 0, to the root over all leaves. Empty for an index outside. */
export function inclusionProof(leaves: readonly string[], index: number): string[] {
  if (leaves.length < 2 || index < 0 || index >= leaves.length) return [];
  const split = splitOf(leaves.length);
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)];
  return index < split
    ? [...inclusionProof(left, index), rootOfLeaves(right)]
    : [...inclusionProof(right, index - split), rootOfLeaves(left)];
}

/** True if `proof` shows that the tree of this size and root has `leaf` at `index`. */
export function isIncluded(
  { size, root }: { size: number; root: string },
  { leaf, index, proof }: { leaf: string; index: number; proof: readonly string[] },
): boolean {
  if (!Number.isSafeInteger(index) || index < 0 || index >= size || ![leaf, ...proof].every(isHash)) return false;
  let [at, last, hash] = [index, size - 1, leaf];
  for (const sibling of proof) {
    if (last === 0) return false;
    if (isOdd(at) || at === last) {
      hash = nodeHash(sibling, hash);
      while (!isOdd(at) && at > 0) [at, last] = [half(at), half(last)];
    } else {
      hash = nodeHash(hash, sibling);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && hash === root;
}

/** The hashes that show that the tree over the first `size` leaves is a prefix of the tree over all of them. */
export function consistencyProof(leaves: readonly string[], size: number): string[] {
  return size <= 0 || size >= leaves.length ? [] : subproof(leaves, size, true);
}

function subproof(leaves: readonly string[], size: number, isKnown: boolean): string[] {
  if (size === leaves.length) return isKnown ? [] : [rootOfLeaves(leaves)];
  const split = splitOf(leaves.length);
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)];
  return size <= split
    ? [...subproof(left, size, isKnown), rootOfLeaves(right)]
    : [...subproof(right, size - split, false), rootOfLeaves(left)];
}

/** True if `proof` shows that the newer tree begins with all leaves of the older one. */
export function isConsistent(
  older: { size: number; root: string },
  newer: { size: number; root: string },
  proof: readonly string[],
): boolean {
  if (older.size > newer.size || older.size < 0 || ![older.root, ...proof].every(isHash)) return false;
  if (older.size === newer.size) return proof.length === 0 && older.root === newer.root;
  if (older.size === 0) return proof.length === 0 && older.root === rootOf(emptyTree);
  let [at, last] = [older.size - 1, newer.size - 1];
  while (isOdd(at)) [at, last] = [half(at), half(last)];
  // A tree whose size is a power of two is a subtree of the newer one, so its root is not repeated in the proof.
  const path = isPowerOfTwo(older.size) ? [older.root, ...proof] : proof;
  const [first, ...rest] = path;
  if (first === undefined) return false;
  let [before, after] = [first, first];
  for (const sibling of rest) {
    if (last === 0) return false;
    if (isOdd(at) || at === last) {
      before = nodeHash(sibling, before);
      after = nodeHash(sibling, after);
      while (!isOdd(at) && at > 0) [at, last] = [half(at), half(last)];
    } else {
      after = nodeHash(after, sibling);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && before === older.root && after === newer.root;
}

/** The largest power of two below `size`, which is at least 2. */
function splitOf(size: number): number {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

function isPowerOfTwo(size: number): boolean {
  return Number.isInteger(Math.log2(size));
}

function isOdd(value: number): boolean {
  return value % 2 === 1;
}

function half(value: number): number {
  return Math.floor(value / 2);
}

/**
 * The Merkle tree of RFC 9162, section 2.1, with SHA-256, kept as its frontier: the roots of its full subtrees, one for
 * each binary 1 in the number of leaves. Hashes are 64 hex digits.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';

/** A Merkle tree, by its frontier. */
export interface TreeState {
  size: number;
  /** The roots of its full subtrees, the largest first. */
  hashes: string[];
}

export const emptyTree: TreeState = { size: 0, hashes: [] };

/** The hash of a leaf: SHA-256 of a zero byte and the UTF-8 of its text. */
export function leafHash(text: string): string {
  return bytesToHex(sha256(concatBytes(new Uint8Array([0]), utf8ToBytes(text))));
}

/** The hash of two subtrees: SHA-256 of a byte of value 1 and both hashes. */
export function nodeHash(left: string, right: string): string {
  return bytesToHex(sha256(concatBytes(new Uint8Array([1]), hexToBytes(left), hexToBytes(right))));
}

export function withLeaf({ size, hashes }: TreeState, leaf: string): TreeState {
  const kept = [...hashes];
  let last = leaf;
  // Each trailing binary one of the old size is a full subtree that the new leaf completes to a larger one.
  for (let left = size; left % 2 === 1; left = (left - 1) / 2) last = nodeHash(kept.pop()!, last);
  return { size: size + 1, hashes: [...kept, last] };
}

/** The root of the tree; of the empty tree, SHA-256 of nothing. */
export function rootOf({ hashes }: TreeState): string {
  const root = hashes.reduceRight<string | undefined>(
    (right, left) => (right === undefined ? left : nodeHash(left, right)),
    undefined,
  );
  return root ?? bytesToHex(sha256(new Uint8Array()));
}

/** True if a value from outside is a `TreeState`: it has one hash for each binary 1 in its size. */
export function isTree(value: unknown): value is TreeState {
  const { size, hashes } = (value ?? {}) as Partial<TreeState>;
  if (!Number.isSafeInteger(size) || size! < 0 || !Array.isArray(hashes)) return false;
  const ones = size!.toString(2).replaceAll('0', '').length;
  return hashes.length === ones && hashes.every(isHash);
}

export function isHash(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}

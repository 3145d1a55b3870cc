import { canonicalJson } from '../core/base/canonical-json.ts';
import type { Json } from '../core/base/tool-call.ts';
import type { AuditLine, SealedLine } from './audit-line.ts';
import { type TreeState, emptyTree, leafHash, rootOf, withLeaf } from '../core/ledger/merkle.ts';

/** The text that an exporter signs after each line. No message to a run has this action. */
export function sealText({ size, root }: { size: number; root: string }): string {
  return canonicalJson({ action: 'audit', root, size });
}

/** The leaf of a line in the tree of its export: its canonical JSON without `proof`. */
export function lineLeaf(sealed: AuditLine & { proof?: unknown }): string {
  const { proof: _, ...line } = sealed;
  return leafHash(canonicalJson(line as unknown as Json));
}

/** Gives each line its place in the export. `sign`: Ed25519 in base64 over a text; absent: the export is not signed. */
export function sealer(sign?: (text: string) => string): (line: AuditLine) => SealedLine {
  let tree: TreeState = emptyTree;
  return (line) => {
    tree = withLeaf(tree, lineLeaf(line));
    const head = { size: tree.size, root: rootOf(tree) };
    return { ...line, proof: { ...head, ...(sign !== undefined && { signature: sign(sealText(head)) }) } };
  };
}

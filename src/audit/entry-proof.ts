/** Proofs for somebody who has no export, but a head: that one entry is under it, or that a newer head continues it. */
import { isObject } from '../core/base/is-object.ts';
import type { JournalHead } from '../core/ledger/journal-entry.ts';
import type { EntryLine, ExportLine, RunLine, SealedLine } from './audit-line.ts';
import { runTag } from '../core/ledger/commit-entry.ts';
import { leafOfLine } from './entry-line.ts';
import { isHash } from '../core/ledger/merkle.ts';
import { consistencyProof, inclusionProof, isConsistent, isIncluded, rootOfLeaves } from './proofs.ts';
import { isEntryLine } from './read-line.ts';

/** Shows that a run's head covers one entry. It has no other entry of the run. */
export interface EntryProof extends Pick<EntryLine, 'entry' | 'salts' | 'withheld'> {
  line: 'entry proof';
  namespace: string;
  workflowId: string;
  firstRunId: string;
  head: JournalHead;
  /** The hashes from the entry to the root (RFC 9162, section 2.1.3). */
  proof: string[];
}

/** Shows that the newer head of a run covers all entries of the older one, and in the same order. */
export interface HeadProof {
  line: 'head proof';
  older: JournalHead;
  newer: JournalHead;
  /** RFC 9162, section 2.1.4. */
  proof: string[];
}

/** The entries of one run of an export, as far as proofs need them. */
export interface ProvableRun {
  namespace: string;
  run: RunLine;
  entries: EntryLine[];
  leaves: string[];
}

/** Collects a run of an export that verifies. Undefined if there is none; a sentence if no proof can be made of it. */
export function provableRun(lines: Iterable<SealedLine>, workflowId?: string): ProvableRun | string | undefined {
  let began: ExportLine | undefined;
  let found: ProvableRun | undefined;
  for (const line of lines) {
    if (line.line === 'export') began = line;
    if (line.line === 'run' && (workflowId === undefined || line.workflowId === workflowId)) {
      if (found !== undefined) return 'the export has several such runs: name one by its workflow id';
      if (!line.committed) return 'the run has no tree: an older version wrote it';
      found = { namespace: began?.namespace ?? '', run: line, entries: [], leaves: [] };
    }
    if (found === undefined || !('run' in line) || line.run !== found.run.run) continue;
    if (line.line === 'gap') return `the export lacks entries ${line.first} to ${line.last}`;
    if (line.line !== 'entry') continue;
    const leaf = leafOfLine(runTag({ ...found.run, namespace: found.namespace }), line);
    if ('problem' in leaf) return leaf.problem;
    found.entries.push(line);
    found.leaves.push(leaf.leaf);
  }
  return found;
}

/** The proof for entry `seq` under the head over all entries; undefined if there is no such entry. */
export function proveEntry({ namespace, run, entries, leaves }: ProvableRun, seq: number): EntryProof | undefined {
  const found = entries[seq - 1];
  if (found === undefined) return undefined;
  const { entry, salts, withheld } = found;
  const { workflowId, firstRunId } = run;
  return {
    line: 'entry proof',
    namespace,
    workflowId,
    firstRunId,
    entry,
    ...(salts !== undefined && { salts }),
    ...(withheld !== undefined && { withheld }),
    head: { size: leaves.length, root: rootOfLeaves(leaves) },
    proof: inclusionProof(leaves, seq - 1),
  };
}

/** The proof that the head over all entries continues the head over the first `size`. */
export function proveHead({ leaves }: ProvableRun, size: number): HeadProof | undefined {
  if (size < 1 || size > leaves.length) return undefined;
  return {
    line: 'head proof',
    older: { size, root: rootOfLeaves(leaves.slice(0, size)) },
    newer: { size: leaves.length, root: rootOfLeaves(leaves) },
    proof: consistencyProof(leaves, size),
  };
}

/** Why a proof shows nothing; undefined if it is right. Takes any value, and never throws. */
export function proofProblem(value: unknown): string | undefined {
  if (!isObject(value) || !Array.isArray(value['proof']) || !value['proof'].every(isHash)) return noProof;
  const { proof } = value;
  if (value['line'] === 'head proof') {
    const { older, newer } = value;
    if (!isHead(older) || !isHead(newer)) return noProof;
    return isConsistent(older, newer, proof) ? undefined : 'the newer head does not continue the older one';
  }
  const { line, namespace, workflowId, firstRunId, head } = value;
  if (line !== 'entry proof' || !isHead(head) || !isEntryLine(value)) return noProof;
  if (typeof namespace !== 'string' || typeof workflowId !== 'string' || typeof firstRunId !== 'string') return noProof;
  const leaf = leafOfLine(runTag({ namespace, workflowId, firstRunId }), value);
  if ('problem' in leaf) return leaf.problem;
  const isShown = isIncluded(head, { leaf: leaf.leaf, index: value.entry.seq - 1, proof });
  return isShown ? undefined : 'the head does not cover this entry';
}

const noProof = 'it is no proof';

function isHead(value: unknown): value is JournalHead {
  return isObject(value) && Number.isSafeInteger(value['size']) && isHash(value['root']);
}

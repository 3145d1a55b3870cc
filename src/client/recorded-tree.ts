import { isHash, isTree, type TreeState } from '../core/audit/merkle.ts';
import type { RecordedHead } from '../core/audit/audit-line.ts';
import type { RecordedPolicies } from '../core/events/recorded-policies.ts';
import type { ReadExecution } from './history-chain.ts';

/** What the executions of a run recorded of its tree. */
export interface RecordedTree {
  /** The secret of the salts; undefined in runs of older versions. */
  secret?: string;
  /** The digest of the policies with which it started, or with which its oldest execution did. */
  policyDigest?: string;
  /** The head over the most entries that the run wrote. */
  head?: RecordedHead;
  /** The tree that the oldest execution took over from one that is gone. */
  before?: TreeState;
}

/** Reads the tree's secret and heads from the executions of a run, oldest first. */
export function recordedTree(
  executions: readonly ReadExecution[],
  { first, carried }: Pick<RecordedPolicies, 'first' | 'carried'>,
): RecordedTree {
  let head: RecordedHead | undefined;
  for (const { runId, events } of executions) {
    for (const { eventId, head: found } of events) {
      if (found !== undefined && found.size >= (head?.size ?? 0)) head = { ...found, runId, eventId };
    }
  }
  const { auditSalt, policyDigest } = first ?? {};
  const before = carried?.gate.tree;
  return {
    ...(isHash(auditSalt) && { secret: auditSalt }),
    ...(isHash(policyDigest) && { policyDigest }),
    head,
    ...(isTree(before) && { before }),
  };
}

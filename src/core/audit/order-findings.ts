import type { AuditFinding, FindingKind } from './finding.ts';

/** What comes first of several findings at one line: what explains the others. */
const ranks: readonly FindingKind[] = [
  'unreadable',
  'foreign',
  'edited',
  'signature',
  'reordered',
  'repeated',
  'deleted',
];

/**
 * Findings as people read them: by line, and at one line what explains the others first. An entry that is missing in its
 * place and comes later was moved.
 */
export function orderFindings(found: readonly AuditFinding[]): AuditFinding[] {
  const rank = ({ kind }: AuditFinding): number => (ranks.includes(kind) ? ranks.indexOf(kind) : ranks.length);
  return found
    .map((each) => (isMoved(each, found) ? { ...each, kind: 'reordered' as const } : each))
    .sort((one, other) => one.line - other.line || rank(one) - rank(other));
}

function isMoved({ kind, line, workflowId, seq }: AuditFinding, found: readonly AuditFinding[]): boolean {
  const isSame = (other: AuditFinding): boolean => other.workflowId === workflowId && other.seq === seq;
  return (
    kind === 'deleted' &&
    seq !== undefined &&
    found.some((each) => each.kind === 'repeated' && each.line > line && isSame(each))
  );
}

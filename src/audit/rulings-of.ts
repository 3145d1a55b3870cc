import { orderedEntries } from '../events/journal.ts';
import type { JournalEntry } from '../core/ledger/journal-entry.ts';
import type { AuditedEntry, Standing } from './evidence.ts';

/**
 * True for an entry that records what the policies said of a call. A call that was settled without them has no digest:
 * an unknown tool, bad arguments, a run that closes. A reviewer's decision is no ruling, unless it edits the arguments.
 */
export function isRuling(
  { open }: { open: readonly { requestId: string; digest: string }[] },
  entry: AuditedEntry,
): boolean {
  const { kind, digest, by, outcome, requestId, withheld = [] } = entry;
  const hasDigest = digest !== undefined || withheld.includes('digest');
  if (kind === 'ruling') return hasDigest;
  if (kind === 'opened' || kind === 'reruled') return true;
  if (kind !== 'settled') return false;
  if (outcome === 'superseded') return by === 'policy' || by === 'grant';
  const request = open.find((each) => each.requestId === requestId);
  return outcome === 'approved' && request !== undefined && digest !== undefined && digest !== request.digest;
}

/** The entries that record a ruling, in order. */
export function rulingsOf(entries: readonly JournalEntry[], start?: Standing): JournalEntry[] {
  const open = (start?.open ?? []).map(({ requestId, digest }) => ({ requestId, digest }));
  return orderedEntries(entries).filter((entry) => {
    const { kind, requestId, digest } = entry;
    const isOne = isRuling({ open }, entry);
    if (kind === 'opened') open.push({ requestId: requestId ?? '', digest: digest ?? '' });
    return isOne;
  });
}

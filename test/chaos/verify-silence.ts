import { orderedEntries } from '../../src/events/journal.ts';
import type { RunBook } from './run-book.ts';

/** A settled request stays settled: no extension, delegation, revocation or policy change adds an entry about it. */
export function settledStaysSettled({ entries }: RunBook): string[] {
  const settled = new Set<string>();
  return orderedEntries(entries).flatMap(({ kind, requestId = '', at }) => {
    const isAfter = settled.has(requestId) && !['grant', 'refused'].includes(kind);
    if (kind === 'settled') settled.add(requestId);
    return isAfter ? [`request ${requestId} was settled, and is ${kind} at ${at}`] : [];
  });
}

/** The journal must contain nothing from a faulty decision, except refusals. */
export function refusedChangeNothing({ entries, sent }: RunBook): string[] {
  const bad = new Set(sent.flatMap(({ item }) => (item.fault === undefined ? [] : (item.decisionId ?? []))));
  return orderedEntries(entries)
    .filter(({ kind, decisionId = '' }) => kind !== 'refused' && bad.has(decisionId))
    .map(({ kind, requestId, decisionId }) => `request ${requestId}: ${decisionId} is no good, and left '${kind}'`);
}

/**
 * If the decision that settled a request asked for a grant, the grant is made, and the receipt names every request that
 * the grant settled (I14).
 */
export function grantsAreTold({ entries, sent }: RunBook): string[] {
  const ordered = orderedEntries(entries);
  return ordered.flatMap((settled, index) => {
    const { kind, requestId, decisionId } = settled;
    if (kind !== 'settled' || decisionId === undefined) return [];
    const winners = sent.filter(({ item, ...each }) => each.requestId === requestId && item.decisionId === decisionId);
    if (!winners.some(({ item }) => item.always !== undefined)) return [];
    const made = ordered[index + 1];
    if (made === undefined) return [];
    if (made.kind !== 'grant' || made.requestId !== requestId)
      return [`${decisionId} wished for a grant and left none`];
    const released: string[] = [];
    for (const { kind: next, byId, requestId: id } of ordered.slice(index + 2)) {
      if (next !== 'settled' || byId !== made.grantId) break;
      released.push(id ?? '');
    }
    return winners.flatMap(({ answer }) => {
      // A retry gets only the answer to the decision.
      if (answer.kind !== 'receipt' || answer.receipt.grantId === undefined) return [];
      const told = (answer.receipt.settled ?? []).map((each) => each.requestId);
      return answer.receipt.grantId === made.grantId && told.toSorted().join() === released.toSorted().join()
        ? []
        : [
            `${decisionId} was told of ${answer.receipt.grantId} and of ${told.join()}: it is ${made.grantId}, which settled ${released.join()}`,
          ];
    });
  });
}

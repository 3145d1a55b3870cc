import type { RunBook } from './run-book.ts';

/** The export of a run verifies, has every entry of its journal, and all of them are under a head that the run wrote. */
export function auditVerifies({ audit, entries, status }: RunBook): string[] {
  const wrong = audit.findings.map(({ line, kind, message }) => `line ${line} of its audit: ${kind}: ${message}`);
  const count = new Set(entries.map(({ seq }) => seq)).size;
  if (audit.entries !== count) wrong.push(`its audit has ${audit.entries} entries, and its journal ${count}`);
  // A terminated run could not write its last head.
  return [...wrong, ...(status === 'TERMINATED' ? [] : audit.notes)];
}

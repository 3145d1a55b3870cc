import { generateKeyPairSync, sign } from 'node:crypto';
import type { AuditLine, EntryContext } from '../../src/audit/audit-line.ts';
import { committedLeaf, runTag, saltsOf } from '../../src/core/ledger/commit-entry.ts';
import { entryLine, sealer } from '../../src/audit/entry-line.ts';
import { emptyTree, rootOf, withLeaf } from '../../src/core/ledger/merkle.ts';
import type { JournalEntry } from '../../src/core/ledger/journal-entry.ts';

/** A key pair, and what signs with it. */
export function signingKey(): { publicKey: string; sign: (text: string) => string } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return {
    publicKey: publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64'),
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString('base64'),
  };
}

const at = '2030-01-31T12:00:00.000Z';

function entriesOf(name: string): JournalEntry[] {
  const requestId = name.padEnd(32, '0');
  const facts = { at, engine: 1, requestId, callId: '1.1' };
  return [
    {
      ...facts,
      seq: 1,
      kind: 'opened',
      toolName: 'pay',
      digest: '1'.repeat(64),
      rule: 'ceiling#1',
      reason: `${name} pays`,
    },
    { ...facts, seq: 2, kind: 'vote', approved: true, reviewerId: 'ann', identity: 'verified' },
    { ...facts, seq: 3, kind: 'settled', outcome: 'approved', runs: true, reviewerId: 'bob', identity: 'claimed' },
    { ...facts, seq: 4, kind: 'ran', ran: 'yes' },
    { at, engine: 1, seq: 5, kind: 'refused', code: 'already_settled', size: 90 },
    { at, engine: 1, seq: 6, kind: 'ruling', callId: '2.1', toolName: 'look', action: 'allow', outcome: 'allowed' },
  ];
}

export interface SampleOptions {
  publicKey?: string;
  sign?: (text: string) => string;
  withheld?: readonly string[];
  /** How many entries of each run are exported; default all. */
  entries?: number;
}

/** An export of two runs with six entries each, as a file holds it: line 3 is the first entry of the first run. */
export function sampleExport({ publicKey, sign, withheld = [], entries = 6 }: SampleOptions = {}): string[] {
  const seal = sealer(sign);
  const lines: AuditLine[] = [
    {
      line: 'export',
      format: 1,
      namespace: 'default',
      at,
      of: { query: '' },
      ...(publicKey !== undefined && { publicKey }),
      withheld: [...withheld],
    },
    ...runLines(1, 'alice', entries, withheld),
    ...runLines(2, 'bert', entries, withheld),
    { line: 'end', at, runs: 2, entries: 2 * entries },
  ];
  return lines.map((line) => JSON.stringify(seal(line)));
}

function runLines(run: number, workflowId: string, count: number, withheld: readonly string[]): AuditLine[] {
  const firstRunId = `first-${run}`;
  const saltOf = saltsOf(String(run).repeat(64));
  const tag = runTag({ namespace: 'default', workflowId, firstRunId });
  const context: EntryContext = { runId: firstRunId, eventId: 9 };
  const entries = entriesOf(workflowId).slice(0, count);
  const head = (size: number) => {
    const tree = entries
      .slice(0, size)
      .map((entry) => committedLeaf(entry, tag, saltOf))
      .reduce(withLeaf, emptyTree);
    return { size, root: rootOf(tree) };
  };
  return [
    { line: 'run', run, workflowId, firstRunId, workflowType: 'agentRun', startedAt: at, committed: true },
    ...entries.map((entry) => entryLine({ run, workflowId, entry, context, saltOf, withheld: new Set(withheld) })),
    { line: 'evidence', run, part: 'policy', key: '2'.repeat(64), value: { version: 1, rules: [] } },
    {
      line: 'head',
      run,
      status: 'COMPLETED',
      executions: 1,
      ...head(count),
      recorded: { ...head(count), runId: firstRunId, eventId: 30 },
    },
  ];
}

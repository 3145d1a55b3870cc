import type { JournalHead } from '../core/ledger/journal-entry.ts';
import type { EntryLine, EvidenceLine, RunLine } from './audit-line.ts';

/** A problem that a verifier found. The message is one sentence about the problem and its place. */
export interface AuditFinding {
  /** The line of the file, from 1. */
  line: number;
  kind: FindingKind;
  message: string;
  workflowId?: string;
  /** The number of the first journal entry that the finding is about. */
  seq?: number;
}

/**
 * What is wrong. `deleted`, `reordered`, `repeated`, `edited`, `cut off`: how the file was changed. `foreign`: the
 * line belongs to another run or export. `signature`: the line is not signed with the expected key. `head`: the
 * entries are not those to which the run, or an older export, committed itself. `unreadable`: the line is not one of
 * an export. `ruling`: the recorded policies lead to another ruling. `live`: the history on the server has something
 * else.
 */
export type FindingKind =
  | 'deleted'
  | 'reordered'
  | 'repeated'
  | 'edited'
  | 'cut off'
  | 'foreign'
  | 'signature'
  | 'head'
  | 'unreadable'
  | 'ruling'
  | 'live';

/** A run with all its lines, to evaluate the policies on its calls again. */
export interface RunToRule {
  run: RunLine;
  entries: EntryLine[];
  evidence: EvidenceLine[];
}

/** The result of evaluating a run's rulings again. */
export interface RuledAgain {
  findings: { seq?: number; message: string }[];
  agreed: number;
  /** For each ruling that could not be evaluated again, the reason. */
  notMade: string[];
}

/** What a verification needs besides the lines. */
export interface VerifierOptions {
  /** Checks an Ed25519 signature. All arguments come from the file. Returns `false` for an invalid key or signature. */
  isSigned: (publicKey: string, text: string, signature: string) => boolean;
  /** The key that must have signed the export: 32 bytes in base64. Default: the key that the export names, if any. */
  publicKey?: string;
  /** The heads of an older export, by `runKey`. The first entries of a run here must be those of that export. */
  since?: ReadonlyMap<string, JournalHead>;
  ruleAgain?: (run: RunToRule) => RuledAgain;
}

/** The result of a verification. */
export interface AuditVerdict {
  ok: boolean;
  /** The findings, in the order of the file. At most 100. */
  findings: AuditFinding[];
  /** Remarks that are no findings, because honest exports have them, too: retention may have removed entries. */
  notes: string[];
  lines: number;
  runs: number;
  entries: number;
  /** How many rulings match the journal, and for each reason how many could not be evaluated again. */
  rulings: { agreed: number; notMade: Record<string, number> };
  /** The key whose signatures were checked: 32 bytes in base64. */
  signedBy?: string;
  /** The head of each run, by `runKey`. */
  heads: ReadonlyMap<string, JournalHead>;
}

import type { JournalHead } from '../core/ledger/journal-entry.ts';
import type { EntryLine, EvidenceLine, RunLine } from './audit-line.ts';

/** A problem found by a verifier. The message names the problem and its place, in one sentence. */
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
 * `deleted`, `reordered`, `repeated`, `edited`, `cut off`: how the file was changed. `foreign`: the line is of another
 * run or export. `signature`: it is signed with another key, or not at all. `head`: the run, or an older export, is
 * committed to other entries. `unreadable`: it is no line of an export. `ruling`: the recorded policy rules otherwise.
 * `live`: the server's history differs.
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

/** A run with all its lines, to be ruled on again. */
export interface RunToRule {
  run: RunLine;
  entries: EntryLine[];
  evidence: EvidenceLine[];
}

/** The rulings of a run, made again. */
export interface RuledAgain {
  findings: { seq?: number; message: string }[];
  agreed: number;
  /** For each ruling that could not be made again, the reason. */
  notMade: string[];
}

/** The input of a verification besides the lines. */
export interface VerifierOptions {
  /** Checks an Ed25519 signature. All three values are from the file; an invalid key or signature gives `false`. */
  isSigned: (publicKey: string, text: string, signature: string) => boolean;
  /** The key that must have signed the export: 32 bytes in base64. Default: the key that the export names, if any. */
  publicKey?: string;
  /** The heads of an older export, by `runKey`: its entries must be the first of the same run here. */
  since?: ReadonlyMap<string, JournalHead>;
  ruleAgain?: (run: RunToRule) => RuledAgain;
}

/** The result of a verification. */
export interface AuditVerdict {
  ok: boolean;
  /** The findings, in the order of the file. At most 100. */
  findings: AuditFinding[];
  /** No findings, because an honest export may have them, such as entries that retention has removed. */
  notes: string[];
  lines: number;
  runs: number;
  entries: number;
  /** How many rulings match the record, and how many could not be made again, by the reason. */
  rulings: { agreed: number; notMade: Record<string, number> };
  /** The key whose signatures were checked: 32 bytes in base64. */
  signedBy?: string;
  /** The head of each run, by `runKey`. */
  heads: ReadonlyMap<string, JournalHead>;
}

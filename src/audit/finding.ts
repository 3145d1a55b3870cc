import type { JournalHead } from '../core/ledger/journal-entry.ts';
import type { EntryLine, EvidenceLine, RunLine } from './audit-line.ts';

/** What a verifier found wrong. The message says what happened and where, in one sentence. */
export interface AuditFinding {
  /** The line of the file, from 1. */
  line: number;
  kind: FindingKind;
  message: string;
  workflowId?: string;
  /** The first journal entry that it concerns. */
  seq?: number;
}

/**
 * `deleted`, `reordered`, `repeated`, `edited`, `cut off`: what was done to the file. `foreign`: a line of another run or
 * export. `signature`: signed by somebody else, or not at all. `head`: the entries are not those to which the run, or an
 * older export, is committed. `unreadable`: no line of an export. `ruling`: the recorded policy rules otherwise. `live`:
 * the server's history says something else.
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

// What a verification of an export takes, and what it finds.

/** A run with all its lines, to be ruled on again. */
export interface RunToRule {
  run: RunLine;
  entries: EntryLine[];
  evidence: EvidenceLine[];
}

/** The rulings of a run, made again. */
export interface RuledAgain {
  findings: { seq?: number; message: string }[];
  /** How many rulings came out as recorded. */
  agreed: number;
  /** Why each other ruling could not be made again. */
  notMade: string[];
}

/** What a verification takes besides the lines. */
export interface VerifierOptions {
  /** Ed25519 over a text. All three values are texts of the file: an invalid key or signature is `false`. */
  isSigned: (publicKey: string, text: string, signature: string) => boolean;
  /** The key that must have signed the export: 32 bytes in base64. Default: the key that the export names, if any. */
  publicKey?: string;
  /** The heads of an older export, by `runKey`: each must be a prefix of the run in this one. */
  since?: ReadonlyMap<string, JournalHead>;
  /** Rules again on the calls of a run, and says for which entries the answer differs. */
  ruleAgain?: (run: RunToRule) => RuledAgain;
}

/** The result of a verification. */
export interface AuditVerdict {
  /** True: nothing was found. */
  ok: boolean;
  /** The first finding is the first place in the file. At most 100. */
  findings: AuditFinding[];
  /** What an honest export may say too, such as entries that retention has removed. */
  notes: string[];
  lines: number;
  runs: number;
  entries: number;
  /** Rulings that were made again and came out as recorded; and why others were not, with their number. */
  rulings: { agreed: number; notMade: Record<string, number> };
  /** The key whose signatures were checked: 32 bytes in base64. */
  signedBy?: string;
  /** The head of each run, by `runKey`. */
  heads: ReadonlyMap<string, JournalHead>;
}

import type { JournalHead } from '../core/ledger/journal-entry.ts';
import type { EntryLine, EvidenceLine, RunLine } from './audit-line.ts';

/** A problem found by a verifier. The message names the problem and its place, in one sentence. */
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
 * `deleted`, `reordered`, `repeated`, `edited`, `cut off`: how the file was changed. `foreign`: a line of another run
 * or export. `signature`: signed with another key, or not at all. `head`: the entries are not those to which the run,
 * or an older export, is committed. `unreadable`: not a line of an export. `ruling`: the recorded policy rules
 * otherwise. `live`: the server's history differs.
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

// Input and result of a verification.

/** A run with all its lines, to be ruled on again. */
export interface RunToRule {
  run: RunLine;
  entries: EntryLine[];
  evidence: EvidenceLine[];
}

/** The rulings of a run, made again. */
export interface RuledAgain {
  findings: { seq?: number; message: string }[];
  /** How many rulings match the record. */
  agreed: number;
  /** Why each other ruling could not be made again. */
  notMade: string[];
}

/** The input of a verification besides the lines. */
export interface VerifierOptions {
  /** Ed25519 over a text. All three values are texts of the file: an invalid key or signature is `false`. */
  isSigned: (publicKey: string, text: string, signature: string) => boolean;
  /** The key that must have signed the export: 32 bytes in base64. Default: the key that the export names, if any. */
  publicKey?: string;
  /** The heads of an older export, by `runKey`: each must be a prefix of the run in this one. */
  since?: ReadonlyMap<string, JournalHead>;
  /** Rules again on the calls of a run, and names the entries with another answer. */
  ruleAgain?: (run: RunToRule) => RuledAgain;
}

/** The result of a verification. */
export interface AuditVerdict {
  /** True: no problem was found. */
  ok: boolean;
  /** The first finding is the first place in the file. At most 100. */
  findings: AuditFinding[];
  /** Notes that an honest export may have, too, such as about entries that retention has removed. */
  notes: string[];
  lines: number;
  runs: number;
  entries: number;
  /** The number of matching rulings; and the reasons why others were not made again, with their numbers. */
  rulings: { agreed: number; notMade: Record<string, number> };
  /** The key whose signatures were checked: 32 bytes in base64. */
  signedBy?: string;
  /** The head of each run, by `runKey`. */
  heads: ReadonlyMap<string, JournalHead>;
}

/**
 * The lines of an audit export (docs/wire.md). Each line is a JSON object. The first line describes the export, and
 * the last line ends it. Between them, each run has a line of its own, then its entries and other facts, then its
 * head.
 */
import type { Json } from '../core/base/tool-call.ts';
import type { JournalHead } from '../core/ledger/journal-entry.ts';
import type { TreeState } from '../core/ledger/merkle.ts';

export const auditFormat = 1;

/** A line of an export, without its proof. */
export type AuditLine = ExportLine | RunLine | GapLine | EntryLine | ActivityLine | EvidenceLine | HeadLine | EndLine;

/** A line with its proof. */
export type SealedLine = AuditLine & { proof: LineProof };

/** The proof of a line. It commits the exporter to this line and to all lines before it. */
export interface LineProof {
  /** The number of this line, from 1. */
  size: number;
  /** The root of the Merkle tree over the lines up to this one. */
  root: string;
  /** An Ed25519 signature in base64 over `sealText` of this proof, if the export is signed. */
  signature?: string;
}

/** The first line. */
export interface ExportLine {
  line: 'export';
  format: number;
  namespace: string;
  /** When the export began: ISO 8601. */
  at: string;
  of: { workflowId: string } | { query: string };
  /** The exporter's Ed25519 public key, 32 bytes in base64, if the export is signed. */
  publicKey?: string;
  /** The names of the members that this export withholds. */
  withheld: string[];
}

/** The first line of a run. The other lines of the run have the same number `run`. */
export interface RunLine {
  line: 'run';
  /** The number of the run in this export, from 1. */
  run: number;
  workflowId: string;
  /** Temporal's run id of the run's first execution. */
  firstRunId: string;
  workflowType: string;
  /** The start of the oldest execution that the server still has of the run, in ISO 8601. */
  startedAt: string | null;
  /** The agent with which the run was started. Absent for custom workflows. */
  agent?: string;
  /** The user of the run, as its starter claims. */
  caller?: Json;
  /** True if the run hashed its entries into a tree. If false, its entries have no salts, and it wrote no head. */
  committed: boolean;
  /** The run's tree over the first entries. Present if retention has removed the executions with these entries. */
  before?: TreeState;
}

/** Stands for the entries `first` to `last`, which the exporter did not find in the history of the run. */
export interface GapLine {
  line: 'gap';
  run: number;
  first: number;
  last: number;
  why: 'retention' | 'missing';
}

/** A journal entry. */
export interface EntryLine {
  line: 'entry';
  run: number;
  workflowId: string;
  /** The entry without its withheld members. */
  entry: { seq: number; kind: string; at: string } & Record<string, Json>;
  /** The salts of the shown members, by name. A verifier needs a salt to compute the hash of its member. */
  salts?: Record<string, string>;
  /** The hashes of the members that are withheld. */
  withheld?: Record<string, string>;
  context: EntryContext;
}

/** Facts that the exporter adds to an entry from the history. The run's own tree does not cover these facts. */
export interface EntryContext {
  /** Temporal's run id and event number of the event that contains the entry. */
  runId: string;
  eventId: number;
  /** The digest of the policies in force. Until an entry names a digest, it is that of the run's start. */
  policyDigest?: string;
  /** For a vote or a settlement: how long the request had been open, in milliseconds. */
  openForMs?: number;
  /** The message that caused the entry. Absent if several messages may have caused it. */
  message?: MessagePlace;
}

/** A message in the history of a run. */
export interface MessagePlace {
  via: 'signal' | 'update';
  runId: string;
  eventId: number;
  /** When the server recorded the message, in ISO 8601. */
  at: string;
  /** The identity that the sender's Temporal client claims. It is unverified. */
  sender?: string;
}

/** The activity or nested run of a call that passed the gate. */
export interface ActivityLine {
  line: 'activity';
  run: number;
  callId: string;
  /** The activity type, which is the tool's name; for a nested run, its workflow id. */
  activity: string;
  runId: string;
  scheduledEventId: number;
  scheduledAt: string;
  startedAt?: string;
  closedEventId?: number;
  closedAt?: string;
  state: 'completed' | 'failed' | 'timed out' | 'cancelled' | 'open';
  attempt?: number;
  /** The identity of the worker that ran the activity. */
  worker?: string;
}

/** Data that a verifier needs to evaluate the policies again. `part` and `key` say where `value` belongs. */
export interface EvidenceLine {
  line: 'evidence';
  run: number;
  part: string;
  key: string;
  value: Json;
}

/** The last line of a run: its state, and the head over its entries. */
export interface HeadLine extends JournalHead {
  line: 'head';
  run: number;
  /** Temporal's name of the status, such as `COMPLETED`. */
  status: string;
  closedAt?: string;
  executions: number;
  /** The newest head that the run itself wrote into its history. A verifier compares the entries with it. */
  recorded?: RecordedHead;
  /** The number of payloads that the exporter could not decode. */
  unread?: number;
}

/** A head, and the event that contains it. */
export interface RecordedHead extends JournalHead {
  runId: string;
  eventId: number;
}

/** The last line. */
export interface EndLine {
  line: 'end';
  /** When the export ended: ISO 8601. */
  at: string;
  runs: number;
  entries: number;
}

/**
 * The lines of an audit export, in order: the export, for each run its line, its entries and its head, the end. Each is
 * a JSON object; docs/wire.md describes the format for other verifiers.
 */
import type { Json } from '../core/base/tool-call.ts';
import type { JournalHead } from '../core/ledger/journal-entry.ts';
import type { TreeState } from '../core/ledger/merkle.ts';

export const auditFormat = 1;

/** A line of an export, without its place. */
export type AuditLine = ExportLine | RunLine | GapLine | EntryLine | ActivityLine | EvidenceLine | HeadLine | EndLine;

/** A line with its place in the export. */
export type SealedLine = AuditLine & { proof: LineProof };

/** The proof of a line: commits the exporter to this line and to all lines before it. */
export interface LineProof {
  /** The number of this line, from 1. */
  size: number;
  /** The root of the tree over the lines up to this one. */
  root: string;
  /** Ed25519 in base64 over `signedText`, if the export is signed. */
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
  /** Ed25519, 32 bytes in base64, if the export is signed. */
  publicKey?: string;
  /** Members that this export withholds. */
  withheld: string[];
}

/** The line of a run, before all of its entries. Later lines name the run by `run`. */
export interface RunLine {
  line: 'run';
  /** The number of the run in this export, from 1. */
  run: number;
  workflowId: string;
  /** Temporal's run id of the run's first execution. */
  firstRunId: string;
  workflowType: string;
  /** When its oldest execution in history began: ISO 8601. */
  startedAt: string | null;
  /** The agent that was started; absent for custom workflows. */
  agent?: string;
  /** The user of the run, as its starter claims. */
  caller?: Json;
  /** False for a run that recorded no secret for its salts: its entries have no salts, and it wrote no head. */
  committed: boolean;
  /** The tree over the first entries, which are missing because retention has removed their executions. */
  before?: TreeState;
}

/** The place of entries that no payload in history holds. */
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
  /** The salts of the salted members of the entry. */
  salts?: Record<string, string>;
  /** The hashes of the members that are withheld. */
  withheld?: Record<string, string>;
  context: EntryContext;
}

/** The facts of the history about an entry. They are not part of the tree to which the run commits itself. */
export interface EntryContext {
  /** The event that holds the entry, by Temporal's run id of its execution, and its number. */
  runId: string;
  eventId: number;
  /** The digest of the policies in force: at first those of the agent that was started. */
  policyDigest?: string;
  /** For a vote or a settled request: how long the request had been open, in milliseconds. */
  openForMs?: number;
  /** The message that the entry answers, if that is certain. */
  message?: MessagePlace;
}

/** A message in the history of a run. */
export interface MessagePlace {
  via: 'signal' | 'update';
  runId: string;
  eventId: number;
  /** When the server recorded the message, in ISO 8601. */
  at: string;
  /** The identity that the sender's Temporal client states; it is unverified. */
  sender?: string;
}

/** The activity or nested run of a call that passed the gate. */
export interface ActivityLine {
  line: 'activity';
  run: number;
  callId: string;
  /** The activity type, which is the tool's name, or the workflow id of a nested run. */
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

/** The data that a verifier needs to rule again. `part` and `key` say where `value` belongs. */
export interface EvidenceLine {
  line: 'evidence';
  run: number;
  part: string;
  key: string;
  value: Json;
}

/** The state of a run at the end of its lines. */
export interface HeadLine extends JournalHead {
  line: 'head';
  run: number;
  /** Temporal's name of the status, such as `COMPLETED`. */
  status: string;
  closedAt?: string;
  executions: number;
  /** The head over the most entries that the run itself wrote into history. */
  recorded?: RecordedHead;
  /** The number of payloads that the exporter could not decode. */
  unread?: number;
}

/** A head, and the event that holds it. */
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

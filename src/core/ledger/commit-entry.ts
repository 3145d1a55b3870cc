/**
 * How a journal entry becomes a leaf of its run's tree. Members that may reveal people, calls or business are salted
 * hashes, so that an export can withhold them and still be checked (docs/audit.md).
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson, canonicalJsonProblem } from '../base/canonical-json.ts';
import { jsonDigest } from '../base/digest.ts';
import type { Json } from '../base/tool-call.ts';
import type { JournalEntry } from './journal-entry.ts';
import { leafHash } from './merkle.ts';

/** The members that an entry shows in every export. All others, and those of later versions, are salted. */
export const plainMembers: readonly string[] = [
  'seq',
  'kind',
  'at',
  'engine',
  'callId',
  'requestId',
  'action',
  'outcome',
  'ran',
  'layer',
  'severity',
  'identity',
  'approved',
  'runs',
  'by',
  'policyDigest',
  'deadline',
  'code',
  'size',
] satisfies (keyof JournalEntry)[];

/** Identifies a run in each of its leaves, so that an entry of another run does not fit into its tree. */
export interface CommittedRun {
  namespace: string;
  workflowId: string;
  /** Temporal's run id of the run's first execution. */
  firstRunId: string;
}

/** The text that stands for a run in each of its leaves. */
export function runTag({ namespace, workflowId, firstRunId }: CommittedRun): string {
  return jsonDigest([namespace, workflowId, firstRunId].map(wellFormed));
}

/** Returns a function for the salt (128 bits) of each member of each entry. No salt reveals another, or the secret. */
export function saltsOf(secret: string): (seq: number, member: string) => string {
  const keyed = hmac.create(sha256, hexToBytes(secret));
  return (seq, member) => {
    const digest = keyed
      .clone()
      .update(utf8ToBytes(`${seq}.${member}`))
      .digest();
    return bytesToHex(digest.subarray(0, 16));
  };
}

/** The hash that commits to a value without showing it. `salt`: hex digits. */
export function saltedHash(salt: string, value: Json): string {
  return bytesToHex(sha256(concatBytes(hexToBytes(salt), utf8ToBytes(canonicalJson(committable(value))))));
}

/** The leaf of an entry, given its plain members and the hashes of the others. `tag`: the run's, by `runTag`. */
export function leafOf(tag: string, plain: Record<string, Json>, salted: Record<string, string>): string {
  const shown = Object.fromEntries(Object.entries(plain).map(([name, value]) => [name, committable(value)]));
  return leafHash(canonicalJson({ plain: shown, run: tag, salted }));
}

/** The leaf of an entry as the run with this `runTag` writes it. Never throws, so that no message can stop the run. */
export function committedLeaf(entry: JournalEntry, tag: string, saltOf: ReturnType<typeof saltsOf>): string {
  const plain: Record<string, Json> = {};
  const salted: Record<string, string> = {};
  for (const [name, value] of Object.entries(entry) as [string, Json | undefined][]) {
    if (value === undefined) continue;
    if (plainMembers.includes(name)) plain[name] = value;
    else salted[name] = saltedHash(saltOf(entry.seq, name), value);
  }
  return leafOf(tag, plain, salted);
}

/** The value, or a substitute if the value has no canonical JSON. Exports show what is hashed. */
export function committable(value: Json): Json {
  return canonicalJsonProblem(value) === undefined ? value : { json: wellFormed(JSON.stringify(value)) };
}

function wellFormed(text: string): string {
  return text.toWellFormed();
}

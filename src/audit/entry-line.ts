import type { Json } from '../core/base/tool-call.ts';
import type { JournalEntry } from '../core/ledger/journal-entry.ts';
import type { EntryContext, EntryLine, AuditLine, SealedLine } from './audit-line.ts';
import { leafOf, plainMembers, saltedHash, type saltsOf, committable } from '../core/ledger/commit-entry.ts';
import { canonicalJson } from '../core/base/canonical-json.ts';
import { type TreeState, emptyTree, leafHash, rootOf, withLeaf } from '../core/ledger/merkle.ts';

/** What an export can withhold in addition to members of entries. */
export const otherWithholdable: readonly string[] = ['caller', 'sender', 'worker', 'arguments'];

/** What `--redact` withholds: texts and identities of people, and values that could be guessed from a hash. */
export const redacted: readonly string[] = [
  'reason',
  'reviewerId',
  'reviewerName',
  'voters',
  'to',
  'scope',
  'digest',
  'decisionId',
  'viewed',
  'advice',
  ...otherWithholdable,
];

export interface EntryToWrite {
  run: number;
  workflowId: string;
  entry: JournalEntry;
  context: EntryContext;
  /** Returns the salt of a member. Absent if the run recorded no secret for salts. */
  saltOf?: ReturnType<typeof saltsOf>;
  withheld: ReadonlySet<string>;
}

/** Builds the line of an entry, with the salts of shown members and the hashes of withheld ones. */
export function entryLine({ run, workflowId, entry, context, saltOf, withheld }: EntryToWrite): EntryLine {
  const shown: Record<string, Json> = {};
  const salts: Record<string, string> = {};
  const hashes: Record<string, string> = {};
  for (const [name, value] of Object.entries(entry) as [string, Json][]) {
    const isPlain = plainMembers.includes(name);
    const salt = isPlain ? undefined : saltOf?.(entry.seq, name);
    // Withhold the name with the id, because it identifies the person, too.
    const isName = name === 'reviewerName' && withheld.has('reviewerId');
    const isWithheld = !isPlain && (isName || withheld.has(name));
    if (!isWithheld) shown[name] = committable(value);
    // Without a salt there is no hash: the member is plain, or the run did not commit itself to its entries.
    if (salt === undefined) continue;
    if (isWithheld) hashes[name] = saltedHash(salt, value);
    else salts[name] = salt;
  }
  return {
    line: 'entry',
    run,
    workflowId,
    entry: shown as EntryLine['entry'],
    ...(saltOf !== undefined && { salts }),
    ...(Object.keys(hashes).length > 0 && { withheld: hashes }),
    context: shownContext(context, withheld),
  };
}

function shownContext({ message, ...context }: EntryContext, withheld: ReadonlySet<string>): EntryContext {
  if (message === undefined) return context;
  const { sender, ...place } = message;
  return { ...context, message: withheld.has('sender') || sender === undefined ? place : { ...place, sender } };
}

/** Computes an entry's leaf in the run's tree. A problem if salts and hashes do not fit shown and withheld members. */
export function leafOfLine(
  runTag: string,
  { entry, salts = {}, withheld = {} }: Pick<EntryLine, 'entry' | 'salts' | 'withheld'>,
): { leaf: string } | { problem: string } {
  const plain: Record<string, Json> = {};
  const salted: Record<string, string> = { ...withheld };
  for (const [name, value] of Object.entries(entry)) {
    if (plainMembers.includes(name)) plain[name] = value;
    else if (Object.hasOwn(withheld, name)) return { problem: `'${name}' is both shown and withheld` };
    else if (!Object.hasOwn(salts, name)) return { problem: `'${name}' has no salt` };
    else salted[name] = saltedHash(salts[name]!, value);
  }
  const stray = Object.keys(salts).find((name) => !Object.hasOwn(entry, name));
  if (stray !== undefined) return { problem: `the salt of '${stray}' belongs to no member` };
  const withheldPlain = Object.keys(withheld).find((name) => plainMembers.includes(name));
  if (withheldPlain !== undefined) return { problem: `'${withheldPlain}' cannot be withheld` };
  return { leaf: leafOf(runTag, plain, salted) };
}

/** Returns the text that an exporter signs. No message to a run has the action `audit`, so none has its signature. */
export function sealText({ size, root }: { size: number; root: string }): string {
  return canonicalJson({ action: 'audit', root, size });
}

/** Returns the leaf of a line: the hash of its canonical JSON without `proof`. */
export function lineLeaf(sealed: AuditLine & { proof?: unknown }): string {
  const { proof: _, ...line } = sealed;
  return leafHash(canonicalJson(line as unknown as Json));
}

/** Returns a function that adds the proof to each line: signed by `sign` (Ed25519 in base64), or else unsigned. */
export function sealer(sign?: (text: string) => string): (line: AuditLine) => SealedLine {
  let tree: TreeState = emptyTree;
  return (line) => {
    tree = withLeaf(tree, lineLeaf(line));
    const head = { size: tree.size, root: rootOf(tree) };
    return { ...line, proof: { ...head, ...(sign !== undefined && { signature: sign(sealText(head)) }) } };
  };
}

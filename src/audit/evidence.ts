/**
 * The data with which a verifier without a server can rule again on the calls of a run: policies, calls and contexts,
 * each once under the digest of its canonical JSON, and for each ruling in the journal the digests of its inputs. All
 * other inputs of a ruling follow from the journal's earlier entries (standing.ts).
 */
import type { Assessment } from '../core/assess/assessment.ts';
import type { JsonObject, Risk, Json } from '../core/base/tool-call.ts';
import type { AskTerms } from '../core/policy/ask-terms.ts';
import type { Identity } from '../core/people/entitlement.ts';
import type { Raised } from '../core/policy/advice.ts';
import type { Policy } from '../core/policy/policy.ts';
import type { EvidenceContext } from '../core/ledger/recorded-context.ts';
import type { ShellSplit } from '../core/shell/parts.ts';
import type { JournalEntry } from '../core/ledger/journal-entry.ts';
import type { Ledger } from '../core/ledger/ledger.ts';
import { isObject } from '../core/base/json.ts';

/** A call as the gate ruled on it. */
export interface EvidenceCall {
  tool: string;
  /** Absent if no history keeps them, as for a guarded activity that did not run. */
  args?: JsonObject;
  risk: Risk;
  /** The digest of the tool's definition. */
  definition: string;
  /** The argument that is the tool's subject. */
  subject?: string;
  /** The split of a shell subject. */
  shell?: ShellSplit;
  /** For a shell subject: the other arguments that are harmless beside any command. */
  beside?: readonly string[];
  /** The result of all assessors, including the worker's own, as recorded when the arguments were parsed. */
  assessed?: Assessment;
}

/** A journal entry, as an export gives it. */
export type AuditedEntry = JournalEntry & {
  /** The members that a redacted export withholds. */
  withheld?: readonly string[];
};

/** The policies that were in force, by their digests. */
export interface EvidencePolicies {
  ceiling?: string;
  parents?: string[];
  run?: string;
}

/** One ruling of the gate: the journal entry that records it, and its inputs, by digest. */
export interface Evidence {
  seq: number;
  policies: EvidencePolicies;
  call: string;
  context: string;
  /** The agent in charge. */
  agent: string;
}

/** The parts of an open request that later rulings depend on. */
export interface StandingRequest {
  requestId: string;
  callId: string;
  /** The digest of the call that would run. */
  digest: string;
  /** The digest of its call in `calls`, and the terms of its question; absent if unknown. */
  call?: string;
  terms?: AskTerms;
  definition?: string;
  delegations: { from: string; to: string }[];
  votes: { reviewerId?: string; identity: Identity; approved: boolean }[];
  requestedAt: string;
  callerUserId: string | null;
  /** The number that it adds to the count of irreversible calls. */
  irreversible: number;
  /** The severity to which an advisor raised the call. */
  raised?: Raised;
  /** Only people answer it, because its preview changed after they approved it. */
  peopleOnly?: true;
  /** It asks about arguments that a reviewer edited. */
  isEdit?: true;
}

/** The state after the calls and decisions before a ruling: the parts of the ledger that rulings read. */
export interface Standing extends Pick<Ledger, 'engine' | 'counts' | 'sums' | 'denied' | 'grants'> {
  /** The last journal entry that it includes. */
  seq: number;
  open: StandingRequest[];
  /** Settled requests whose irreversible call runs: a change of their tool may open them again. */
  running: { requestId: string; callId: string }[];
  /** Grants whose entries do not say everything: their scope is hidden, or was not recorded. */
  vague: string[];
  /** The request that was settled last, for the grant that its votes made. */
  settled?: StandingRequest;
}

/** The evidence of one run. `evidenceOf` (client) makes it from histories. */
export interface RunEvidence {
  version: 1;
  policies: Record<string, Policy>;
  calls: Record<string, EvidenceCall>;
  contexts: Record<string, EvidenceContext>;
  /** In the order of the journal. */
  rulings: Evidence[];
  /** Rulings that cannot be made again, each with one sentence about the reason. */
  missing: { seq: number; why: string }[];
  /** For a run whose first executions are gone: the state after them. */
  start?: Standing;
}

// Evidence as parts that fit the lines of a file: each has a kind, a key and a value.

export interface EvidencePart {
  part: string;
  /** A digest, or the number of a journal entry. */
  key: string;
  value: Json;
}

const byDigest = { policy: 'policies', call: 'calls', context: 'contexts' } as const;

/** The parts of a run's evidence: the inputs of rulings precede the rulings. */
export function evidenceParts(evidence: RunEvidence): EvidencePart[] {
  const { rulings, missing, start } = evidence;
  const parts = Object.entries(byDigest).flatMap(([part, list]) =>
    Object.entries(evidence[list]).map(([key, value]) => ({ part, key, value: value as unknown as Json })),
  );
  const began = start === undefined ? [] : [{ part: 'start', key: String(start.seq), value: start as unknown as Json }];
  const ruled = rulings.map(({ seq, ...ruling }) => ({
    part: 'ruling',
    key: String(seq),
    value: ruling as unknown as Json,
  }));
  const lost = missing.map(({ seq, why }) => ({ part: 'missing', key: String(seq), value: why }));
  return [...parts, ...began, ...ruled, ...lost];
}

/** The evidence of these parts, or one sentence about the invalid part. Never throws. */
export function evidenceOfParts(parts: readonly EvidencePart[]): { evidence: RunEvidence } | { problem: string } {
  const evidence: RunEvidence = { version: 1, policies: {}, calls: {}, contexts: {}, rulings: [], missing: [] };
  for (const [index, { part, key, value }] of parts.entries()) {
    if (!take(evidence, { part, key, value })) return { problem: `evidence ${index + 1} is no part of evidence` };
  }
  return { evidence };
}

function take(evidence: RunEvidence, { part, key, value }: EvidencePart): boolean {
  const seq = Number(key);
  if (part === 'missing') {
    if (typeof value !== 'string' || !Number.isSafeInteger(seq)) return false;
    evidence.missing.push({ seq, why: value });
    return true;
  }
  if (!isObject(value)) return false;
  if (part === 'policy' || part === 'call' || part === 'context') {
    Object.defineProperty(evidence[byDigest[part]], key, { value, enumerable: true, configurable: true });
    return true;
  }
  if (part === 'start') {
    evidence.start = value as unknown as NonNullable<RunEvidence['start']>;
    return isStart(value);
  }
  const { call, context, agent, policies } = value;
  const isRuling = [call, context, agent].every((each) => typeof each === 'string') && isObject(policies);
  if (part !== 'ruling' || !isRuling || !Number.isSafeInteger(seq)) return false;
  evidence.rulings.push({ ...(value as unknown as RunEvidence['rulings'][number]), seq });
  return true;
}

function isStart({ seq, open, grants, running, vague, counts, denied }: Readonly<Record<string, unknown>>): boolean {
  const lists = [open, grants, running, vague];
  const areLists = lists.every(
    (list) => Array.isArray(list) && list.every((each) => isObject(each) || typeof each === 'string'),
  );
  return Number.isSafeInteger(seq) && areLists && isObject(counts) && isObject(denied);
}

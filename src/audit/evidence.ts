/**
 * The data by which a verifier rules again on a run's calls, without a server: each policy, call and context once,
 * under the digest of its canonical JSON, and for each ruling the digests of its inputs. All other inputs follow from
 * earlier entries of the journal (standing.ts).
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

export interface EvidenceCall {
  tool: string;
  /** The arguments. Absent if no history keeps them, such as those of a guarded activity that did not run. */
  args?: JsonObject;
  risk: Risk;
  definition: string;
  /** The argument that is the tool's subject. */
  subject?: string;
  /** The parts of the subject, if it is shell text. */
  shell?: ShellSplit;
  /** The other arguments that are harmless beside any command. Absent: none, or no shell text. */
  beside?: readonly string[];
  /** The result of all assessors, recorded when the arguments were parsed. */
  assessed?: Assessment;
}

export type AuditedEntry = JournalEntry & {
  /** The members that a redacted export withholds. */
  withheld?: readonly string[];
};

export interface EvidencePolicies {
  ceiling?: string;
  parents?: string[];
  run?: string;
}

/** The number of a ruling's journal entry, and the digests of its inputs. */
export interface Evidence {
  seq: number;
  policies: EvidencePolicies;
  call: string;
  context: string;
  agent: string;
}

/** The parts of an open request that later rulings depend on. */
export interface StandingRequest {
  requestId: string;
  callId: string;
  /** The digest of the call that would run. */
  digest: string;
  /** The digest of the request's call in `calls`. Absent: call and terms are unknown. */
  call?: string;
  terms?: AskTerms;
  definition?: string;
  delegations: { from: string; to: string }[];
  votes: { reviewerId?: string; identity: Identity; approved: boolean }[];
  requestedAt: string;
  callerUserId: string | null;
  /** How much the request adds to the count of irreversible calls. */
  irreversible: number;
  /** The severity to which an advisor raised the call. */
  raised?: Raised;
  /** True: no grant and no advisor answers the request. */
  peopleOnly?: true;
  /** True: its call was started before, and the outcome is unknown. */
  mayHaveRun?: true;
  /** True: the request asks about arguments that a reviewer has edited. */
  isEdit?: true;
}

/** The state before a ruling: the parts of the ledger that rulings read. */
export interface Standing extends Pick<Ledger, 'engine' | 'counts' | 'sums' | 'denied' | 'grants'> {
  /** The number of the last journal entry that this state includes. */
  seq: number;
  open: StandingRequest[];
  /** Settled requests whose irreversible call runs: a change of the tool may open them again. */
  running: { requestId: string; callId: string }[];
  /** The ids of grants whose scope is unknown: it is hidden, or was not recorded. */
  vague: string[];
  /** The request that was settled last: the entry of a grant by its votes may follow. */
  settled?: StandingRequest;
}

/** The evidence of one run. `evidenceOf` (client) makes it from histories. */
export interface RunEvidence {
  version: 1;
  policies: Record<string, Policy>;
  calls: Record<string, EvidenceCall>;
  contexts: Record<string, EvidenceContext>;
  /** The rulings, in the order of the journal. */
  rulings: Evidence[];
  /** Rulings that cannot be made again, each with one sentence about the reason. */
  missing: { seq: number; why: string }[];
  /** The state after the first executions, if they are gone. */
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

/** The inputs of rulings precede the rulings. */
export function evidenceParts(evidence: RunEvidence): EvidencePart[] {
  const { rulings, missing, start } = evidence;
  const parts = Object.entries(byDigest).flatMap(([part, list]) =>
    Object.entries(evidence[list]).map(([key, value]) => ({ part, key, value: value as unknown as Json })),
  );
  const began = start === undefined ? [] : [{ part: 'start', key: String(start.seq), value: start as unknown as Json }];
  const ruled = rulings.map(({ seq, ...value }) => ({
    part: 'ruling',
    key: String(seq),
    value: value as unknown as Json,
  }));
  const lost = missing.map(({ seq, why }) => ({ part: 'missing', key: String(seq), value: why }));
  return [...parts, ...began, ...ruled, ...lost];
}

/** Joins parts to the evidence of a run, or says what the first invalid part is. Never throws. */
export function evidenceOfParts(parts: readonly EvidencePart[]): { evidence: RunEvidence } | { problem: string } {
  const evidence: RunEvidence = { version: 1, policies: {}, calls: {}, contexts: {}, rulings: [], missing: [] };
  for (const [index, { part, key, value }] of parts.entries()) {
    if (!take(evidence, { part, key, value })) return { problem: `evidence ${index + 1} is no part of evidence` };
  }
  return { evidence };
}

/** Adds one part. False if it is malformed. */
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

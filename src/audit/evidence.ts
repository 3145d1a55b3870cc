/**
 * The data with which a verifier can evaluate the policies on a run's calls again, without a server. Each policy, call
 * and context is stored once, under the digest of its canonical JSON, and each ruling has the digests of its inputs.
 * All other inputs follow from earlier entries of the journal (standing.ts).
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
  /** The arguments. Absent if history does not keep them, as for a guarded activity that did not run. */
  args?: JsonObject;
  risk: Risk;
  definition: string;
  /** The name of the argument that patterns of rules match, such as the `command` of a shell tool. */
  subject?: string;
  /** The parts of the subject if it is a shell command. */
  shell?: ShellSplit;
  /** The names of the other arguments that cannot change what the command does. Absent if there are none. */
  beside?: readonly string[];
  /** The result of all assessors, which was recorded when the arguments were parsed. */
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

/** A ruling: the number of its journal entry, and the digests of its inputs. */
export interface Evidence {
  seq: number;
  policies: EvidencePolicies;
  call: string;
  context: string;
  agent: string;
}

/** What later rulings need to know of an open request. */
export interface StandingRequest {
  requestId: string;
  callId: string;
  /** The digest of the call that would run. */
  digest: string;
  /** The key of the call in `RunEvidence.calls`. Absent, as are `terms`, if the ruling cannot be evaluated again. */
  call?: string;
  terms?: AskTerms;
  definition?: string;
  delegations: { from: string; to: string }[];
  votes: { reviewerId?: string; identity: Identity; approved: boolean }[];
  requestedAt: string;
  callerUserId: string | null;
  /** How many irreversible calls the request counts as: 0 or 1. */
  irreversible: number;
  /** The severity to which an advisor has raised the call. */
  raised?: Raised;
  /** True if only people may answer the request, and no grant or advisor. */
  peopleOnly?: true;
  /** True if the call was started before, with an unknown outcome. */
  mayHaveRun?: true;
  /** True if the request is about arguments that a reviewer has edited. */
  isEdit?: true;
}

/** The state before a ruling: those parts of the ledger that rulings depend on. */
export interface Standing extends Pick<Ledger, 'engine' | 'counts' | 'sums' | 'denied' | 'grants'> {
  /** The number of the last journal entry that this state includes. */
  seq: number;
  open: StandingRequest[];
  /** Settled requests whose irreversible call runs. If the gate asks about the call again, it must not count twice. */
  running: { requestId: string; callId: string }[];
  /** The ids of grants whose scope is hidden or was not recorded. */
  vague: string[];
  /** The request that was settled last. The next entry may be a grant that its votes made. */
  settled?: StandingRequest;
}

/** The evidence of one run. `evidenceOf` of the client builds it from histories. */
export interface RunEvidence {
  version: 1;
  policies: Record<string, Policy>;
  calls: Record<string, EvidenceCall>;
  contexts: Record<string, EvidenceContext>;
  /** The rulings, in the order of the journal. */
  rulings: Evidence[];
  /** Rulings that cannot be evaluated again, each with one sentence that says why. */
  missing: { seq: number; why: string }[];
  /** The state after the executions that history no longer has. */
  start?: Standing;
}

// An export has evidence in parts, one on each line. A part has a kind, a key and a value.

export interface EvidencePart {
  part: string;
  /** A digest, or the number of a journal entry. */
  key: string;
  value: Json;
}

const byDigest = { policy: 'policies', call: 'calls', context: 'contexts' } as const;

/** Splits evidence into parts. The inputs of rulings come before the rulings. */
export function evidenceParts(evidence: RunEvidence): EvidencePart[] {
  const { rulings, missing, start } = evidence;
  const partOf = (part: string, key: number | string, value: unknown): EvidencePart => ({
    part,
    key: String(key),
    value: value as Json,
  });
  const inputs = Object.entries(byDigest).flatMap(([part, list]) =>
    Object.entries(evidence[list]).map(([digest, input]) => partOf(part, digest, input)),
  );
  return [
    ...inputs,
    ...(start === undefined ? [] : [partOf('start', start.seq, start)]),
    ...rulings.map(({ seq, ...ruling }) => partOf('ruling', seq, ruling)),
    ...missing.map(({ seq, why }) => partOf('missing', seq, why)),
  ];
}

/** Joins parts to the evidence of a run, or names the first invalid part. Never throws. */
export function evidenceOfParts(parts: readonly EvidencePart[]): { evidence: RunEvidence } | { problem: string } {
  const evidence: RunEvidence = { version: 1, policies: {}, calls: {}, contexts: {}, rulings: [], missing: [] };
  for (const [index, { part, key, value }] of parts.entries()) {
    if (!addPart(evidence, { part, key, value })) return { problem: `evidence ${index + 1} is no part of evidence` };
  }
  return { evidence };
}

/** Adds a part to the evidence. Returns false if the part is malformed. */
function addPart(evidence: RunEvidence, { part, key, value }: EvidencePart): boolean {
  const seq = Number(key);
  if (part === 'missing') {
    if (typeof value !== 'string' || !Number.isSafeInteger(seq)) return false;
    evidence.missing.push({ seq, why: value });
    return true;
  }
  if (!isObject(value)) return false;
  if (part === 'policy' || part === 'call' || part === 'context') {
    // An assignment to the key `__proto__` would add no member.
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

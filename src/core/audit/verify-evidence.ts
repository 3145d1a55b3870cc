/**
 * Checks, offline, that the recorded policies on the recorded calls give the rulings that the journal records. Counts,
 * denials and grants come from the journal itself; policies and calls must be what their digests name.
 */
import { callDigest, jsonDigest } from '../base/digest.ts';
import { escapeText } from '../base/escape-text.ts';
import { shortened } from '../base/shortened.ts';
import type { Json, JsonObject } from '../base/tool-call.ts';
import type { JournalEntry } from '../ledger/journal-entry.ts';
import { orderedEntries } from '../ledger/journal.ts';
import { compileRules, type RunRules } from '../ledger/rule-case.ts';
import { instantMs } from '../messages/control.ts';
import { policyDigest } from '../policy/policy-digest.ts';
import type { PolicyLayers } from '../policy/policy.ts';
import type { Evidence, EvidenceCall, EvidencePolicies, RunEvidence, Standing } from './evidence.ts';
import { notReRuled, readsArguments } from './not-re-ruled.ts';
import { ruleAgain, verdictOfEntry, type RecordedRuling, type Verdict } from './rule-again.ts';
import { isRuling } from './rulings-of.ts';
import { emptyStanding, openRequestOf, standingAfter, type Ruled } from './standing.ts';

/** The result for one run. Each ruling of the journal is in exactly one of the lists. */
export interface ReRuling {
  /** The rulings that came out as recorded, by their entries. */
  agreed: number[];
  /** The rulings that did not, each with the one sentence that names what differs. */
  differing: { seq: number; sentence: string }[];
  /** The rulings that could not be made again, each with the reason. */
  notReRuled: { seq: number; why: string }[];
}

/** The result of one ruling; `ruled` for the standing after it. */
type Outcome = { ruled?: Ruled } & ({ agrees: true } | { differs: string } | { why: string });

/** Rules again on every call that the journal records a ruling on. Never throws, whatever a file holds. */
export function verifyEvidence(entries: readonly JournalEntry[], evidence: RunEvidence): ReRuling {
  const result: ReRuling = { agreed: [], differing: [], notReRuled: [] };
  const verifier = new Verifier(evidence);
  for (const entry of orderedEntries(entries)) {
    const outcome = verifier.next(entry);
    const { seq } = entry;
    if (outcome === undefined) continue;
    if ('differs' in outcome) result.differing.push({ seq, sentence: `entry ${seq}: ${outcome.differs}` });
    else if ('why' in outcome) result.notReRuled.push({ seq, why: outcome.why });
    else result.agreed.push(seq);
  }
  return result;
}

class Verifier {
  readonly #evidence: RunEvidence;
  readonly #rulings: Map<number, Evidence>;
  readonly #missing: Map<number, string>;
  readonly #rules = new Map<string, RunRules | { differs: string } | { why: string }>();
  #standing: Standing | undefined;
  /** Why nothing is known for certain from here on. */
  #gap: string | undefined;
  /** The irreversible calls are not all known. */
  #isCountVague = false;
  /** The digest of the policies that the journal named last, and the agent that was in charge. */
  #named: { digest: string; agent: string | undefined } | undefined;
  /** A reviewer's edit that another request took over: what was known when it was ruled on. */
  #edit: { standing: Standing; atMs: number; requestId: string; successor: string } | undefined;

  constructor(evidence: RunEvidence) {
    this.#evidence = evidence;
    this.#rulings = new Map(evidence.rulings.map((each) => [each.seq, each]));
    this.#missing = new Map(evidence.missing.map(({ seq, why }) => [seq, why]));
    this.#standing = evidence.start;
  }

  /** Takes the next entry; undefined if it records no ruling of the policies. */
  next(entry: JournalEntry): Outcome | undefined {
    const standing = { ...(this.#standing ?? emptyStanding(entry.engine)), engine: entry.engine };
    const { seq, kind, policyDigest: digest, agent } = entry;
    const isBefore = seq <= standing.seq;
    if (!isBefore && seq > standing.seq + 1) {
      this.#gap ??= `entries ${standing.seq + 1} to ${seq - 1} are missing, and it may depend on them`;
    }
    if (digest !== undefined) this.#named = { digest, agent: agent ?? this.#named?.agent };
    if (!isRuling(standing, entry)) {
      if (isBefore) return undefined;
      this.#noteEdit(standing, entry);
      this.#standing = standingAfter(standing, entry);
      return undefined;
    }
    const outcome: Outcome = isBefore
      ? { why: 'it is older than the first execution whose history is kept' }
      : this.#rule(standing, entry);
    if (isBefore) return outcome;
    const mayCount = kind === 'opened' || kind === 'reruled' || entry.outcome === 'allowed';
    if (outcome.ruled === undefined && mayCount) this.#isCountVague = true;
    this.#standing = standingAfter(standing, entry, outcome.ruled);
    return outcome;
  }

  #noteEdit(standing: Standing, { kind, by, byId, at, requestId = '' }: JournalEntry): void {
    if (kind !== 'settled' || by !== 'edit' || byId == null) return;
    this.#edit = { standing, atMs: instantMs(at) ?? NaN, requestId, successor: byId };
  }

  #rule(now: Standing, entry: JournalEntry): Outcome {
    const evidence = this.#rulings.get(entry.seq);
    if (evidence === undefined) return { why: this.#missing.get(entry.seq) ?? 'the evidence has nothing about it' };
    try {
      const found = this.#found(now, entry, evidence);
      return 'recorded' in found ? this.#compared(found.recorded, entry, evidence) : found;
    } catch (error) {
      // An engine that this version does not have, or evidence that is not of the shape of evidence.
      return { why: error instanceof Error ? error.message : String(error) };
    }
  }

  #compared(recorded: RecordedRuling, entry: JournalEntry, evidence: Evidence): Outcome {
    const why = this.#gap ?? notReRuled(recorded, this.#isCountVague);
    const again = ruleAgain(recorded);
    const { call, context, standing } = recorded;
    const { definition } = call;
    const ruled = {
      call: evidence.call,
      definition,
      answer: again.answer,
      callerUserId: context.caller?.userId ?? null,
    };
    if (why !== undefined) return { why, ruled };
    const difference = differenceOf(verdictOfEntry(standing, entry), again.verdict);
    if (difference === undefined) return { agrees: true, ruled };
    const vague = standing.grants.find(({ tool, grantId }) => tool === call.tool && standing.vague.includes(grantId));
    if (vague !== undefined) return { why: `the journal does not say all about ${vague.grantId}`, ruled };
    return { differs: difference, ruled };
  }

  /** Everything that the ruling was about, checked against the digests that name it. */
  #found(
    now: Standing,
    entry: JournalEntry,
    { policies, call: callKey, context: contextKey, agent }: Evidence,
  ): { recorded: RecordedRuling } | { why: string } | { differs: string } {
    const { calls, contexts } = this.#evidence;
    const call = ownOf(calls, callKey);
    const context = ownOf(contexts, contextKey);
    if (call === undefined || context === undefined) return { why: 'its call or its context is not in the evidence' };
    if (call.withheld === true) return { why: 'its arguments are withheld' };
    if (!isNamedBy(context, contextKey)) return { differs: 'the caller or the metadata are not those of the digest' };
    const request = entry.kind === 'reruled' ? openRequestOf(now, entry) : undefined;
    const digest = entry.digest ?? request?.digest;
    if (call.args !== undefined && digest !== undefined && digestOf(call, call.args) !== digest) {
      return { differs: 'the arguments are not those of the digest that the journal names' };
    }
    if (!isNamedBy(call, callKey)) {
      return { differs: `the risk, the shell command's parts or the assessment are not those of the call's digest` };
    }
    const rules = this.#rulesOf(policies);
    if (!('layers' in rules)) return rules;
    const named = this.#named;
    const isNamed = named !== undefined && (entry.agent === undefined || (named.agent ?? agent) === entry.agent);
    if (isNamed && named.digest !== policyDigest(rules.policies)) {
      return { differs: 'the policies are not those of the digest that the journal names' };
    }
    const edit = entry.kind === 'opened' && this.#edit?.successor === entry.requestId ? this.#edit : undefined;
    const standing = edit?.standing ?? now;
    const { args } = call;
    if (args === undefined && readsArguments(rules, call, standing)) {
      return { why: 'no history keeps its arguments, and the policies or a grant read them' };
    }
    return { recorded: { entry, call: { ...call, args: args ?? {} }, rules, agent, context, standing, edit } };
  }

  #rulesOf(digests: EvidencePolicies): RunRules | { differs: string } | { why: string } {
    const key = jsonDigest(digests as unknown as Json);
    const found = this.#rules.get(key) ?? this.#compiled(digests);
    this.#rules.set(key, found);
    return found;
  }

  #compiled({ ceiling, parents, run }: EvidencePolicies): RunRules | { differs: string } | { why: string } {
    const all = this.#evidence.policies;
    const keys = [ceiling, ...(parents ?? []), run].filter((key) => key !== undefined);
    if (keys.some((key) => ownOf(all, key) === undefined)) return { why: 'a policy is not in the evidence' };
    const strange = keys.find((key) => !isNamedBy(all[key], key));
    if (strange !== undefined)
      return { differs: `policy ${strange.slice(0, 16)}… is not the one that its digest names` };
    const layers: PolicyLayers = {
      ...(ceiling !== undefined && { ceiling: all[ceiling]! }),
      ...(parents !== undefined && { parents: parents.map((key) => all[key]!) }),
      ...(run !== undefined && { run: all[run]! }),
    };
    return compileRules(layers);
  }
}

/** The digest of what would run; undefined for arguments without canonical JSON. */
function digestOf({ tool, definition }: EvidenceCall, args: JsonObject): string | undefined {
  try {
    return callDigest({ tool, args, definition });
  } catch {
    return undefined;
  }
}

function isNamedBy(value: unknown, digest: string): boolean {
  try {
    return jsonDigest(value as Json) === digest;
  } catch {
    return false;
  }
}

function ownOf<Value>(all: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(all, key) ? all[key] : undefined;
}

const members = ['answer', 'rule', 'layer', 'severity', 'reason', 'grantId', 'to'] as const;

/** Names the first member in which the two differ, as one clause. */
function differenceOf(recorded: Verdict, again: Verdict): string | undefined {
  const member = members.find((each) => textOf(recorded[each]) !== textOf(again[each]));
  if (member === undefined) return undefined;
  const what = member === 'to' ? 'reviewers' : member;
  return `by the recorded policies and call, its ${what} is ${textOf(again[member])}; the journal says ${textOf(recorded[member])}`;
}

const longestText = 120;

/** Text from elsewhere, on one line and of bounded length. */
function textOf(value: Verdict[(typeof members)[number]]): string {
  if (value === undefined) return 'none';
  if (typeof value === 'string') return `'${shortened(escapeText(value), longestText)}'`;
  return shortened(escapeText(JSON.stringify(value)), longestText);
}

/**
 * Checks that the recorded policies and calls lead to the rulings in the journal. Counts, denials and grants come from
 * the journal itself. Policies and calls must match their digests.
 */
import type { JournalEntry } from '../core/ledger/journal-entry.ts';
import { orderedEntries } from '../events/journal.ts';
import type { JsonObject, Json } from '../core/base/tool-call.ts';
import { instantMs } from '../core/messages/control.ts';
import { policyDigest, type PolicyLayers } from '../core/policy/policy.ts';
import type { AuditedEntry, Evidence, RunEvidence, Standing, EvidenceCall, EvidencePolicies } from './evidence.ts';
import { ruleAgain, verdictOfEntry, type RecordedRuling, type Verdict, isRuling } from './rule-again.ts';
import { emptyStanding, isEdited, openRequestOf, standingAfter, type Ruled } from './standing.ts';
import { escapeText, shortened } from '../core/base/text.ts';
import { conditionReads } from '../policy-file/condition-constants.ts';
import { limitsOf } from '../core/policy/limits.ts';
import { callSubjects } from '../core/match/matching.ts';
import { type RunRules, compileRules } from '../core/ledger/rule-case.ts';
import { callDigest, jsonDigest } from '../core/base/digest.ts';
import type { EvidenceContext } from '../core/ledger/recorded-context.ts';

const members = ['answer', 'rule', 'layer', 'severity', 'reason', 'grantId', 'to'] as const;

const longestText = 120;

/** The result for all rulings. Each ruling of the journal is in exactly one of the lists. */
export interface ReRuling {
  /** The journal entries of the rulings that match, by number. */
  agreed: number[];
  /** The rulings that do not match the journal, each with one sentence about the difference. */
  differing: { seq: number; sentence: string }[];
  /** The rulings that could not be evaluated again, each with the reason. */
  notReRuled: { seq: number; why: string }[];
}

/** The result for one ruling. `ruled` is what is needed to compute the state after it. */
type Outcome = { ruled?: Ruled } & ({ agrees: true } | Unusable);

/** Evaluates every ruling in the journal again. Never throws, whatever the evidence contains. */
export function verifyEvidence(entries: readonly AuditedEntry[], evidence: RunEvidence): ReRuling {
  const result: ReRuling = { agreed: [], differing: [], notReRuled: [] };
  const verifier = new Verifier(evidence);
  for (const entry of orderedEntries(entries)) {
    const { seq } = entry;
    const outcome = verifier.next(entry);
    if (outcome === undefined) continue;
    if ('differs' in outcome) result.differing.push({ seq, sentence: `entry ${seq}: ${outcome.differs}` });
    else if ('why' in outcome) result.notReRuled.push({ seq, why: outcome.why });
    else result.agreed.push(seq);
  }
  return result;
}

/** A ruling with its inputs. `args` is absent if history does not keep the arguments. */
interface Found {
  recorded: RecordedRuling;
  args?: JsonObject;
}

class Verifier {
  readonly #evidence: NamedEvidence;
  readonly #rulings: Map<number, Evidence>;
  readonly #missing: Map<number, string>;
  /** The earlier results of calls. Undefined if some are unknown. */
  readonly #results: KeptResults | undefined;
  #standing: Standing | undefined;
  /** Why the state is uncertain for all later entries; undefined while it is certain. */
  #gap: string | undefined;
  /** True if the number of irreversible calls is uncertain. */
  #isCountVague = false;
  /** True if the arguments of some admitted calls are unknown, so that sums are uncertain. */
  #isSumVague = false;
  /** The digest of the policies, and the agent in charge, that the journal named last. */
  #named: { digest: string; agent: string | undefined } | undefined;
  /** The last edit that led to another request, and the state when the gate ruled on the edit. */
  #edit: { standing: Standing; atMs: number; requestId: string; successor: string } | undefined;

  constructor(evidence: RunEvidence) {
    this.#evidence = new NamedEvidence(evidence);
    this.#rulings = new Map(evidence.rulings.map((each) => [each.seq, each]));
    this.#missing = new Map(evidence.missing.map(({ seq, why }) => [seq, why]));
    this.#standing = evidence.start;
    this.#results = evidence.start === undefined ? new KeptResults() : undefined;
  }

  /** Processes the next entry. Returns the result for its ruling; undefined if the entry records none. */
  next(entry: AuditedEntry): Outcome | undefined {
    const standing = { ...(this.#standing ?? emptyStanding(entry.engine)), engine: entry.engine };
    const { seq, policyDigest: digest, agent } = entry;
    const hasRuling = isRuling(standing, entry);
    if (seq <= standing.seq) {
      return hasRuling ? { why: 'it is older than the first execution whose history is kept' } : undefined;
    }
    if (seq > standing.seq + 1) this.#noteGap(`entries ${standing.seq + 1} to ${seq - 1} are missing`);
    if (digest !== undefined) this.#named = { digest, agent: agent ?? this.#named?.agent };
    this.#noteEdit(standing, entry);
    const outcome = hasRuling ? this.#rule(standing, entry) : undefined;
    this.#results?.take(entry);
    this.#standing = this.#after(standing, entry, outcome?.ruled);
    return outcome;
  }

  /** Returns the state after an entry. If the entry lacks a fact, notes why later rulings cannot be compared. */
  #after(standing: Standing, entry: AuditedEntry, ruled: Ruled | undefined): Standing {
    const { seq, kind, outcome } = entry;
    if (ruled === undefined && (kind === 'opened' || kind === 'reruled' || outcome === 'allowed')) {
      this.#isCountVague = true;
    }
    const isAdmitted = kind === 'opened' || outcome === 'allowed' || isEdited(standing, entry);
    if (isAdmitted && ruled?.counting === undefined) this.#isSumVague = true;
    const lost = lostWith(entry);
    if (lost !== undefined) this.#noteGap(lost);
    try {
      return standingAfter(standing, entry, ruled);
    } catch {
      this.#noteGap(`entry ${seq} cannot be read`);
      return { ...standing, seq };
    }
  }

  #noteGap(what: string): void {
    this.#gap ??= `${what}, and it may depend on that`;
  }

  /** Remembers an edit about which the policies ask again: the request that follows is ruled on as of the edit. */
  #noteEdit(standing: Standing, { kind, by, byId, at, requestId = '' }: JournalEntry): void {
    if (kind !== 'settled' || by !== 'edit' || byId == null) return;
    this.#edit = { standing, atMs: instantMs(at) ?? NaN, requestId, successor: byId };
  }

  /** Rules on an entry again, if its inputs are found. Returns `why` if they are missing, malformed or too old. */
  #rule(now: Standing, entry: AuditedEntry): Outcome {
    const evidence = this.#rulings.get(entry.seq);
    if (evidence === undefined) return { why: this.#missing.get(entry.seq) ?? 'the evidence has nothing about it' };
    try {
      const found = this.#found(now, entry, evidence);
      return 'recorded' in found ? this.#compared(found, entry, evidence) : found;
    } catch (error) {
      // This version does not have the engine, or the evidence has an invalid shape.
      return { why: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Evaluates a ruling again and compares the result. Returns `why` if a missing fact may explain a difference. */
  #compared({ recorded, args }: Found, entry: AuditedEntry, evidence: Evidence): Outcome {
    const why = this.#gap ?? notReRuled(recorded, { ofCounts: this.#isCountVague, ofSums: this.#isSumVague });
    // Evaluate the ruling even if it cannot be compared, because the state after it depends on the result.
    const again = ruleAgain(recorded);
    const { call, context, standing } = recorded;
    const { definition } = call;
    const ruled = {
      call: evidence.call,
      definition,
      answer: again.answer,
      ...(args !== undefined && { counting: { tool: call.tool, args } }),
      callerUserId: context.caller?.userId ?? null,
    };
    if (why !== undefined) return { why, ruled };
    const difference = differenceOf(verdictOfEntry(standing, entry), again.verdict, entry.withheld);
    const unequal = entry.withheld?.includes('resultOf') === true ? undefined : this.#results?.problem(entry);
    if (unequal !== undefined) return { differs: unequal, ruled };
    if (difference === undefined) return { agrees: true, ruled };
    const grants = standing.grants.filter(({ tool }) => tool === call.tool);
    const vague = grants.find(({ grantId }) => standing.vague.includes(grantId));
    if (vague !== undefined) return { why: `the journal does not say all about ${vague.grantId}`, ruled };
    // A grant does not answer calls of a run that its author started. The unknown caller may be that author.
    if (grants.length > 0 && context.unknown?.includes('caller') === true) {
      return { why: `the history does not keep the caller, and ${grants[0]!.grantId} may not be theirs`, ruled };
    }
    return { differs: difference, ruled };
  }

  /** Finds all inputs of a ruling, and checks them against their digests and against what the journal named last. */
  #found(
    now: Standing,
    entry: AuditedEntry,
    { policies, call: callKey, context: contextKey, agent }: Evidence,
  ): Found | Unusable {
    const withheld = ['digest', 'advice'].find((name) => entry.withheld?.includes(name) === true);
    if (withheld !== undefined) return { why: `its ${withheld} is withheld` };
    const request = entry.kind === 'reruled' ? openRequestOf(now, entry) : undefined;
    const found = this.#evidence.call(callKey, entry.digest ?? request?.digest);
    if (!('call' in found)) return found;
    const contextFound = this.#evidence.context(contextKey);
    if (!('context' in contextFound)) return contextFound;
    const { call } = found;
    const { context } = contextFound;
    const rules = this.#evidence.rules(policies);
    if (!('layers' in rules)) return rules;
    if (entry.agent !== undefined && entry.agent !== agent) {
      return { differs: 'the agent is not the one that the journal names' };
    }
    const named = this.#named;
    // Another agent has other policies than those that the journal named last.
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
    return { recorded: { entry, call: { ...call, args: args ?? {} }, rules, agent, context, standing, edit }, args };
  }
}

/** Returns a clause about the first member in which two verdicts differ; undefined if none does. */
function differenceOf(recorded: Verdict, again: Verdict, withheld: readonly string[] = []): string | undefined {
  const isOther = (each: (typeof members)[number]): boolean => quotedValue(recorded[each]) !== quotedValue(again[each]);
  const member = members.find((each) => !withheld.includes(each) && isOther(each));
  if (member === undefined) return undefined;
  const what = member === 'to' ? 'reviewers' : member;
  return `by the recorded policies and call, its ${what} is ${quotedValue(again[member])}; the journal says ${quotedValue(recorded[member])}`;
}

/** Writes a value for a sentence. Untrusted text is in quotes, on one line and of bounded length. */
function quotedValue(value: Verdict[(typeof members)[number]]): string {
  if (value === undefined) return 'none';
  if (typeof value === 'string') return `'${shortened(escapeText(value), longestText)}'`;
  return shortened(escapeText(JSON.stringify(value)), longestText);
}

/** The calls of a run that returned a result. Such a result may answer a later call with the same digest. */
export class KeptResults {
  /** The digest of the last admitted call, by call id. */
  readonly #admitted = new Map<string, string>();
  readonly #ran = new Map<string, string | undefined>();

  /** Remembers which call ran. With a `code`, its result was withheld from the model, and answers no later call. */
  take({ kind, callId, digest, ran, code }: JournalEntry): void {
    if (callId === undefined) return;
    if (kind === 'ran' && ran === 'yes' && code === undefined) this.#ran.set(callId, this.#admitted.get(callId));
    else if (digest !== undefined) this.#admitted.set(callId, digest);
  }

  /** Returns a clause about the problem of an entry that an earlier result answered; undefined if there is none. */
  problem({ outcome, resultOf = '', digest }: JournalEntry): string | undefined {
    if (outcome !== 'cached' || this.#ran.get(resultOf) === digest) return undefined;
    return 'the call whose result answers it gave none, or is not equal to it';
  }
}

/** Returns which fact is missing that a rule reads or counts, so that a ruling cannot be evaluated again. */
export function notReRuled(
  { rules, context }: RecordedRuling,
  isVague: { ofCounts: boolean; ofSums: boolean },
): string | undefined {
  const { policies } = rules;
  const unread = (context.unknown ?? []).find((name) => readsOf(policies, [name]));
  if (unread !== undefined) return `a rule reads '${unread}', which the history does not keep`;
  const isLimited = limitsOf(policies).maxIrreversiblePerRun !== null;
  if (isVague.ofCounts && (isLimited || readsOf(policies, ['counts']))) {
    return 'the policies count irreversible calls, and an earlier call is not known';
  }
  if (isVague.ofSums && readsOf(policies, ['sum'])) {
    return 'a rule adds up arguments, and those of an earlier call are not known';
  }
  return undefined;
}

/** True if a ruling may depend on the call's arguments. Without them, the ruling cannot be evaluated again. */
export function readsArguments({ layers, assessRules }: RunRules, call: EvidenceCall, { grants }: Standing): boolean {
  const { ceiling, parents = [], run } = layers;
  const subjects = callSubjects({ tool: call.tool, args: {} });
  const candidates = [ceiling, ...parents, run].flatMap((policy) => policy?.candidates(subjects).all ?? []);
  const hasGrantByArguments = grants.some(({ tool, scope }) => tool === call.tool && scope.kind === 'arguments');
  const hasRuleByArguments = candidates.some(({ rule: { pattern, fields, condition } }) => {
    return 'problem' in pattern || pattern.args !== undefined || fields.length > 0 || condition !== undefined;
  });
  // A shell command is an argument, and the operator's rules of assessment may read any argument.
  return call.shell !== undefined || assessRules.length > 0 || hasGrantByArguments || hasRuleByArguments;
}

/** Returns a clause that says what later rulings lack because members of this entry are withheld, if anything. */
export function lostWith({ seq, kind, outcome, grantId, withheld = [] }: AuditedEntry): string | undefined {
  const isLost = (name: string): boolean => withheld.includes(name);
  if (kind === 'grant' && ['scope', 'voters'].some(isLost)) return `the scope of ${grantId ?? 'a grant'} is withheld`;
  if (outcome === 'denied' && isLost('digest')) return `the call that entry ${seq} denied is withheld`;
  return kind === 'delegated' && isLost('to') ? `the delegation of entry ${seq} is withheld` : undefined;
}

function readsOf({ ceiling, parents = [], run }: PolicyLayers, names: Parameters<typeof conditionReads>[1]): boolean {
  const rules = [ceiling, ...parents, run].flatMap((policy) => policy?.rules ?? []);
  return rules.some(({ when }) => when !== undefined && conditionReads(when, names));
}

/** Why evidence cannot be used: it does not match its digest (`differs`), or it is missing (`why`). */
type Unusable = { differs: string } | { why: string };

/** Finds evidence by the digests that name it. It returns only evidence that matches its digest. */
export class NamedEvidence {
  readonly #evidence: RunEvidence;
  readonly #rules = new Map<string, RunRules | Unusable>();

  constructor(evidence: RunEvidence) {
    this.#evidence = evidence;
  }

  /** Returns the call with this key. `digest` is that of the call that would run, from the journal. */
  call(key: string, digest: string | undefined): { call: EvidenceCall } | Unusable {
    const call = ownOf(this.#evidence.calls, key);
    if (call === undefined) return { why: 'its call is not in the evidence' };
    if (call.args !== undefined && digest !== undefined && digestOf(call, call.args) !== digest) {
      return { differs: 'the arguments are not those of the digest that the journal names' };
    }
    if (isNamedBy(call, key)) return { call };
    return { differs: `the risk, the shell command's parts or the assessment are not those of the call's digest` };
  }

  context(key: string): { context: EvidenceContext } | Unusable {
    const context = ownOf(this.#evidence.contexts, key);
    if (context === undefined) return { why: 'its context is not in the evidence' };
    if (isNamedBy(context, key)) return { context };
    return { differs: 'the caller or the metadata are not those of the digest' };
  }

  rules(digests: EvidencePolicies): RunRules | Unusable {
    const key = jsonDigest(digests as unknown as Json);
    const found = this.#rules.get(key) ?? this.#compiled(digests);
    this.#rules.set(key, found);
    return found;
  }

  /** Compiles the policies with these digests, if all are there and are what their digests name. */
  #compiled({ ceiling, parents, run }: EvidencePolicies): RunRules | Unusable {
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

/** Returns the digest of a call with these arguments; undefined if they have no canonical JSON. */
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

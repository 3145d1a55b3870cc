/** Collects the evidence of a run's rulings from its histories, for `audit/verify-evidence.ts`. It decides nothing. */
import type { EvidenceCall, EvidencePolicies, RunEvidence, Standing } from '../../audit/evidence.ts';
import type { EvidenceContext } from '../../core/ledger/recorded-context.ts';
import { rulingsOf } from '../../audit/rule-again.ts';
import { standingOf } from '../../audit/standing.ts';
import { jsonDigest } from '../../core/base/digest.ts';
import { isObject } from '../../core/base/json.ts';
import type { Json, ToolDefinition } from '../../core/base/tool-call.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import type { RecordedPolicies, Changed } from '../../events/recorded-policies.ts';
import { policiesOf, agentsOf, layersOf, toolsOf } from '../../events/recorded-policies.ts';
import type { JournalEntry } from '../../core/ledger/journal-entry.ts';
import { type PolicyLayers, policyDigest } from '../../core/policy/policy.ts';
import { runLimitsOf } from '../../core/policy/run-limits.ts';
import { EvidenceCalls } from './evidence-calls.ts';
import { entriesOf } from '../history/fetch-journal.ts';
import type { ReadExecution } from '../history/history-chain.ts';
import type { AgentConfig } from '../../core/policy/run-config.ts';
import type { PolicyChange } from '../../core/policy/run-side.ts';

/** Reads the evidence of a run from its executions, oldest first. */
export function evidenceOf(
  executions: readonly ReadExecution[],
  policies = policiesOf(executions),
): { entries: JournalEntry[]; evidence: RunEvidence } {
  const entries = entriesOf(executions);
  const evidence: RunEvidence = { version: 1, policies: {}, calls: {}, contexts: {}, rulings: [], missing: [] };
  const calls = new EvidenceCalls(executions, policies.pasts);
  const keyOf = (call: EvidenceCall): string => kept(evidence.calls, call);
  const start = startOf(policies, calls, keyOf);
  if (start !== undefined) evidence.start = start;
  const rulings = new Set(rulingsOf(entries, start));
  const contexts = contextsOf(executions);
  const timeline = new PolicyTimeline(policies);
  for (const entry of entries) {
    const { seq } = entry;
    const { agent, layers, why } = timeline.at(entry);
    // Every entry moves the timeline; only rulings need evidence.
    if (!rulings.has(entry)) continue;
    const call = calls.of(entry, timeline.toolsOf(agent), layers && runLimitsOf(layers));
    if (layers === undefined) evidence.missing.push({ seq, why });
    else if (call === undefined) evidence.missing.push({ seq, why: 'the history does not keep its call' });
    else {
      const context = kept(evidence.contexts, contextAt(contexts, Date.parse(entry.at)));
      evidence.rulings.push({ seq, policies: keptLayers(evidence, layers), call: keyOf(call), context, agent });
    }
  }
  return { entries, evidence };
}

/** Returns the state that the oldest execution took over from a removed one; undefined if it took over none. */
function startOf(
  { carried }: RecordedPolicies,
  calls: EvidenceCalls,
  keyOf: (call: EvidenceCall) => string,
): Standing | undefined {
  if (carried === undefined) return undefined;
  return standingOf(carried.gate.ledger, (record) => {
    const call = calls.ofRecord(record);
    return call === undefined ? undefined : keyOf(call);
  });
}

interface Context {
  sinceMs: number;
  context: EvidenceContext;
}

/** Returns for each execution the caller and the metadata that rules read, and the start of the execution. */
function contextsOf(executions: readonly ReadExecution[]): Context[] {
  return executions.map(({ events }) => {
    let context: EvidenceContext = { unknown: ['caller', 'metadata'] };
    for (const { what } of events) {
      if (what?.kind === 'started' && isObject(what.input) && !isUndecodable(what.input)) {
        const { caller, metadata } = what.input as EvidenceContext;
        context = { ...(caller !== undefined && { caller }), ...(metadata !== undefined && { metadata }) };
      }
      // Only the code of a custom workflow knows its context, and passes it to an activity.
      const activity = what?.kind === 'scheduled' ? what.activity : undefined;
      if (activity?.kind !== 'config' && activity?.kind !== 'verified') continue;
      if (isObject(activity.given['context'])) context = activity.given['context'];
    }
    return { sinceMs: Date.parse(events[0]?.at ?? ''), context };
  });
}

function contextAt(contexts: readonly Context[], atMs: number): EvidenceContext {
  return (contexts.findLast(({ sinceMs }) => sinceMs <= atMs) ?? contexts[0])!.context;
}

function keptLayers({ policies }: RunEvidence, { ceiling, parents, run }: PolicyLayers): EvidencePolicies {
  return {
    ...(ceiling && { ceiling: kept(policies, ceiling) }),
    ...(parents && { parents: parents.map((each) => kept(policies, each)) }),
    ...(run && { run: kept(policies, run) }),
  };
}

function kept<Value>(all: Record<string, Value>, value: Value): string {
  const digest = jsonDigest(value as Json);
  all[digest] = value;
  return digest;
}

/** The policies in force, or `why`: the reason why they are unknown. */
type InForce = { agent: string } & ({ layers: PolicyLayers; why?: never } | { layers?: never; why: string });

/** Finds the policies in force for each entry. `setPolicy`, the calling run and handoffs change them. */
export class PolicyTimeline {
  readonly #recorded: RecordedPolicies;
  readonly #agents: readonly (Pick<AgentConfig, 'agent' | 'run'> & Partial<AgentConfig>)[];
  readonly #changes: PolicyChange[];
  readonly #changesByAgent = new Map<string, Changed & { changes: Map<string | undefined, PolicyChange> }>();
  #agent: string;
  #changed: Changed;
  #why: string | undefined;

  constructor(recorded: RecordedPolicies) {
    const { first, carried, pasts, policies, modes } = recorded;
    this.#recorded = recorded;
    this.#agents = first === undefined ? [] : agentsOf(first);
    this.#agent = carried?.agent ?? first?.agent ?? '';
    this.#changed = { change: carried?.gate.change };
    // The history keeps policies and modes apart, so try each pair. The digest of the resulting policies shows which
    // of them a `setPolicy` message has set together.
    const sent = [...policies, undefined].flatMap((policy) => [undefined, ...modes].map((mode) => ({ policy, mode })));
    const changes = sent.filter(({ policy, mode }) => policy !== undefined || mode !== undefined);
    this.#changes = [...changes, ...pasts.flatMap(({ gate }) => gate.change ?? [])];
    if (first === undefined) this.#why = 'the history does not keep the policies of the run';
  }

  /** Returns the policies in force for an entry. Call it for every entry, in order. */
  at({ kind, agent, policyDigest: digest }: JournalEntry): InForce {
    if (agent !== undefined) this.#agent = agent;
    if (kind === 'policy' && digest !== undefined) this.#applyChangeTo(digest);
    const layers = this.#layers(this.#agent, this.#changed);
    if (this.#why !== undefined || layers === undefined) {
      return { agent: this.#agent, why: this.#why ?? `the history does not keep the policies of '${this.#agent}'` };
    }
    return { agent: this.#agent, layers };
  }

  /** Returns the tools of an agent, as the run recorded them when it started. */
  toolsOf(agent: string): readonly ToolDefinition[] {
    const { first } = this.#recorded;
    const found = this.#agents.find((each) => each.agent === agent);
    return first === undefined ? [] : toolsOf(first, found === undefined ? [] : [found]);
  }

  /**
   * Applies the change, by `setPolicy` or by the calling run, that leads to policies with this digest. After a
   * handoff, the change may come before the first entry that names the new agent, so try all agents.
   */
  #applyChangeTo(digest: string): void {
    const { change: before, parents } = this.#changed;
    const { inherited } = this.#recorded;
    this.#why = undefined;
    for (const agent of [this.#agent, ...this.#agents.map((each) => each.agent)]) {
      const leadsThere = (changed: Changed): boolean => this.#digest(agent, changed) === digest;
      const change = this.#changesOf(agent).get(digest);
      const found =
        change === undefined
          ? [...inherited.map((each) => ({ change: before, parents: each })), this.#changed].find(leadsThere)
          : { change, parents };
      if (found === undefined) continue;
      this.#agent = agent;
      this.#changed = found;
      return;
    }
    this.#why = 'the history does not keep the policies that were set here';
  }

  /** Returns the changes by the digest of the resulting policies, which also depend on those of the calling run. */
  #changesOf(agent: string): Map<string | undefined, PolicyChange> {
    const { parents } = this.#changed;
    const known = this.#changesByAgent.get(agent);
    if (known !== undefined && known.parents === parents) return known.changes;
    const changes = new Map<string | undefined, PolicyChange>();
    for (const change of this.#changes) {
      const digest = this.#digest(agent, { change, parents });
      if (!changes.has(digest)) changes.set(digest, change);
    }
    this.#changesByAgent.set(agent, { parents, changes });
    return changes;
  }

  #digest(agent: string, changed: Changed): string | undefined {
    const layers = this.#layers(agent, changed);
    return layers === undefined ? undefined : policyDigest(layers);
  }

  #layers(agent: string, changed: Changed): PolicyLayers | undefined {
    const { first } = this.#recorded;
    const config = this.#agents.find((each) => each.agent === agent);
    return first === undefined || config === undefined ? undefined : layersOf(first, config, changed);
  }
}

import type { ToolDefinition } from '../../core/base/tool-call.ts';
import { agentsOf, type Changed, layersOf, type RecordedPolicies, toolsOf } from '../../events/recorded-policies.ts';
import type { JournalEntry } from '../../core/ledger/journal-entry.ts';
import { policyDigest, type PolicyLayers } from '../../core/policy/policy.ts';
import type { AgentConfig } from '../../core/policy/run-config.ts';
import type { PolicyChange } from '../../core/policy/run-side.ts';

/** The policies in force; or `why`, the reason why they are unknown. */
export type InForce = { agent: string } & ({ layers: PolicyLayers; why?: never } | { layers?: never; why: string });

/**
 * The policies in force for each entry of a run. They start with the run's config, and change by `setPolicy`, by the
 * policies of the calling run and by handoffs.
 */
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
    // A message has a policy, a mode or both; the digest shows which of them belong together.
    const sent = [...policies, undefined].flatMap((policy) => [undefined, ...modes].map((mode) => ({ policy, mode })));
    const changes = sent.filter(({ policy, mode }) => policy !== undefined || mode !== undefined);
    this.#changes = [...changes, ...pasts.flatMap(({ gate }) => gate.change ?? [])];
    if (first === undefined) this.#why = 'the history does not keep the policies of the run';
  }

  /** The policies in force for an entry. Call it for every entry, in order. */
  at({ kind, agent, policyDigest: digest }: JournalEntry): InForce {
    if (agent !== undefined) this.#agent = agent;
    if (kind === 'policy' && digest !== undefined) this.#applyChangeTo(digest);
    const layers = this.#layers(this.#agent, this.#changed);
    if (this.#why !== undefined || layers === undefined) {
      return { agent: this.#agent, why: this.#why ?? `the history does not keep the policies of '${this.#agent}'` };
    }
    return { agent: this.#agent, layers };
  }

  /** The tools of an agent, as the run recorded them at its start. */
  toolsOf(agent: string): readonly ToolDefinition[] {
    const { first } = this.#recorded;
    const found = this.#agents.find((each) => each.agent === agent);
    return first === undefined ? [] : toolsOf(first, found === undefined ? [] : [found]);
  }

  /**
   * Finds the change, by `setPolicy` or by the calling run, that results in policies with this digest, and applies it.
   * After a handoff the change may precede the first entry that names the new agent in charge.
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

  /**
   * The possible changes of an agent's policies, by the digest of the resulting policies. Kept, because the policies of
   * the calling run seldom change.
   */
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

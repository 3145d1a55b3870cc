import type { ToolDefinition } from '../core/base/tool-call.ts';
import { agentsOf, type Changed, layersOf, type RecordedPolicies, toolsOf } from '../core/events/recorded-policies.ts';
import type { JournalEntry } from '../core/ledger/journal-entry.ts';
import { policyDigest } from '../core/policy/policy-digest.ts';
import type { PolicyLayers } from '../core/policy/policy.ts';
import type { AgentConfig } from '../core/policy/run-config.ts';
import type { PolicyChange } from '../core/policy/run-side.ts';

/** The policies in force; `why` if they are not known. */
export type InForce = { agent: string } & ({ layers: PolicyLayers; why?: never } | { layers?: never; why: string });

/** What a run's calls are ruled on by, entry by entry: its config, `setPolicy`, the policies of its caller, handoffs. */
export class PolicyTimeline {
  readonly #recorded: RecordedPolicies;
  readonly #agents: readonly (Pick<AgentConfig, 'agent' | 'run'> & Partial<AgentConfig>)[];
  readonly #changes: PolicyChange[];
  #agent: string;
  #changed: Changed;
  #why: string | undefined;

  constructor(recorded: RecordedPolicies) {
    const { first, carried, pasts, policies, modes } = recorded;
    this.#recorded = recorded;
    this.#agents = first === undefined ? [] : agentsOf(first);
    this.#agent = carried?.agent ?? first?.agent ?? '';
    this.#changed = { change: carried?.gate.change };
    // A message has a policy, a mode or both; the digest says which of them belong together.
    const sent = [...modes].flatMap((mode) => [undefined, ...policies].map((policy) => ({ policy, mode })));
    this.#changes = [...sent, ...pasts.flatMap(({ gate }) => gate.change ?? [])];
    if (first === undefined) this.#why = 'the history does not keep the policies of the run';
  }

  /** The policies by which an entry was ruled on. Call it for every entry, in order. */
  at({ kind, agent, policyDigest: digest }: JournalEntry): InForce {
    if (agent !== undefined) this.#agent = agent;
    if (kind === 'policy' && digest !== undefined) this.#find(digest);
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
   * Takes the one change, by `setPolicy` or by the calling run, that leads to the policies of this digest. After a handoff
   * the change may come before any entry names the agent that is in charge now.
   */
  #find(digest: string): void {
    const { change: before, parents } = this.#changed;
    this.#why = undefined;
    for (const agent of [this.#agent, ...this.#agents.map((each) => each.agent)]) {
      const leadsThere = (changed: Changed): boolean => {
        const layers = this.#layers(agent, changed);
        return layers !== undefined && policyDigest(layers) === digest;
      };
      const found =
        this.#changes.map((change) => ({ change, parents })).find(leadsThere) ??
        this.#recorded.inherited.map((inherited) => ({ change: before, parents: inherited })).find(leadsThere) ??
        [this.#changed].find(leadsThere);
      if (found === undefined) continue;
      this.#agent = agent;
      this.#changed = found;
      return;
    }
    this.#why = 'the history does not keep the policies that were set here';
  }

  #layers(agent: string, changed: Changed): PolicyLayers | undefined {
    const { first } = this.#recorded;
    const config = this.#agents.find((each) => each.agent === agent);
    return first === undefined || config === undefined ? undefined : layersOf(first, config, changed);
  }
}

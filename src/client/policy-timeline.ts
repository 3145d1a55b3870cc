import { canonicalJson } from '../core/base/canonical-json.ts';
import type { Json, ToolDefinition } from '../core/base/tool-call.ts';
import type { JournalEntry } from '../core/ledger/journal-entry.ts';
import { inheritedBeside } from '../core/policy/nesting.ts';
import { policyDigest } from '../core/policy/policy-digest.ts';
import type { Policy, PolicyLayers } from '../core/policy/policy.ts';
import type { AgentConfig } from '../core/policy/run-config.ts';
import { changeRunSide, type PolicyChange } from '../core/policy/run-side.ts';
import type { HistoryFacts } from './history-facts.ts';

/** The policies in force; `why` if they are not known. */
export type InForce = { agent: string } & ({ layers: PolicyLayers; why?: never } | { layers?: never; why: string });

/** What a run's calls are ruled on by, entry by entry: its config, `setPolicy`, the policies of its caller, handoffs. */
export class PolicyTimeline {
  readonly #ceiling: Policy | undefined;
  readonly #agents: AgentConfig[];
  readonly #tools: ToolDefinition[];
  readonly #changes: PolicyChange[];
  readonly #inherited: Policy[][];
  #agent: string;
  #parents: Policy[] | undefined;
  #change: PolicyChange | undefined;
  #why: string | undefined;

  constructor({ config, carried, messages, read, parents, pasts }: HistoryFacts) {
    const isRun = config !== undefined && 'tools' in config;
    const handoffs = isRun ? (config.handoffs ?? []) : [];
    this.#agents = config === undefined ? [] : [config as AgentConfig, ...handoffs];
    this.#tools = config !== undefined && 'gated' in config ? config.gated : [];
    this.#agent = carried?.agent ?? config?.agent ?? '';
    this.#ceiling = config?.ceiling;
    this.#parents = isRun ? config.parents : undefined;
    this.#change = carried?.gate.change;
    this.#inherited = parents.map((policies) => inheritedBeside(this.#ceiling, policies));
    this.#changes = [...messages.flatMap((message) => changesOf(message, read)), ...pasts.flatMap(changeOf)];
    if (config === undefined) this.#why = 'the history does not keep the policies of the run';
  }

  /** The policies by which an entry was ruled on. Call it for every entry, in order. */
  at({ kind, agent, policyDigest: digest }: JournalEntry): InForce {
    if (agent !== undefined) this.#agent = agent;
    if (kind === 'policy' && digest !== undefined) this.#change = this.#found(digest) ?? this.#change;
    const layers = this.#layers(this.#agent, this.#parents, this.#change);
    if (this.#why !== undefined || layers === undefined) {
      return { agent: this.#agent, why: this.#why ?? `the history does not keep the policies of '${this.#agent}'` };
    }
    return { agent: this.#agent, layers };
  }

  /** The tools of an agent, as the run recorded them at its start. */
  toolsOf(agent: string): readonly ToolDefinition[] {
    const found = this.#agents.find((each) => each.agent === agent);
    return [...(found?.tools ?? []), ...this.#tools];
  }

  /**
   * Takes the one change, by `setPolicy` or by the calling run, that leads to the policies of this digest. After a handoff
   * the change may come before any entry names the agent that is in charge now.
   */
  #found(digest: string): PolicyChange | undefined {
    const known = this.#agent;
    this.#why = undefined;
    for (const agent of [known, ...this.#agents.map((each) => each.agent)]) {
      const leadsThere = (parents: Policy[] | undefined, change: PolicyChange | undefined): boolean => {
        const layers = this.#layers(agent, parents, change);
        return layers !== undefined && policyDigest(layers) === digest;
      };
      this.#agent = agent;
      const change = this.#changes.find((each) => leadsThere(this.#parents, each));
      if (change !== undefined) return change;
      const parents = this.#inherited.find((each) => leadsThere(each, this.#change));
      if (parents !== undefined) this.#parents = parents;
      if (parents !== undefined || leadsThere(this.#parents, this.#change)) return undefined;
    }
    this.#agent = known;
    this.#why = 'the history does not keep the policies that were set here';
    return undefined;
  }

  #layers(agent: string, parents: Policy[] | undefined, change: PolicyChange | undefined): PolicyLayers | undefined {
    const config = this.#agents.find((each) => each.agent === agent);
    if (config === undefined) return undefined;
    const ceiling = this.#ceiling;
    const run = change === undefined ? config.run : changeRunSide(config.run, change);
    return { ...(ceiling && { ceiling }), ...(parents && { parents }), ...(run && { run }) };
  }
}

/** A message with a policy changes what the activity read from its document; the document is not a policy yet. */
function changesOf({ policy, mode }: HistoryFacts['messages'][number], read: HistoryFacts['read']): PolicyChange[] {
  if (policy === undefined) return [{ mode }];
  const text = canonicalText(policy);
  return read.flatMap((each) => (canonicalText(each.document) === text ? [{ policy: each.policy, mode }] : []));
}

function changeOf({ gate }: HistoryFacts['pasts'][number]): PolicyChange[] {
  return gate.change === undefined ? [] : [gate.change];
}

function canonicalText(value: Json): string | undefined {
  try {
    return canonicalJson(value);
  } catch {
    return undefined;
  }
}

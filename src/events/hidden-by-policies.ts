/** Collects what the policies in a run's history hide from reviewers. What one policy hides stays hidden. */
import type { GatedDefinition } from '../core/policy/gated-activity.ts';
import { limitsOf } from '../core/policy/limits.ts';
import { redactionSettings } from '../core/policy/redaction-settings.ts';
import { sensitiveKinds } from '../core/redact/kinds.ts';
import type { RedactionSettings } from '../core/redact/redaction.ts';
import type { HistoryEvent } from './history-event.ts';
import { agentsOf, layersOf, RecordedPolicies, toolsOf } from './recorded-policies.ts';

export class HiddenByPolicies {
  readonly #policies = new RecordedPolicies();
  #cannotTell = false;
  #settings: RedactionSettings | undefined;
  #hidesArguments = false;
  #version = 0;

  /** Grows whenever more is hidden. */
  get version(): number {
    return this.#version;
  }

  /** False until the policies have been read; false for good once a policy cannot be read. */
  get isKnown(): boolean {
    return this.#policies.config !== undefined && !this.#cannotTell;
  }

  get hidesArguments(): boolean {
    return this.#hidesArguments;
  }

  /** What to redact. Undefined if policies redact nothing. */
  get settings(): RedactionSettings | undefined {
    return this.#settings;
  }

  /**
   * Returns the name of the tool's argument that is a shell command; undefined if there is none. Redaction leaves a
   * command as it is, unless a policy lists the argument in `also`.
   */
  commandOf(tool: string): string | undefined {
    const { config } = this.#policies;
    const found = config === undefined ? [] : toolsOf(config, agentsOf(config)).filter(({ name }) => name === tool);
    return found.length > 0 && found.every(({ shellSubject }) => shellSubject === true) ? found[0]!.subject : undefined;
  }

  gatedActivity(name: string): GatedDefinition | undefined {
    return this.#gated?.find((each) => each.name === name);
  }

  /** True for a custom workflow. The arguments of its calls are lists and not objects. */
  get isGate(): boolean {
    return this.#gated !== undefined;
  }

  get #gated(): readonly GatedDefinition[] | undefined {
    const { config } = this.#policies;
    return config !== undefined && 'gated' in config ? config.gated : undefined;
  }

  /** Adds what the policies in the next event hide. A policy that cannot be read hides everything. */
  learn({ what }: HistoryEvent): void {
    const taken = this.#policies.take(what);
    try {
      if (taken === 'more') this.#hideMore();
    } catch {
      this.#hideAll();
    }
    if (taken === 'unreadable') this.#hideAll();
  }

  /** Hides everything, because a policy that cannot be read may hide anything. */
  #hideAll(): void {
    this.#cannotTell = true;
    this.#version += 1;
  }

  /** Adds what the policies of all agents hide now. Raises `version` if that is more than before. */
  #hideMore(): void {
    const { config, changed } = this.#policies;
    if (config === undefined) return;
    const before = JSON.stringify([this.#settings, this.#hidesArguments]);
    for (const agent of agentsOf(config)) {
      const layers = layersOf(config, agent, changed);
      this.#settings = joinSettings(this.#settings, redactionSettings(layers));
      this.#hidesArguments ||= !limitsOf(layers).includeArguments;
    }
    // The first policies always count, because version 0 means that none is known.
    if (JSON.stringify([this.#settings, this.#hidesArguments]) !== before || this.#version === 0) this.#version += 1;
  }
}

/** Joins two settings: the result hides what either of them hides. Undefined if both are undefined. */
function joinSettings(
  one: RedactionSettings | undefined,
  other: RedactionSettings | undefined,
): RedactionSettings | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const all = [...one.patterns, ...other.patterns];
  const uniquePatterns = new Map(all.map((each) => [JSON.stringify([each.name, each.pattern]), each]));
  return {
    kinds: sensitiveKinds.filter((kind) => one.kinds.includes(kind) || other.kinds.includes(kind)),
    patterns: [...uniquePatterns.values()],
    also: [...new Set([...one.also, ...other.also])],
  };
}

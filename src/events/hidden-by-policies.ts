/**
 * The values that a run's policies hide from reviewers, by its history so far. Policies only add to them, so a change
 * that loosens a policy reveals nothing.
 */
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

  /** False until the policies have been read, and forever if one cannot be read. */
  get isKnown(): boolean {
    return this.#policies.config !== undefined && !this.#cannotTell;
  }

  get hidesArguments(): boolean {
    return this.#hidesArguments;
  }

  /** What to redact; undefined if nothing is. */
  get settings(): RedactionSettings | undefined {
    return this.#settings;
  }

  /**
   * A tool's argument that is a shell command; undefined if there is none. A command is redacted only if a policy names
   * this argument.
   */
  commandOf(tool: string): string | undefined {
    const { config } = this.#policies;
    const found = config === undefined ? [] : toolsOf(config, agentsOf(config)).filter(({ name }) => name === tool);
    return found.length > 0 && found.every(({ shellSubject }) => shellSubject === true) ? found[0]!.subject : undefined;
  }

  gatedActivity(name: string): GatedDefinition | undefined {
    return this.#gated?.find((each) => each.name === name);
  }

  /** True for a custom workflow: the arguments of its calls are lists. */
  get isGate(): boolean {
    return this.#gated !== undefined;
  }

  get #gated(): readonly GatedDefinition[] | undefined {
    const { config } = this.#policies;
    return config !== undefined && 'gated' in config ? config.gated : undefined;
  }

  learn({ what }: HistoryEvent): void {
    const taken = this.#policies.take(what);
    try {
      if (taken === 'more') this.#hideMore();
    } catch {
      this.#hideAll();
    }
    if (taken === 'unreadable') this.#hideAll();
  }

  /** Policies that cannot be read may hide anything. */
  #hideAll(): void {
    this.#cannotTell = true;
    this.#version += 1;
  }

  #hideMore(): void {
    const { config, changed } = this.#policies;
    if (config === undefined) return;
    const before = JSON.stringify([this.#settings, this.#hidesArguments]);
    for (const agent of agentsOf(config)) {
      const layers = layersOf(config, agent, changed);
      this.#settings = joinSettings(this.#settings, redactionSettings(layers));
      this.#hidesArguments ||= !limitsOf(layers).includeArguments;
    }
    if (JSON.stringify([this.#settings, this.#hidesArguments]) !== before || this.#version === 0) this.#version += 1;
  }
}

/** What either of two settings hides; undefined if neither hides anything. */
function joinSettings(
  one: RedactionSettings | undefined,
  other: RedactionSettings | undefined,
): RedactionSettings | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const own = [...one.patterns, ...other.patterns];
  const patterns = new Map(own.map((each) => [JSON.stringify([each.name, each.pattern]), each]));
  return {
    kinds: sensitiveKinds.filter((kind) => one.kinds.includes(kind) || other.kinds.includes(kind)),
    patterns: [...patterns.values()],
    also: [...new Set([...one.also, ...other.also])],
  };
}

/**
 * What the policies of a run hide from reviewers, as far as its history has been read. Each policy that the history shows
 * adds to it and none takes away, so a change that loosens a policy uncovers nothing.
 */
import type { ToolDefinition } from '../base/tool-call.ts';
import { isObject } from '../base/is-object.ts';
import { isUndecodable } from '../base/undecodable.ts';
import type { GatedDefinition } from '../policy/gated-activity.ts';
import { limitsOf } from '../policy/limits.ts';
import { inheritedBeside } from '../policy/nesting.ts';
import type { Policy, PolicyLayers } from '../policy/policy.ts';
import { redactionSettings } from '../policy/redaction-settings.ts';
import type { RunConfig } from '../policy/run-config.ts';
import { changeRunSide, type PolicyChange, type RunSide } from '../policy/run-side.ts';
import { sensitiveKinds } from '../redact/kinds.ts';
import type { RedactionSettings } from '../redact/redaction.ts';
import type { HistoryEvent } from './history-event.ts';

/** The part that the configs of runs and of gates have in common. */
type Config = Pick<RunConfig, 'ceiling' | 'parents' | 'run' | 'handoffs'> & {
  tools?: ToolDefinition[];
  gated?: GatedDefinition[];
};

export class HiddenByPolicies {
  #config: Config | undefined;
  #change: PolicyChange | undefined;
  #parents: Policy[] | undefined;
  /** The events that scheduled an activity whose result holds policies; of the present execution. */
  readonly #scheduled = new Set<number>();
  #cannotTell = false;
  #settings: RedactionSettings | undefined;
  #hidesArguments = false;
  #version = 0;

  /** Grows whenever more is hidden. */
  get version(): number {
    return this.#version;
  }

  /** False until the policies are known, and for good if one of them cannot be read. */
  get isKnown(): boolean {
    return this.#config !== undefined && !this.#cannotTell;
  }

  /** True once a policy has said that reviewers see no arguments. */
  get hidesArguments(): boolean {
    return this.#hidesArguments;
  }

  /** Undefined: nothing is redacted. */
  get settings(): RedactionSettings | undefined {
    return this.#settings;
  }

  /** The argument of a tool that is a command, if it is shell text: it is never redacted unless a policy names it. */
  commandOf(tool: string): string | undefined {
    const agents = this.#config === undefined ? [] : [this.#config, ...(this.#config.handoffs ?? [])];
    const found = [...agents.flatMap(({ tools = [] }) => tools), ...(this.#config?.gated ?? [])].filter(
      ({ name }) => name === tool,
    );
    return found.length > 0 && found.every(({ shellSubject }) => shellSubject === true) ? found[0]!.subject : undefined;
  }

  /** For a workflow of one's own: how a gated activity is declared. */
  gatedActivity(name: string): GatedDefinition | undefined {
    return this.#config?.gated?.find((each) => each.name === name);
  }

  /** True for a workflow of one's own, whose calls have lists of arguments. */
  get isGate(): boolean {
    return this.#config?.gated !== undefined;
  }

  /** Takes the next event of the history. */
  learn({ eventId, what }: HistoryEvent): void {
    if (what?.kind === 'started') {
      this.#scheduled.clear();
      if (what.carried !== undefined) this.#attempt(() => this.#takeCarried(what.carried));
    } else if (what?.kind === 'policies_scheduled') this.#scheduled.add(eventId);
    else if (what?.kind === 'ended' && this.#scheduled.delete(what.scheduledEventId) && 'result' in what.end) {
      const { result } = what.end;
      this.#attempt(() => this.#takeResult(result));
    }
  }

  /** Policies that cannot be read may hide anything. */
  #attempt(take: () => void): void {
    try {
      take();
    } catch {
      this.#cannotTell = true;
      this.#version += 1;
    }
  }

  #takeCarried(carried: unknown): void {
    const { gate, state, config } = objectIn(carried);
    this.#config = objectIn(isObject(state) ? state['config'] : config);
    this.#change = objectIn(gate)['change'] as PolicyChange | undefined;
    this.#parents = undefined;
    this.#hideMore();
  }

  /** The result of `loadAgent` or `loadGate`, of `readPolicy`, or of `readParents`. */
  #takeResult(result: unknown): void {
    const { policy, policies, policyDigest } = objectIn(result);
    if (policyDigest !== undefined) this.#config = result as Config;
    else if (Array.isArray(policies)) this.#parents = inheritedBeside(this.#config?.ceiling, policies as Policy[]);
    // `readPolicy` answers with a problem for a document that is no policy.
    else if (policy !== undefined) this.#change = { policy: policy as Policy };
    if (this.#config !== undefined) this.#hideMore();
  }

  #hideMore(): void {
    const { ceiling, parents, run, handoffs = [] } = this.#config!;
    const before = JSON.stringify([this.#config !== undefined, this.#settings, this.#hidesArguments]);
    const layersOf = (side: RunSide | undefined): PolicyLayers => ({
      ceiling,
      parents: this.#parents ?? parents,
      run: this.#change === undefined ? side : changeRunSide(side, this.#change),
    });
    for (const side of [run, ...handoffs.map((each) => each.run)]) {
      const layers = layersOf(side);
      this.#settings = joined(this.#settings, redactionSettings(layers));
      this.#hidesArguments ||= !limitsOf(layers).includeArguments;
    }
    if (JSON.stringify([true, this.#settings, this.#hidesArguments]) !== before || this.#version === 0) {
      this.#version += 1;
    }
  }
}

function joined(
  one: RedactionSettings | undefined,
  other: RedactionSettings | undefined,
): RedactionSettings | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const patterns = new Map(
    [...one.patterns, ...other.patterns].map((own) => [JSON.stringify([own.name, own.pattern]), own]),
  );
  return {
    kinds: sensitiveKinds.filter((kind) => one.kinds.includes(kind) || other.kinds.includes(kind)),
    patterns: [...patterns.values()],
    also: [...new Set([...one.also, ...other.also])],
  };
}

/** Throws for anything else. */
function objectIn(value: unknown): Record<string, unknown> {
  if (!isObject(value) || isUndecodable(value)) throw new TypeError('not an object');
  return value;
}

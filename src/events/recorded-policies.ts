/**
 * The policies of a run, as far as its history has been read: those that its workers loaded, the changes by `setPolicy`
 * and the calling run, and those that its executions handed over.
 */
import { isObject } from '../core/base/json.ts';
import type { ToolDefinition } from '../core/base/tool-call.ts';
import { isUndecodable } from '../core/base/undecodable.ts';
import type { Ledger } from '../core/ledger/ledger.ts';
import { readSetPolicy } from '../core/messages/control.ts';
import type { GateConfig } from '../core/policy/gate-config.ts';
import type { Mode } from '../core/policy/modes.ts';
import { inheritedBeside } from '../core/policy/nesting.ts';
import type { Policy, PolicyLayers } from '../core/policy/policy.ts';
import type { AgentConfig, RunConfig } from '../core/policy/run-config.ts';
import { changeRunSide, type PolicyChange } from '../core/policy/run-side.ts';
import type { Fact, HistoryEvent } from './history-event.ts';

type Config = RunConfig | GateConfig;

/**
 * The state that one execution handed to the next. Runs trust it only because `activities/verify-carried.ts` verifies
 * it.
 */
export interface CarriedPast {
  gate: { ledger: Ledger; change?: PolicyChange; tree?: unknown };
  config: Config;
  /** The agent in charge, for an agent run after a handoff. */
  agent?: string;
}

/** Changes of an agent's policies. */
export interface Changed {
  parents?: Policy[];
  change?: PolicyChange;
}

export class RecordedPolicies {
  /** The config at the beginning of the history read so far. */
  first: Config | undefined;
  /** Present if the first execution of the history is not the first of the run. */
  carried: CarriedPast | undefined;
  /** The config of the present execution. */
  config: Config | undefined;
  /** The changes since. */
  changed: Changed = {};
  /** The states that executions took over, in their order. */
  readonly pasts: CarriedPast[] = [];
  /** The changes by `setPolicy`: policies, as an activity read them, and modes. */
  readonly policies: Policy[] = [];
  readonly modes = new Set<Mode>();
  /** The policies of the calling runs, each time that they changed. */
  readonly inherited: Policy[][] = [];
  #executions = 0;

  /** Processes the next fact, and returns whether it shows policies; `unreadable`: it does, but they are unknown. */
  take(what: Fact | undefined): 'none' | 'more' | 'unreadable' {
    if (what?.kind === 'started') this.#executions += 1;
    try {
      if (what?.kind === 'started' && what.carried !== undefined) return this.#takeUp(what.carried);
      if (what?.kind === 'ended' && 'result' in what.end) return this.#takeResult(what.activity, what.end.result);
    } catch {
      return 'unreadable';
    }
    if (what?.kind !== 'message' || what.name !== 'setPolicy') return 'none';
    const read = readSetPolicy(what.value);
    if ('message' in read && read.message.mode !== undefined) this.modes.add(read.message.mode);
    return 'none';
  }

  #takeUp(carried: unknown): 'more' {
    const { gate, state, config } = objectIn(carried);
    const past = {
      gate: objectIn(gate) as unknown as CarriedPast['gate'],
      config: objectIn(isObject(state) ? state['config'] : config) as unknown as Config,
      agent: isObject(state) ? (state['agent'] as string | undefined) : undefined,
    };
    if (this.#executions === 1) this.carried = past;
    this.pasts.push(past);
    this.#begin(past.config);
    this.changed = { change: past.gate.change };
    return 'more';
  }

  #takeResult(activity: Extract<Fact, { kind: 'ended' }>['activity'], given: unknown): 'none' | 'more' {
    if (activity.kind !== 'config' && activity.kind !== 'policy' && activity.kind !== 'parents') return 'none';
    const result = objectIn(given);
    if (activity.kind === 'config') {
      if (result['policyDigest'] === undefined) return 'none';
      this.#begin(result as unknown as Config);
    } else if (activity.kind === 'parents') {
      // A message from any sender but the calling run has none.
      if (!Array.isArray(result['policies'])) return 'none';
      const parents = inheritedBeside(this.config?.ceiling, result['policies'] as Policy[]);
      this.inherited.push(parents);
      this.changed.parents = parents;
    } else {
      // An invalid policy document gives a problem.
      if (result['policy'] === undefined) return 'none';
      const policy = result['policy'] as Policy;
      this.policies.push(policy);
      this.changed.change = { policy };
    }
    return 'more';
  }

  #begin(config: Config): void {
    this.first ??= config;
    this.config = config;
  }
}

/** The policies of a run, by its executions, oldest first. */
export function policiesOf(executions: readonly { events: readonly HistoryEvent[] }[]): RecordedPolicies {
  const policies = new RecordedPolicies();
  for (const { what } of executions.flatMap(({ events }) => events)) policies.take(what);
  return policies;
}

/** The agents to which a run can be handed over, its first agent first; of a custom workflow, its gate. */
export function agentsOf(config: Config): (AgentConfig | GateConfig)[] {
  return [config, ...('handoffs' in config ? (config.handoffs ?? []) : [])];
}

/** The tools of agents of a run. For a custom workflow: its declared activities, for any named agent. */
export function toolsOf(config: Config, agents: readonly Partial<AgentConfig>[]): ToolDefinition[] {
  return [...agents.flatMap(({ tools = [] }) => tools), ...('gated' in config ? config.gated : [])];
}

/** The policies that bind an agent. */
export function layersOf(
  { ceiling, ...config }: Config,
  { run: base }: Pick<AgentConfig, 'run'>,
  { change, parents = 'parents' in config ? config.parents : undefined }: Changed,
): PolicyLayers {
  const run = change === undefined ? base : changeRunSide(base, change);
  return { ...(ceiling && { ceiling }), ...(parents && { parents }), ...(run && { run }) };
}

/** Throws for anything else. */
function objectIn(value: unknown): Record<string, unknown> {
  if (!isObject(value) || isUndecodable(value)) throw new TypeError('not an object');
  return value;
}

/** Collects the policies in a run's history: those that workers loaded, and those that later replaced them. */
import { isObject } from '../core/base/json.ts';
import type { ToolDefinition } from '../core/base/tool-call.ts';
import { fits, type Shape } from '../core/base/shape.ts';
import { isUndecodable } from '../core/base/undecodable.ts';
import type { Ledger } from '../core/ledger/ledger.ts';
import { readSetPolicy } from '../core/messages/control.ts';
import type { GateConfig } from '../core/policy/gate-config.ts';
import type { Mode } from '../core/policy/modes.ts';
import { inheritedBeside, unreadableParent } from '../core/policy/nesting.ts';
import { policyShape } from '../core/policy/policy-shape.ts';
import type { Policy, PolicyLayers } from '../core/policy/policy.ts';
import type { AgentConfig, RunConfig } from '../core/policy/run-config.ts';
import { changeRunSide, type PolicyChange } from '../core/policy/run-side.ts';
import type { Fact, HistoryEvent } from './history-event.ts';

type Config = RunConfig | GateConfig;

const agentShape = { 'run?': policyShape, 'tools?': [{}] } satisfies Shape;
/** The form of a config. Results of another form are not from a worker, and the run ignores them (I5d). */
const configShape: Shape = {
  ...agentShape,
  policyDigest: 'string',
  'ceiling?': policyShape,
  'parents?': [policyShape],
  'handoffs?': [agentShape],
  'gated?': [{}],
};

/** The state that one execution passes to the next. `activities/verify-carried.ts` verifies it before a run uses it. */
export interface CarriedPast {
  gate: { ledger: Ledger; change?: PolicyChange; tree?: unknown };
  config: Config;
  /** The agent that took over by a handoff, if any. */
  agent?: string;
}

/** What has changed in an agent's policies since its config was loaded. */
export interface Changed {
  parents?: Policy[];
  change?: PolicyChange;
}

export class RecordedPolicies {
  /** The first config in the history. Undefined until an event with a config is read. */
  first: Config | undefined;
  /** The state that the earliest execution in this history received. Absent if this execution began the run. */
  carried: CarriedPast | undefined;
  config: Config | undefined;
  /** The changes since `config` was loaded. */
  changed: Changed = {};
  /** The states that executions received from the executions before them, oldest first. */
  readonly pasts: CarriedPast[] = [];
  /** The policies in messages `setPolicy`, as an activity has parsed them. */
  readonly policies: Policy[] = [];
  /** The modes in messages `setPolicy`. */
  readonly modes = new Set<Mode>();
  /** The policies of the calling runs: one list for each change. */
  readonly inherited: Policy[][] = [];
  #executions = 0;

  /** Reads the policies in a fact: `more` if it has some, `unreadable` if malformed. Of a message, reads its mode. */
  take(what: Fact | undefined): 'none' | 'more' | 'unreadable' {
    if (what?.kind === 'started') this.#executions += 1;
    try {
      if (what?.kind === 'started' && what.carried !== undefined) return this.#takeCarried(what.carried);
      if (what?.kind === 'ended' && 'result' in what.end) return this.#takeResult(what.activity, what.end.result);
      // If `readParents` fails, the run does not know which policies bind it, and denies every call.
      if (what?.kind === 'ended' && what.activity.kind === 'parents' && what.state !== 'cancelled') {
        return this.#takeParents([unreadableParent]);
      }
    } catch {
      return 'unreadable';
    }
    if (what?.kind !== 'message' || what.name !== 'setPolicy') return 'none';
    const read = readSetPolicy(what.value);
    if ('message' in read && read.message.mode !== undefined) this.modes.add(read.message.mode);
    return 'none';
  }

  /** Reads the policies that the previous execution carried: of an agent run in `state`, otherwise in `config`. */
  #takeCarried(carried: unknown): 'more' {
    const { gate, state, config } = objectIn(carried);
    const past = {
      gate: objectIn(gate) as unknown as CarriedPast['gate'],
      config: objectIn(isObject(state) ? state['config'] : config) as unknown as Config,
      agent: isObject(state) ? (state['agent'] as string | undefined) : undefined,
    };
    if (this.#executions === 1) this.carried = past;
    this.pasts.push(past);
    this.#setConfig(past.config);
    this.changed = { change: past.gate.change };
    return 'more';
  }

  /** Reads the policies in the result of an activity. Returns `none` for an activity whose result has no policies. */
  #takeResult(activity: Extract<Fact, { kind: 'ended' }>['activity'], given: unknown): 'none' | 'more' {
    if (activity.kind !== 'config' && activity.kind !== 'policy' && activity.kind !== 'parents') return 'none';
    const result = objectIn(given);
    if (activity.kind === 'config') {
      if (!fits(result, configShape)) return 'none';
      this.#setConfig(result as unknown as Config);
    } else if (activity.kind === 'parents') {
      // The result has policies only if the message came from the calling run.
      if (!fits(result['policies'], [policyShape])) return 'none';
      return this.#takeParents(result['policies'] as Policy[]);
    } else {
      // An invalid policy document gives a problem in place of a policy.
      if (!fits(result['policy'], policyShape)) return 'none';
      const policy = result['policy'] as Policy;
      this.policies.push(policy);
      this.changed.change = { policy };
    }
    return 'more';
  }

  #takeParents(policies: Policy[]): 'more' {
    const parents = inheritedBeside(this.config?.ceiling, policies);
    this.inherited.push(parents);
    this.changed.parents = parents;
    return 'more';
  }

  #setConfig(config: Config): void {
    this.first ??= config;
    this.config = config;
  }
}

/** Reads the policies in all executions of a run, oldest first. */
export function policiesOf(executions: readonly { events: readonly HistoryEvent[] }[]): RecordedPolicies {
  const policies = new RecordedPolicies();
  for (const { what } of executions.flatMap(({ events }) => events)) policies.take(what);
  return policies;
}

/** Returns the configs of the run's agent and of each to which it may be handed over; for a custom workflow, the gate's. */
export function agentsOf(config: Config): (AgentConfig | GateConfig)[] {
  return [config, ...('handoffs' in config ? (config.handoffs ?? []) : [])];
}

/** Returns the tools of these agents; for a custom workflow, the activities that it declares. */
export function toolsOf(config: Config, agents: readonly Partial<AgentConfig>[]): ToolDefinition[] {
  return [...agents.flatMap(({ tools = [] }) => tools), ...('gated' in config ? config.gated : [])];
}

/** Returns the policies of one agent (`run`) of a run, with what has changed since its config was loaded. */
export function layersOf(
  { ceiling, ...config }: Config,
  { run: base }: Pick<AgentConfig, 'run'>,
  { change, parents = 'parents' in config ? config.parents : undefined }: Changed,
): PolicyLayers {
  const run = change === undefined ? base : changeRunSide(base, change);
  return { ...(ceiling && { ceiling }), ...(parents && { parents }), ...(run && { run }) };
}

/** Returns the value if it is an object. Throws otherwise. */
function objectIn(value: unknown): Record<string, unknown> {
  if (!isObject(value) || isUndecodable(value)) throw new TypeError('not an object');
  return value;
}

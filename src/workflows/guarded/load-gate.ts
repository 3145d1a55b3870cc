import { ActivityFailure, ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import type { LoadGate } from '../../activities/load-gate.ts';
import { activityNames, type Caller } from '../../contract.ts';
import { recordedContext, type ContextCarrier } from '../../core/ledger/recorded-context.ts';
import type { GateConfig } from '../../core/policy/gate-config.ts';
import type { Mode } from '../../core/policy/modes.ts';
import type { JsonObject } from '../../core/base/tool-call.ts';
import type { Gate } from '../gate/gate.ts';
import { type Writer, thisExecution, verified } from '../state/carried.ts';
import type { GateSnapshot } from '../state/gate-state.ts';
import { hasGatedCall, guardedBy, unfinished } from './guarded-activities.ts';

/** Options of `ApprovalGate.load`. Only `agent` is required. */
export interface LoadOptions {
  /** The name under which calls are ruled on and listed, like an agent's name. */
  agent: string;
  /** A policy document, usually from the workflow's input. It can only tighten the operator's ceiling. */
  policy?: JsonObject;
  /** The mode of the workflow's own policy. It never changes the operator's ceiling. */
  mode?: Mode;
  /** The user for whom the workflow works. */
  caller?: Caller;
  /** Facts that conditions of the policy can read, and that reviewers see. */
  metadata?: JsonObject;
}

/** What the next execution needs: `carried` among its arguments, and `memo` as its memo. */
export interface Carry {
  carried: CarriedGate;
  memo: Record<string, unknown>;
}

/** The state that a workflow passes unchanged to its next execution: as an argument, or as a direct property of one. */
export interface CarriedGate {
  writer: Writer;
  gate: GateSnapshot;
  config: GateConfig;
  /** The caller and the metadata of the first `load`. Absent: the next execution gives them to `load` again. */
  context?: Pick<LoadOptions, 'caller' | 'metadata'>;
}

const { [activityNames.loadGate]: loadGateActivity } = proxyActivities<{
  [activityNames.loadGate]: (...args: Required<Parameters<LoadGate>>) => ReturnType<LoadGate>;
}>({
  startToCloseTimeout: '30s',
  summary: 'The policies of this workflow',
});

/** Puts the gate under the policies that one activity reads. Carried state is verified first, and then restored. */
export async function loadGate(
  gate: Gate,
  { agent, policy, mode, caller, metadata, ...unknown }: LoadOptions,
  carried?: CarriedGate,
  writtenOptions?: string[],
): Promise<void> {
  const guarded = guardedBy(gate);
  const gated = [...guarded.definitions].map(([name, each]) => ({ ...each, written: guarded.optionNames.get(name) }));
  // `policy`, `mode`, `caller` and `metadata` may be null in a workflow's input: null counts as absent.
  const context = carried?.context ?? { ...(caller && { caller }), ...(metadata && { metadata }) };
  const carrier = { context: recordedContext(context) };
  const config = await withItsSentence(
    carried === undefined
      ? // The worker refuses unknown options: a refusal here would break the replay of runs in flight.
        loadGateActivity(
          { ...unknown, agent, gated, written: writtenOptions, ...(policy && { policy }), ...(mode && { mode }) },
          carrier,
        )
      : restoreGate(gate, carried, carrier),
  );
  guarded.config = config;
  guarded.context = context;
  for (const each of config.gated) guarded.definitions.set(each.name, each);
  const { ceiling, ceilingLines, run, engine, auditSalt, continueAsNewAfter, attributes, routes } = config;
  gate.setPolicies({
    agent: config.agent,
    policies: { ceiling, run },
    ceilingLines,
    engine,
    auditSalt,
    continueAsNewAfter,
    attributes,
    routes,
    ...context,
  });
}

async function restoreGate(gate: Gate, carried: CarriedGate, carrier: ContextCarrier): Promise<GateConfig> {
  const past = await verified(carried, carrier);
  gate.restore(past.gate);
  guardedBy(gate).carried.push(...unfinished(gate));
  return past.config;
}

/** Returns all that the next execution needs. Continue as new in the same step. Throws if a call would be lost. */
export function carryGate(gate: Gate): Carry {
  const guarded = guardedBy(gate);
  const { config, context } = guarded;
  if (config === undefined) throw ApplicationFailure.nonRetryable('ApprovalGate: carry() needs load()', 'internal');
  if (gate.busy || hasGatedCall()) {
    throw ApplicationFailure.nonRetryable(
      'ApprovalGate: carry() would lose a gated activity that runs: wait until gate.busy is false',
      'internal',
    );
  }
  guarded.ended = true;
  // Readers of the journal look only in the memo, because the author may pass `carried` as any argument.
  gate.writeLast();
  const { gate: snapshot, memo } = gate.snapshot();
  return { carried: { writer: thisExecution(), gate: snapshot, config, context }, memo };
}

/** Rethrows a failure of the activity with the activity's own sentence, so that the workflow ends with it. */
async function withItsSentence(loading: Promise<GateConfig>): Promise<GateConfig> {
  try {
    return await loading;
  } catch (error) {
    throw error instanceof ActivityFailure && error.cause instanceof ApplicationFailure ? error.cause : error;
  }
}

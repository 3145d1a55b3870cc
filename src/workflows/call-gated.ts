/** One gated activity call of a workflow of one's own, from the wish to what it returns or throws. */
import type { ActivityInput, ActivityOptions } from '@temporalio/workflow';
import { ApplicationFailure, createEventGroup, isCancellation } from '@temporalio/workflow';
import type { Permit } from '../contract.ts';
import type { Settlement } from '../core/approval.ts';
import type { GatedDefinition } from '../core/gated-activity.ts';
import { gatedArguments, gatedValues } from '../core/gated-activity.ts';
import { markPermit } from '../core/permit-mark.ts';
import { sentences } from '../core/sentences.ts';
import type { Json, ToolCall } from '../core/tool-call.ts';
import { isUndecodable } from '../core/undecodable.ts';
import type { ApprovalGate } from './approval-gate.ts';
import { noteForModel } from './for-model.ts';
import { ranOf, refusal } from './gate-refusal.ts';

/** What a gated call needs of its gate. */
export type CallingGate = Pick<
  ApprovalGate,
  | 'admit'
  | 'approved'
  | 'drain'
  | 'finished'
  | 'hasNews'
  | 'ledger'
  | 'permit'
  | 'putBackJournal'
  | 'refuse'
  | 'sentence'
  | 'settlement'
  | 'until'
  | 'withdraw'
>;

export interface GatedCall {
  gate: CallingGate;
  activity: GatedDefinition;
  /** What reviewers read beside the call. */
  contextSummary: string;
  /** True once the workflow has ended or has handed everything to its next link. */
  hasEnded: () => boolean;
  /** A request that an earlier link opened for the same call, or undefined. */
  takeUp: (call: ToolCall) => { callId: string; requestId: string } | undefined;
}

interface Admitted {
  call: ToolCall;
  values: readonly (Json | undefined)[];
}

/**
 * Passes one call through the gate and schedules it with its permit in front of its own arguments. Throws what `refusal`
 * describes; everything else is what the activity itself returns or throws.
 */
export async function callGated(
  gated: GatedCall,
  input: ActivityInput,
  next: (input: ActivityInput) => Promise<unknown>,
): Promise<unknown> {
  const { gate, activity } = gated;
  // A revocation that came in the same activation binds the call.
  if (gate.hasNews) await gate.drain();
  const wished = wish(gated, input.args);
  const requestId = admit(gated, wished);
  // An allowed call is scheduled in this very step, in the order in which it was made.
  const { call, values } = requestId === undefined ? wished : await answered(gated, wished, requestId);
  const heartbeats = activity.heartbeatTimeoutMs !== null && input.options.heartbeatTimeout === undefined;
  const permit: Permit = { ...gate.permit(call, activity, requestId), ...(heartbeats ? { heartbeats } : {}) };
  let result: unknown;
  try {
    result = await next({
      ...input,
      args: [markPermit(permit), ...values],
      options: optionsOf(activity, input.options, permit),
      // Type hints go by position, and the permit moves all positions.
      ...(input.typeInfo === undefined ? {} : { typeInfo: { ...input.typeInfo, inputTypes: undefined } }),
    });
  } catch (error) {
    // Cancelled in the task that made it, it was never sent, nor were the entries in its permit; seen twice, they are one.
    if (isCancellation(error)) gate.putBackJournal(permit.journal ?? []);
    gate.finished(call.callId, ranOf(error));
    throw error;
  }
  const isKnown = !isUndecodable(result);
  gate.finished(call.callId, isKnown ? 'yes' : 'unknown');
  if (isKnown) return result;
  throw ApplicationFailure.nonRetryable(sentences.unknownOutcome, 'undecodable');
}

function wish({ gate, activity }: GatedCall, given: readonly unknown[]): Admitted {
  const { name } = activity;
  const read = gatedArguments(activity, given);
  // Each call that reaches the gate is counted once, so that the number is this call's own through all links.
  const callId = `call.${gate.ledger.counts.calls + 1}`;
  if ('args' in read) return { call: { callId, tool: name, args: read.args }, values: read.values };
  const content = sentences.failed(read.problem);
  gate.refuse(callId, name, content);
  throw refusal(content, { toolName: name, outcome: 'refused' }, 'arguments_invalid');
}

/** The id of the request that the call has to wait for; undefined if it is allowed. */
function admit({ gate, activity, contextSummary, takeUp }: GatedCall, wished: Admitted): string | undefined {
  const carried = takeUp(wished.call);
  if (carried !== undefined) {
    wished.call = { ...wished.call, callId: carried.callId };
    return carried.requestId;
  }
  const admission = gate.admit(wished.call, activity, { contextSummary });
  if (admission.kind === 'asked') return admission.requestId;
  if (admission.kind === 'allowed') return undefined;
  throw refusal(admission.content, { toolName: activity.name, outcome: admission.outcome });
}

/** Waits until the question is settled, and gives what is to run. */
async function answered(
  { gate, activity, hasEnded }: GatedCall,
  wished: Admitted,
  requestId: string,
): Promise<Admitted> {
  const settlement = await settled(gate, requestId);
  // Whoever left this call behind does not look at how it ends: a failure that nobody takes would repeat the task, and
  // what the next link takes up must not run in this one too.
  if (hasEnded()) await new Promise<never>(() => {});
  if (!settlement.runs) throw notRun(gate, activity, requestId, settlement);
  if (settlement.edited === undefined) return wished;
  const { notice = '', ...call } = gate.approved(wished.call, requestId);
  noteForModel(notice);
  const edited = gatedValues(activity, call.args);
  if ('values' in edited) return { call, values: edited.values };
  gate.finished(call.callId, 'no');
  throw refusal(sentences.failed(edited.problem), { toolName: activity.name, outcome: 'refused' }, 'arguments_invalid');
}

async function settled(gate: CallingGate, requestId: string): Promise<Settlement> {
  try {
    await gate.until(() => gate.settlement(requestId) !== undefined);
  } catch (error) {
    // Nobody waits for the answer any more: the request must not stay in the inbox.
    gate.withdraw(requestId, 'the call was cancelled');
    throw error;
  }
  return gate.settlement(requestId)!;
}

function notRun(
  gate: CallingGate,
  { name: toolName }: GatedDefinition,
  requestId: string,
  { outcome, reason, reviewerId, response }: Settlement,
): Error {
  return refusal(gate.sentence(requestId), {
    toolName,
    outcome,
    requestId,
    ...(reason === undefined ? {} : { reason }),
    ...(reviewerId === undefined ? {} : { reviewerId }),
    ...(response === undefined ? {} : { response }),
  });
}

/** One attempt, unless a repeat does no harm (I7); what else the author says stays. */
function optionsOf(activity: GatedDefinition, options: ActivityOptions, permit: Permit): ActivityOptions {
  const { callId, outcome, requestId, heartbeats } = permit;
  const repeatable = activity.idempotent || activity.risk === 'read_only';
  const group = requestId === undefined ? [] : [createEventGroup(`approval of ${activity.name}`, { id: requestId })];
  return {
    ...options,
    summary: options.summary ?? `${outcome}: ${callId}`,
    eventGroups: [...(options.eventGroups ?? []), ...group],
    ...(repeatable ? {} : { retry: { ...options.retry, maximumAttempts: 1 } }),
    ...(heartbeats === true ? { heartbeatTimeout: activity.heartbeatTimeoutMs! } : {}),
  };
}

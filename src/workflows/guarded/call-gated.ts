/** One gated activity call of a workflow of one's own, from the wish to what it returns or throws. */
import type { ActivityInput, ActivityOptions } from '@temporalio/workflow';
import { ActivityFailure, ApplicationFailure, createEventGroup, isCancellation } from '@temporalio/workflow';
import type { ChangedDefinition } from '../../activities/changed-definition.ts';
import type { Permit } from '../../contract.ts';
import type { ApprovalRequest, Settlement } from '../../core/ledger/approval.ts';
import { changesTooOften, definitionChange, mostDefinitionChanges } from '../../core/policy/definition-change.ts';
import type { GatedDefinition } from '../../core/policy/gated-activity.ts';
import { gatedArguments, gatedValues } from '../../core/policy/gated-activity.ts';
import { markPermit } from '../../core/base/permit-mark.ts';
import { sentences } from '../../core/ledger/sentences.ts';
import type { Json, ToolCall } from '../../core/base/tool-call.ts';
import { isRepeatable } from '../../core/base/tool-call.ts';
import { definitionChangedType } from '../../core/base/tool-failure.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import type { Gate } from '../gate/gate.ts';
import { noteForModel } from './for-model.ts';
import { ranOf, refusal } from './gate-refusal.ts';
import { changedDefinitionOf } from '../gate/changed-definition.ts';

/** What a gated call needs of its gate. */
export type CallingGate = Pick<
  Gate,
  | 'admit'
  | 'approved'
  | 'drain'
  | 'finished'
  | 'hasNews'
  | 'noteRuling'
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
  takeUp: (call: ToolCall) => { callId: string; requestId: string; definition: string } | undefined;
  /** Puts the activity as the worker has it now in the place of the one that the run recorded, and returns it. */
  renew: (present: GatedDefinition) => GatedDefinition;
}

interface Admitted {
  call: ToolCall;
  values: readonly (Json | undefined)[];
  /** Of a request that an earlier link opened: the definition that its reviewers saw. */
  definition?: string;
}

/** What a call that passed the gate before and was not started has left behind. */
interface Again {
  callId: string;
  contextSummary: string;
  replaces?: ApprovalRequest['replaces'];
}

type Next = (input: ActivityInput) => Promise<unknown>;

/**
 * Passes one call through the gate and schedules it with its permit in front of its own arguments. Throws what `refusal`
 * describes; everything else is what the activity itself returns or throws. A call whose activity has changed since it
 * was admitted goes through the gate again, about the activity as it is now (I8).
 */
export async function callGated(gated: GatedCall, input: ActivityInput, next: Next): Promise<unknown> {
  let [asked, given] = [gated, input.args as readonly unknown[]];
  let again: Again | undefined;
  for (let changes = 1; ; changes++) {
    const ended = await passGate(asked, { ...input, args: [...given] }, next, again);
    if (!('changed' in ended)) return ended.result;
    const { changed, admitted, permit } = ended;
    const { name: toolName } = asked.activity;
    if (changes > mostDefinitionChanges) {
      throw refusal(changesTooOften(toolName), { toolName, outcome: 'refused' }, definitionChangedType);
    }
    gated.gate.noteRuling();
    const activity = gated.renew(changed.definition);
    const { callId } = admitted.call;
    again = {
      callId: `${changes === 1 ? callId : callId.slice(0, callId.lastIndexOf('.'))}.${changes + 1}`,
      contextSummary: `${definitionChange(asked.activity, activity)} ${gated.contextSummary}`,
      ...(permit.requestId === undefined ? {} : { replaces: { requestId: permit.requestId, by: 'definition' } }),
    };
    given = admitted.values;
    asked = { ...gated, activity };
  }
}

type Ended = { result: unknown } | { changed: ChangedDefinition; admitted: Admitted; permit: Permit };

async function passGate(gated: GatedCall, input: ActivityInput, next: Next, again: Again | undefined): Promise<Ended> {
  const { gate, activity } = gated;
  // A revocation that came in the same activation binds the call.
  if (gate.hasNews) await gate.drain();
  const wished = wish(gated, input.args, again);
  const requestId = admit(gated, wished, again);
  // An allowed call is scheduled in this very step, in the order in which it was made.
  const admitted = requestId === undefined ? wished : await answered(gated, wished, requestId);
  // Between the answer and this step somebody may have handed the call to the next execution, which takes it up.
  if (requestId !== undefined && gated.hasEnded()) await new Promise<never>(() => {});
  const { call, values, definition = activity.definition } = admitted;
  const heartbeats = activity.heartbeatTimeoutMs !== null && input.options.heartbeatTimeout === undefined;
  const proof = gate.permit(call, { ...activity, definition }, requestId);
  const permit: Permit = { ...proof, ...(heartbeats ? { heartbeats } : {}) };
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
    const changed = changedDefinitionOf(error instanceof ActivityFailure ? error.cause : error, activity.name);
    if (changed === undefined || gated.hasEnded()) throw error;
    return { changed, admitted, permit };
  }
  const isKnown = !isUndecodable(result);
  gate.finished(call.callId, isKnown ? 'yes' : 'unknown');
  if (isKnown) return { result };
  throw ApplicationFailure.nonRetryable(sentences.unknownOutcome, 'undecodable');
}

function wish({ gate, activity }: GatedCall, given: readonly unknown[], again: Again | undefined): Admitted {
  const { name } = activity;
  const read = gatedArguments(activity, given);
  // Each call that reaches the gate is counted once, so that the number is this call's own through all links.
  const callId = again?.callId ?? `call.${gate.ledger.counts.calls + 1}`;
  if ('args' in read) return { call: { callId, tool: name, args: read.args }, values: read.values };
  const content = sentences.failed(read.problem);
  gate.refuse(callId, name, content);
  throw refusal(content, { toolName: name, outcome: 'refused' }, 'arguments_invalid');
}

/** The id of the request that the call has to wait for; undefined if it is allowed. */
function admit(
  { gate, activity, contextSummary, takeUp }: GatedCall,
  wished: Admitted,
  again?: Again,
): string | undefined {
  const carried = again === undefined ? takeUp(wished.call) : undefined;
  if (carried !== undefined) {
    wished.call = { ...wished.call, callId: carried.callId };
    wished.definition = carried.definition;
    return carried.requestId;
  }
  const admission = gate.admit(wished.call, activity, { contextSummary, ...again });
  if (admission.kind === 'asked') return admission.requestId;
  if (admission.kind === 'allowed') return undefined;
  gate.noteRuling();
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
  if ('values' in edited) return { ...wished, call, values: edited.values };
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
  const group = requestId === undefined ? [] : [createEventGroup(`approval of ${activity.name}`, { id: requestId })];
  return {
    ...options,
    summary: options.summary ?? `${outcome}: ${callId}`,
    eventGroups: [...(options.eventGroups ?? []), ...group],
    ...(isRepeatable(activity) ? {} : { retry: { ...options.retry, maximumAttempts: 1 } }),
    ...(heartbeats === true ? { heartbeatTimeout: activity.heartbeatTimeoutMs! } : {}),
  };
}

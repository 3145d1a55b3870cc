/** One gated activity call of a custom workflow, from the request to its result or error. */
import {
  ActivityFailure,
  ApplicationFailure,
  createEventGroup,
  isCancellation,
  CancellationScope,
  type ActivityInput,
  type ActivityOptions,
} from '@temporalio/workflow';
import type { ChangedDefinition } from '../../activities/call-tool.ts';
import type { Permit } from '../../contract.ts';
import type { Approver } from '../../core/ledger/approved-by.ts';
import type { ApprovalRequest, Settlement } from '../../core/ledger/approval.ts';
import { changesTooOften, definitionChange, mostDefinitionChanges } from '../../core/policy/definition-change.ts';
import { gatedArguments, gatedValues, type GatedDefinition } from '../../core/policy/gated-activity.ts';
import { byteLength, fitting } from '../../core/base/text.ts';
import { Permitted } from '../../core/base/permit-metadata.ts';
import { sentences } from '../../core/ledger/sentences.ts';
import {
  isRepeatable,
  definitionChangedType,
  payloadNotKeptType,
  type Json,
  type ToolCall,
} from '../../core/base/tool-call.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import type { Advice } from '../../core/policy/advice.ts';
import type { Consultation } from '../gate/consult-advisors.ts';
import type { Gate } from '../gate/gate.ts';
import { revokedIn } from '../gate/approver-checks.ts';
import { ranOf, refusal, gateRefusal } from './gate-refusal.ts';
import { changedDefinitionOf } from '../gate/admit-call.ts';
import { runLocal } from '../sandbox/run-local.ts';

/** The most bytes of an argument with journal entries. Larger payloads may be stored outside history. */
const smallBytes = 32_000;

/** A call, from the moment at which it is made until its caller receives the result or the error. */
export interface CallUnderWay {
  /** The request that the call waits for; undefined while it waits for something else. */
  waitsFor?: string;
}

export interface GatedCall {
  gate: Gate;
  /** All calls under way. This one stays among them until its caller receives the result or the error. */
  underWay: Set<CallUnderWay>;
  activity: GatedDefinition;
  contextSummary: string;
  /** True once the workflow has ended or has handed everything to its next execution. */
  hasEnded: () => boolean;
  /** Takes the request that an earlier execution opened for the same call; undefined if there is none. */
  takeUp: (call: ToolCall) => { callId: string; requestId: string; definition: string } | undefined;
  /** Consults the advisors of a call. Rejects if it is cancelled. */
  consult: (call: ToolCall, consultation: Consultation) => Promise<Advice[]>;
  /** Replaces the activity's recorded definition with the one that the worker has now, and returns the new one. */
  renew: (present: GatedDefinition) => GatedDefinition;
}

interface Admitted {
  call: ToolCall;
  values: readonly (Json | undefined)[];
  approvedBy?: Approver[];
  /** For a request that an earlier execution opened: the definition that its reviewers saw. */
  definition?: string;
}

/** What a call takes along when it passes the gate again, because its activity has changed. */
interface Again {
  callId: string;
  contextSummary: string;
  replaces?: ApprovalRequest['replaces'];
}

type Next = (input: ActivityInput) => Promise<unknown>;

/**
 * Passes one call through the gate and schedules it, with its permit beside its arguments. Throws the gate's `refusal`;
 * otherwise returns or throws what the activity does. If the activity has changed since the call was admitted, the call
 * passes the gate again, with the present definition.
 */
export async function callGated(gated: GatedCall, input: ActivityInput, next: Next): Promise<unknown> {
  const thisCall: CallUnderWay = {};
  gated.underWay.add(thisCall);
  // Do not wrap this in another async function: it would resume the caller later than recorded histories do.
  try {
    let [asked, given] = [gated, input.args as readonly unknown[]];
    let again: Again | undefined;
    for (let changes = 1; ; changes++) {
      const ended = await passGate(asked, thisCall, { ...input, args: [...given] }, next, again);
      if (!('changed' in ended)) return ended.result;
      const { changed, admitted, permit } = ended;
      const { name: toolName } = asked.activity;
      if (changes > mostDefinitionChanges) {
        throw refusal(changesTooOften(toolName), { toolName, outcome: 'refused' }, definitionChangedType);
      }
      gated.gate.noteRuling();
      const activity = gated.renew(changed.definition);
      again = {
        callId: `${changes === 1 ? permit.callId : withoutChange(permit.callId)}.${changes + 1}`,
        contextSummary: `${definitionChange(asked.activity, activity)} ${gated.contextSummary}`,
        replaces: permit.requestId === undefined ? undefined : { requestId: permit.requestId, by: 'definition' },
      };
      given = admitted.values;
      asked = { ...gated, activity };
    }
  } finally {
    gated.underWay.delete(thisCall);
  }
}

/** Returns the call id without the number that the last change of the activity has appended. */
function withoutChange(callId: string): string {
  return callId.slice(0, callId.lastIndexOf('.'));
}

type Ended = { result: unknown } | { changed: ChangedDefinition; admitted: Admitted; permit: Permit };

/** Lets a call pass the gate, and runs its activity with a permit. Throws the denial of a call that may not run. */
async function passGate(
  gated: GatedCall,
  thisCall: CallUnderWay,
  input: ActivityInput,
  next: Next,
  again: Again | undefined,
): Promise<Ended> {
  const { gate, activity } = gated;
  // Apply the messages of this activation first: a revocation among them binds the call.
  if (gate.hasChanges) await gate.drain();
  let requested = readCall(gated, input.args, again);
  let admission = admit(gated, requested, again);
  if (typeof admission === 'object') {
    const advice = await gated.consult(requested.call, admission);
    if (gated.hasEnded()) await new Promise<never>(() => {});
    if (gate.hasChanges) await gate.drain();
    gate.noteRuling();
    // Other calls may have taken this call's id while its advisors answered, so read the call again for a new id.
    requested = readCall(gated, input.args, again);
    admission = admit(gated, requested, again, advice);
  }
  // A call with advice needs no further consultation, so this is a request, or undefined for an allowed call.
  const requestId = admission as string | undefined;
  // Do not await for an allowed call, so that calls are scheduled in the order in which they are made.
  const admitted = requestId === undefined ? requested : await approvedCall(gated, thisCall, requested, requestId);
  // Never return if the next execution takes the call up: this one must not run it, too.
  if (requestId !== undefined && gated.hasEnded()) await new Promise<never>(() => {});
  const { call } = admitted;
  // If the call has no arguments, an empty first argument carries the permit.
  const [first, ...others] = admitted.values;
  const permit = permitBeside(first, gated, input.options, admitted, requestId);
  let result: unknown;
  try {
    result = await next({
      ...input,
      args: [new Permitted(first, permit), ...others],
      options: optionsOf(activity, input.options, permit),
      // Type hints are for the author's values; these are JSON, and the first one carries the permit.
      typeInfo: input.typeInfo && { ...input.typeInfo, inputTypes: undefined },
    });
  } catch (error) {
    // The activity may never have reached the server, so put its journal entries back. Readers drop repeated entries.
    if (!(error instanceof ActivityFailure) || isCancellation(error)) gate.putBackJournal(permit.journal ?? []);
    gate.finished(call.callId, ranOf(error));
    gate.obey(revokedIn(error));
    const changed = changedDefinitionOf(error instanceof ActivityFailure ? error.cause : error, activity.name);
    if (changed === undefined || gated.hasEnded()) throw error;
    return { changed, admitted, permit };
  }
  const isKnown = !isUndecodable(result);
  gate.finished(call.callId, isKnown ? 'yes' : 'unknown');
  if (isKnown) return { result };
  throw ApplicationFailure.nonRetryable(sentences.unknownOutcome, 'undecodable');
}

/** Creates the permit, with the journal entries that fit into one small payload with `first`. Puts the rest back. */
function permitBeside(
  first: Json | undefined,
  { gate, activity }: GatedCall,
  options: ActivityOptions,
  { call, approvedBy, definition = activity.definition }: Admitted,
  requestId: string | undefined,
): Permit {
  // An activity whose caller sets a heartbeat time-out of its own sends its heartbeats itself.
  const heartbeats = activity.heartbeatTimeoutMs !== null && options.heartbeatTimeout === undefined;
  const permit = gate.permit(call, { ...activity, definition }, { requestId, approvedBy });
  const { journal = [] } = permit;
  const kept = fitting(journal, smallBytes - byteLength(JSON.stringify(first ?? null)));
  gate.putBackJournal(journal.slice(kept.length));
  return { ...permit, journal: kept, heartbeats: heartbeats || undefined };
}

/** Reads the arguments of a call, and gives it an id. Throws for arguments that cannot be shown. */
function readCall({ gate, activity }: GatedCall, given: readonly unknown[], again: Again | undefined): Admitted {
  const { name } = activity;
  const read = gatedArguments(activity, given);
  // Each call that reaches the gate is counted once, so the number is unique across all executions.
  const callId = again?.callId ?? `call.${gate.ledger.counts.calls + 1}`;
  if ('args' in read) return { call: { callId, tool: name, args: read.args }, values: read.values };
  const content = sentences.failed(read.problem);
  gate.refuse(callId, name, content);
  throw refusal(content, { toolName: name, outcome: 'refused' }, 'arguments_invalid');
}

/**
 * Returns the request or the consultation for which the call must wait; undefined if the call is allowed. Throws for a
 * denied call. Adds to `requested` what an earlier execution, or the grant that allows the call, says about it.
 */
function admit(
  { gate, activity, contextSummary, takeUp }: GatedCall,
  requested: Admitted,
  again?: Again,
  advice?: readonly Advice[],
): string | Consultation | undefined {
  const carried = again === undefined && advice === undefined ? takeUp(requested.call) : undefined;
  if (carried !== undefined) {
    requested.call = { ...requested.call, callId: carried.callId };
    requested.definition = carried.definition;
    return carried.requestId;
  }
  const admission = gate.admit(requested.call, activity, { contextSummary, advice, ...again });
  if (admission.kind === 'asked') return admission.requestId;
  if (admission.kind === 'allowed') {
    requested.approvedBy = admission.approvedBy;
    return undefined;
  }
  if (admission.kind === 'advised') return admission.consultation;
  gate.noteRuling();
  throw refusal(admission.content, { toolName: activity.name, outcome: admission.outcome });
}

/** Waits for the settlement, and returns the call to run, with any edit. Throws if the call may not run. */
async function approvedCall(
  { gate, activity, hasEnded }: GatedCall,
  thisCall: CallUnderWay,
  requested: Admitted,
  requestId: string,
): Promise<Admitted> {
  thisCall.waitsFor = requestId;
  const settlement = await settlementOf(gate, requestId);
  // A reviewer's response starts no activity, so no second gate checks whether the reviewer still counts.
  const approvedBy = settlement.outcome === 'responded' ? gate.approversOf(requestId) : [];
  const check = gate.revocationOf(approvedBy);
  const problem = check === undefined ? undefined : await check;
  thisCall.waitsFor = undefined;
  // After the end of the workflow, never return: an error would have no handler, and the next execution takes up calls.
  if (hasEnded()) await new Promise<never>(() => {});
  if (problem !== undefined) {
    gate.finished(requested.call.callId, 'no', problem);
    gate.noteRuling();
    const toolName = activity.name;
    throw refusal(sentences.failed(problem), { toolName, outcome: 'refused', requestId, reason: problem });
  }
  if (!settlement.runs) {
    const { outcome, reason, reviewerId, response } = settlement;
    const facts = { toolName: activity.name, outcome, requestId, reason, reviewerId, response };
    throw refusal(gate.sentence(requestId), facts);
  }
  const { notice, ...call } = gate.approved(requested.call, requestId);
  if (notice !== undefined) noteForModel(notice);
  if (settlement.edited === undefined) return requested;
  return { ...requested, call, values: editedValues(gate, activity, call) };
}

/** Returns the values of a call with edited arguments. Throws if they do not have the declared names. */
function editedValues(gate: Gate, activity: GatedDefinition, { callId, args }: ToolCall): Admitted['values'] {
  const edited = gatedValues(activity, args);
  if ('values' in edited) return edited.values;
  gate.finished(callId, 'no');
  throw refusal(sentences.failed(edited.problem), { toolName: activity.name, outcome: 'refused' }, 'arguments_invalid');
}

/** Waits for the settlement of a request. If the caller is cancelled, withdraws the request and rejects. */
async function settlementOf(gate: Gate, requestId: string): Promise<Settlement> {
  try {
    await gate.until(() => gate.settlement(requestId) !== undefined);
  } catch (error) {
    // The caller no longer waits for the answer, so the request must not stay in the inbox.
    gate.withdraw(requestId, 'the call was cancelled');
    throw error;
  }
  return gate.settlement(requestId)!;
}

/** Limits a call to one attempt unless repeating it does no harm (I7). Adds heartbeats, and texts for Temporal's UI. */
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

const noticesOfRun = (): Map<CancellationScope, string[]> => runLocal('notices', () => new Map());

/**
 * Makes a call for a model and returns the text for the model: the result, after a notice if a reviewer changed the
 * arguments or gave a reason for an approval; or a sentence if the gate refused the call, the call failed, its outcome
 * is unknown, or it ran and its result cannot be written. Rethrows a cancellation, and any error that is neither a
 * refusal of the gate nor an `ActivityFailure`.
 *
 * @example
 * ```ts
 * import { proxyActivities } from '@temporalio/workflow';
 * import { ApprovalGate, forModel } from 'countersign/workflow';
 *
 * const activities = proxyActivities<{ refund(orderId: string): Promise<string> }>({ startToCloseTimeout: '1 minute' });
 *
 * export async function refundForModel(orderId: string): Promise<string> {
 *   const gate = new ApprovalGate();
 *   const { refund } = gate.guard(activities, { refund: { risk: 'destructive', arguments: ['orderId'] } });
 *   await gate.load({ agent: 'returns' });
 *   return forModel(() => refund(orderId));
 * }
 * ```
 */
export async function forModel<Result>(call: () => Promise<Result>): Promise<Result | string> {
  const scope = new CancellationScope();
  const ownNotices: string[] = [];
  const notices = noticesOfRun();
  notices.set(scope, ownNotices);
  try {
    const result = await scope.run(call);
    return ownNotices.length === 0 ? result : [...ownNotices, textOf(result)].join('\n');
  } catch (error) {
    if (gateRefusal(error) !== undefined) return (error as Error).message;
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    // The notices quote reviewers. If the policy has revoked them since, leave the notices out.
    const shownNotices = revokedIn(error) === undefined ? ownNotices : [];
    return [...shownNotices, sentenceOf(error)].join('\n');
  } finally {
    notices.delete(scope);
  }
}

export function noteForModel(notice: string): void {
  const notices = noticesOfRun();
  let scope: CancellationScope | undefined = CancellationScope.current();
  while (scope !== undefined && !notices.has(scope)) scope = scope.parent;
  if (scope !== undefined) notices.get(scope)!.push(notice);
}

function textOf(result: unknown): string {
  return typeof result === 'string' ? result : (JSON.stringify(result) ?? '');
}

function sentenceOf(error: ActivityFailure): string {
  const { cause } = error;
  if (ranOf(error) === 'unknown') return sentences.unknownOutcome;
  const isNotKept = cause instanceof ApplicationFailure && cause.type === payloadNotKeptType;
  if (isNotKept) return sentences.resultNotGiven(cause.message);
  return sentences.failed(cause instanceof Error ? cause.message : error.message);
}

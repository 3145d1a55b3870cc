/** Builds the events of messages, tool calls and results from activities and nested runs. */
import type { JournalEntry } from '../core/ledger/journal-entry.ts';
import { stopDigest } from '../core/messages/control.ts';
import { sentences } from '../core/ledger/sentences.ts';
import { byteLength } from '../core/base/text.ts';
import { inlineLimits } from '../core/base/size-limits.ts';
import type { Json } from '../core/base/tool-call.ts';
import { toldText } from '../core/base/user-files.ts';
import { isUndecodable } from '../core/base/undecodable.ts';
import type { ApprovalEvents } from './approval-events.ts';
import type { Activity, ActivityEnd, ClaimedPermit, Fact, Started } from './history-event.ts';
import { problemOf } from './history-event.ts';
import { readModelInput, readModelTurn, readRunInput, type ModelMessage } from './read-payloads.ts';
import type { EventDraft, RunItem } from './run-event.ts';
import { type KnownCall, type RunFacts, toolEnd, type RecordedToolEnd } from './run-facts.ts';

/** A model call that has been scheduled and has not ended. */
export interface PendingModelCall {
  turn: number;
  activityId: string;
}

export class TranscriptEvents {
  readonly #facts: RunFacts;
  readonly #outcomes: ApprovalEvents['outcomes'];
  /** The model call that has not ended, and the id of the event that scheduled it. */
  #model: { scheduledEventId: number; call: PendingModelCall } | undefined;
  /** How many messages of the transcript already have events. Undefined if the beginning is unknown. */
  #known: number | undefined;
  #agentName: string | undefined;
  #turn = 0;
  /** False for a custom workflow, which has no model. */
  #isAgentRun = true;
  #isSession = false;

  constructor(facts: RunFacts, outcomes: ApprovalEvents['outcomes']) {
    this.#facts = facts;
    this.#outcomes = outcomes;
  }

  get pendingModelCall(): PendingModelCall | undefined {
    return this.#model?.call;
  }

  /** Returns events for turns that the user stopped. In a custom workflow: for calls that the gate itself answered. */
  journaled(entries: readonly JournalEntry[]): EventDraft[] {
    if (this.#isAgentRun) {
      const stops = entries.filter(({ kind, digest }) => kind === 'message' && digest === stopDigest);
      return stops.map(() => itemEvent({ type: 'turn_ended', turn: this.#turn, stopped: true }));
    }
    // Agent runs clear the outcomes with each model call. A custom workflow calls no model, so clear them here.
    this.#outcomes.clear();
    return entries.flatMap(({ kind, callId = '', toolName = '', outcome, reason }) => {
      if (kind !== 'ruling' || outcome === 'allowed' || this.#facts.calls.has(callId)) return [];
      const content = outcome === 'denied_by_policy' ? sentences.deniedByPolicy(toolName, reason) : (reason ?? '');
      return [
        itemEvent({ type: 'tool_call', callId, toolName }),
        itemEvent({ type: 'tool_result', callId, toolName, content, isError: true, ran: 'no' }),
      ];
    });
  }

  /** Returns the messages with which the run was started. A continued execution only updates the facts. */
  started({ isAgentRun, before, input }: Started): EventDraft[] {
    this.#isAgentRun = isAgentRun;
    this.#model = undefined;
    const run = this.#isAgentRun ? readRunInput(input) : undefined;
    if (run === undefined) return [];
    const { agent, messages, lineage, metadata, callerUserId, isSession } = run;
    this.#isSession = isSession;
    Object.assign(this.#facts, { lineage, metadata, callerUserId });
    if (before !== undefined) return [];
    this.#agentName = agent;
    this.#known = messages.length;
    return messages.flatMap((each) => this.#message(each));
  }

  scheduled(activity: Activity): EventDraft[] {
    if (activity.kind === 'model') return this.#modelScheduled(activity);
    return activity.kind === 'tool' ? this.#toolScheduled(activity) : [];
  }

  /** Returns the events of a model call's input: the new messages, the results that the model gets, and a handoff. */
  #modelScheduled({ scheduledEventId, activityId, input: given }: Of<'model'>): EventDraft[] {
    const input = readModelInput(given);
    const { agent: agentName = this.#agentName ?? '', turn = 0, messages } = input ?? {};
    this.#model = { scheduledEventId, call: { turn, activityId } };
    this.#turn = turn;
    // The messages include the results of the previous turn, so read them before its calls are deleted.
    const drafts = messages === undefined ? [] : this.#newMessages(messages);
    this.#facts.calls.clear();
    // An input that cannot be read may redact, so assume that it does.
    Object.assign(this.#facts, { redacts: input?.redacts ?? true, mayHideMore: false });
    this.#outcomes.clear();
    const from = this.#agentName;
    this.#agentName = agentName;
    if (from === undefined || from === agentName) return drafts;
    return [...drafts, itemEvent({ type: 'handoff', from, to: agentName })];
  }

  /** Returns events for new messages. Results in them name no call, so they are matched with calls by their order. */
  #newMessages(messages: readonly ModelMessage[]): EventDraft[] {
    const fresh = messages.slice(this.#known ?? messages.length);
    this.#known = messages.length;
    const answered = [...this.#facts.calls.values()];
    return fresh.flatMap((message): EventDraft[] => {
      if (message.role === 'user') return this.#message(message);
      const call = message.role === 'tool' ? answered.shift() : undefined;
      if (call === undefined) return [];
      const { ran = 'no', resultOf } = this.#outcomes.get(call.callId) ?? {};
      return this.#answer(call, { content: message.content, isError: message.isError, ran, resultOf });
    });
  }

  /** Returns the model's text and its calls. In a session, an answer without calls also ends the turn. */
  #modelEnded({ turn }: PendingModelCall, result: unknown): EventDraft[] {
    const answer = readModelTurn(result);
    if (answer === undefined) return [];
    const agentName = this.#agentName ?? '';
    const { text, contextSummary, calls, finish, structuredOutput, outputProblem } = answer;
    for (const [index, { toolName, arguments: args, assessment, redaction }] of calls.entries()) {
      const callId = `${turn}.${index + 1}`;
      const call: KnownCall = { callId, toolName, arguments: args, isAnswered: false };
      const more = { ...(assessment && { assessment }), ...(redaction && { redaction }) };
      this.#facts.calls.set(callId, { ...call, ...more });
    }
    const hasText = text.trim() !== '';
    if (hasText) this.#facts.contextSummary = text;
    if (contextSummary !== undefined) this.#facts.contextSummary = contextSummary;
    const more = {
      ...(finish && { finish }),
      ...(structuredOutput && { structuredOutput }),
      ...(outputProblem !== undefined && { outputProblem }),
    };
    const isTurnEnd = this.#isSession && calls.length === 0 && outputProblem === undefined;
    return [
      ...(hasText ? [itemEvent({ type: 'message', role: 'assistant', content: text, agentName, turn, ...more })] : []),
      ...[...this.#facts.calls.values()].map(({ callId, toolName, arguments: args }) =>
        itemEvent({ type: 'tool_call', callId, toolName, arguments: args }),
      ),
      ...(isTurnEnd ? [itemEvent({ type: 'turn_ended', turn })] : []),
    ];
  }

  /** Returns the event of a new call. For a known call, only notes the arguments if they are not the model's own. */
  #toolScheduled({ name: toolName, permit: { callId }, values }: Of<'tool'>): EventDraft[] {
    const given = this.#isAgentRun ? values[0] : values;
    const args = isUndecodable(given) ? undefined : (given as Json);
    const known = this.#facts.calls.get(callId);
    if (known !== undefined) {
      if (args !== undefined && !isSame(args, known.arguments)) known.ran = args;
      return [];
    }
    // A new call is of a custom workflow, or of a turn whose events the server no longer has.
    this.#facts.calls.set(callId, { callId, toolName, arguments: args ?? null, isAnswered: false });
    return [itemEvent({ type: 'tool_call', callId, toolName, ...(args !== undefined && { arguments: args }) })];
  }

  /** Returns the events of an activity or nested run that has ended. New policies add none, but may hide more. */
  ended({ activity, state, end }: Extract<Fact, { kind: 'ended' }>): EventDraft[] {
    switch (activity.kind) {
      case 'config':
      case 'policy':
      case 'parents':
        if ('result' in end) this.#facts.mayHideMore = true;
        return [];
      case 'model': {
        const { scheduledEventId, call } = this.#model ?? {};
        if (call === undefined || scheduledEventId !== activity.scheduledEventId) return [];
        this.#model = undefined;
        if ('result' in end) return this.#modelEnded(call, end.result);
        // Only a session goes on after a failed model call; other runs end, and their last event has the failure.
        if (!this.#isSession || state === 'cancelled') return [];
        return [itemEvent({ type: 'turn_ended', turn: call.turn, failure: problemOf(end.failure) })];
      }
      case 'tool':
        return this.#toolEnded(activity.permit, end);
      case 'nested':
        return 'result' in end ? this.#nestedCompleted(activity, end.result) : [];
      case 'edit':
      case 'verified':
      case 'other':
        return [];
    }
  }

  /** Returns the result of a call whose activity has ended, unless the run may start the call again. */
  #toolEnded({ callId, reconciles }: ClaimedPermit, end: ActivityEnd): EventDraft[] {
    const call = this.#facts.calls.get(callId);
    const ended = toolEnd(end);
    if (call !== undefined && ended?.ran === 'unknown' && reconciles === true) call.mayHaveRun = true;
    // If the run may start the call again, the input of the next model call will have the result.
    const isOpen = ended === undefined || (call?.mayHaveRun === true && ended.ran !== 'yes');
    const drafts = call === undefined || isOpen ? [] : this.#answer(call, ended);
    // Agent runs delete their calls with each model call. A custom workflow calls no model, so delete the call here.
    if (!this.#isAgentRun) this.#facts.calls.delete(callId);
    return drafts;
  }

  attempted(activity: Activity): EventDraft[] {
    if (activity.kind !== 'nested' || !activity.isAgentRun) return [];
    const { workflowId } = activity;
    return [itemEvent({ type: 'nested_run', callId: callIdOf(activity), workflowId })];
  }

  /** Returns the result of a completed nested run. If it ended otherwise, the input of the next model call says how. */
  #nestedCompleted(nested: Of<'nested'>, result: unknown): EventDraft[] {
    const { status, output } = (isUndecodable(result) ? {} : (result ?? {})) as { status?: unknown; output?: unknown };
    const call = nested.isAgentRun ? this.#facts.calls.get(callIdOf(nested)) : undefined;
    if (call === undefined || status !== 'completed' || typeof output !== 'string') return [];
    if (byteLength(output) > inlineLimits.resultBytes) return [];
    return this.#answer(call, { content: output, isError: false, ran: 'yes' });
  }

  /** Returns the event of a call's result, once for each call: the input of the next model call repeats the result. */
  #answer(call: KnownCall, { content, isError, ran, withheld, resultOf }: RecordedToolEnd): EventDraft[] {
    if (call.isAnswered) return [];
    call.isAnswered = true;
    const { callId, toolName } = call;
    const more = {
      ...(withheld && { withheld }),
      ...(resultOf !== undefined && { resultOf }),
      ...(call.ran !== undefined && { arguments: call.ran }),
    };
    return [itemEvent({ type: 'tool_result', callId, toolName, content, isError, ran, ...more })];
  }

  #message({ role, content, files = [], messageId }: ModelMessage): EventDraft[] {
    if (role === 'tool') return [];
    if (role === 'user') this.#facts.contextSummary = toldText(content, files);
    const more = { ...(files.length > 0 && { files }), ...(messageId !== undefined && { messageId }) };
    return content.trim() === '' && files.length === 0 ? [] : [itemEvent({ type: 'message', role, content, ...more })];
  }
}

type Of<Kind extends Activity['kind']> = Extract<Activity, { kind: Kind }>;

/** Returns the call id, the last part of a nested run's id `RUN/CALL`. */
function callIdOf({ workflowId }: Of<'nested'>): string {
  return workflowId.slice(workflowId.lastIndexOf('/') + 1);
}

function itemEvent(of: RunItem): EventDraft {
  return { type: 'RunItemEvent', item: of };
}

/** Compares JSON texts. Both values were parsed from JSON, so equal ones have their members in the same order. */
function isSame(one: Json, other: Json): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

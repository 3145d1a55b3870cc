/** Makes the events of messages, tool calls and their results from the activities and nested runs of a run's history. */
import type { JournalEntry } from '../core/ledger/journal-entry.ts';
import { sentences } from '../core/ledger/sentences.ts';
import { byteLength } from '../core/base/byte-length.ts';
import { inlineLimits } from '../core/base/size-limits.ts';
import type { Json } from '../core/base/tool-call.ts';
import { isUndecodable } from '../core/base/undecodable.ts';
import type { ApprovalEvents } from './approval-events.ts';
import type { Activity, ActivityEnd, Fact, Started } from './history-event.ts';
import { readModelInput, readModelTurn, readRunInput, type ModelMessage } from './read-payloads.ts';
import type { EventDraft, RunItem } from './run-event.ts';
import { type KnownCall, type RunFacts } from './run-facts.ts';
import { toolEnd, type RecordedToolEnd } from './tool-end.ts';

/** A model call that has been scheduled and has not ended. */
export interface PendingModelCall {
  turn: number;
  /** Temporal's id of the activity. */
  activityId: string;
}

export class TranscriptEvents {
  readonly #facts: RunFacts;
  readonly #outcomes: ApprovalEvents['outcomes'];
  /** The model call in flight, and the event that scheduled it. */
  #model: { scheduledEventId: number; call: PendingModelCall } | undefined;
  /** The messages of the transcript that have their events; undefined if its beginning is unknown. */
  #known: number | undefined;
  #agentName: string | undefined;
  /** False for a workflow of one's own, whose calls no model asked for. */
  #isAgentRun = true;

  constructor(facts: RunFacts, outcomes: ApprovalEvents['outcomes']) {
    this.#facts = facts;
    this.#outcomes = outcomes;
  }

  /** The model call in flight. */
  get pendingModelCall(): PendingModelCall | undefined {
    return this.#model?.call;
  }

  /** Calls of a workflow of one's own that were answered without an activity. */
  rulings(entries: readonly JournalEntry[]): EventDraft[] {
    if (this.#isAgentRun) return [];
    this.#outcomes.clear();
    return entries.flatMap(({ kind, callId = '', toolName = '', outcome, reason }) => {
      if (kind !== 'ruling' || outcome === 'allowed' || this.#facts.calls.has(callId)) return [];
      const content = outcome === 'denied_by_policy' ? sentences.deniedByPolicy(toolName, reason) : (reason ?? '');
      return [
        item({ type: 'tool_call', callId, toolName }),
        item({ type: 'tool_result', callId, toolName, content, isError: true, ran: 'no' }),
      ];
    });
  }

  started({ isAgentRun, before, input }: Started): EventDraft[] {
    this.#isAgentRun = isAgentRun;
    this.#model = undefined;
    const run = this.#isAgentRun ? readRunInput(input) : undefined;
    if (run === undefined) return [];
    const { agent, messages, lineage, metadata, callerUserId } = run;
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

  /** The input of a model call holds the transcript so far: what the model is told of each call, word for word. */
  #modelScheduled({ scheduledEventId, activityId, input: given }: Of<'model'>): EventDraft[] {
    const input = readModelInput(given);
    const { agent: agentName = this.#agentName ?? '', turn = 0, messages } = input ?? {};
    this.#model = { scheduledEventId, call: { turn, activityId } };
    const drafts = messages === undefined ? [] : this.#fresh(messages);
    this.#facts.calls.clear();
    Object.assign(this.#facts, { redacts: input?.redacts ?? true, mayHideMore: false });
    this.#outcomes.clear();
    const from = this.#agentName;
    this.#agentName = agentName;
    if (from === undefined || from === agentName) return drafts;
    return [...drafts, item({ type: 'handoff', from, to: agentName })];
  }

  #fresh(messages: readonly ModelMessage[]): EventDraft[] {
    const fresh = messages.slice(this.#known ?? messages.length);
    this.#known = messages.length;
    const answered = [...this.#facts.calls.values()];
    return fresh.flatMap((message): EventDraft[] => {
      if (message.role === 'user') return this.#message(message);
      const call = message.role === 'tool' ? answered.shift() : undefined;
      if (call === undefined) return [];
      const ran = this.#outcomes.get(call.callId)?.ran ?? 'no';
      return this.#answer(call, { content: message.content, isError: message.isError, ran });
    });
  }

  #modelEnded({ turn }: PendingModelCall, result: unknown): EventDraft[] {
    const answer = readModelTurn(result);
    if (answer === undefined) return [];
    const agentName = this.#agentName ?? '';
    const { text, contextSummary, calls } = answer;
    for (const [index, { toolName, arguments: args, assessment, redaction }] of calls.entries()) {
      const callId = `${turn}.${index + 1}`;
      const call: KnownCall = { callId, toolName, arguments: args, isAnswered: false };
      const more = { ...(assessment && { assessment }), ...(redaction && { redaction }) };
      this.#facts.calls.set(callId, { ...call, ...more });
    }
    const said = text.trim() !== '';
    if (said) this.#facts.contextSummary = text;
    if (contextSummary !== undefined) this.#facts.contextSummary = contextSummary;
    return [
      ...(said ? [item({ type: 'message', role: 'assistant', content: text, agentName, turn })] : []),
      ...[...this.#facts.calls.values()].map(({ callId, toolName, arguments: args }) =>
        item({ type: 'tool_call', callId, toolName, arguments: args }),
      ),
    ];
  }

  #toolScheduled({ name: toolName, permit: { callId }, values }: Of<'tool'>): EventDraft[] {
    const given = this.#isAgentRun ? values[0] : values;
    const args = isUndecodable(given) ? undefined : (given as Json);
    const known = this.#facts.calls.get(callId);
    if (known !== undefined) {
      if (args !== undefined && !isSame(args, known.arguments)) known.ran = args;
      return [];
    }
    // The call of a workflow of one's own, or one of a turn that the server no longer has.
    this.#facts.calls.set(callId, { callId, toolName, arguments: args ?? null, isAnswered: false });
    return [item({ type: 'tool_call', callId, toolName, ...(args !== undefined && { arguments: args }) })];
  }

  ended({ activity, end }: Extract<Fact, { kind: 'ended' }>): EventDraft[] {
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
        return 'result' in end ? this.#modelEnded(call, end.result) : [];
      }
      case 'tool':
        return this.#toolEnded(activity.permit.callId, end);
      case 'nested':
        return 'result' in end ? this.#nestedCompleted(activity, end.result) : [];
      case 'edit':
      case 'verified':
      case 'other':
        return [];
    }
  }

  #toolEnded(callId: string, end: ActivityEnd): EventDraft[] {
    const call = this.#facts.calls.get(callId);
    const ended = toolEnd(end);
    const drafts = call === undefined || ended === undefined ? [] : this.#answer(call, ended);
    // No turn ends the calls of a workflow of one's own.
    if (!this.#isAgentRun) this.#facts.calls.delete(callId);
    return drafts;
  }

  attempted(activity: Activity): EventDraft[] {
    if (activity.kind !== 'nested' || !activity.isAgentRun) return [];
    const { workflowId } = activity;
    return [item({ type: 'nested_run', callId: callIdOf(activity), workflowId })];
  }

  /** Of a nested run that ended otherwise, the input of the next model call says what the model is told. */
  #nestedCompleted(nested: Of<'nested'>, result: unknown): EventDraft[] {
    const { status, output } = (isUndecodable(result) ? {} : (result ?? {})) as { status?: unknown; output?: unknown };
    const call = nested.isAgentRun ? this.#facts.calls.get(callIdOf(nested)) : undefined;
    if (call === undefined || status !== 'completed' || typeof output !== 'string') return [];
    if (byteLength(output) > inlineLimits.resultBytes) return [];
    return this.#answer(call, { content: output, isError: false, ran: 'yes' });
  }

  #answer(call: KnownCall, { content, isError, ran }: RecordedToolEnd): EventDraft[] {
    if (call.isAnswered) return [];
    call.isAnswered = true;
    const { callId, toolName } = call;
    return [
      item({
        type: 'tool_result',
        callId,
        toolName,
        content,
        isError,
        ran,
        ...(call.ran !== undefined && { arguments: call.ran }),
      }),
    ];
  }

  #message({ role, content }: ModelMessage): EventDraft[] {
    if (role === 'tool') return [];
    if (role === 'user') this.#facts.contextSummary = content;
    return content.trim() === '' ? [] : [item({ type: 'message', role, content })];
  }
}

type Of<Kind extends Activity['kind']> = Extract<Activity, { kind: Kind }>;

/** The id of a nested run is `RUN/CALL`. */
function callIdOf({ workflowId }: Of<'nested'>): string {
  return workflowId.slice(workflowId.lastIndexOf('/') + 1);
}

function item(of: RunItem): EventDraft {
  return { type: 'RunItemEvent', item: of };
}

/** Both were parsed from JSON, so the order of their members is that of the texts. */
function isSame(one: Json, other: Json): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

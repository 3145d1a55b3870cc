/**
 * Projects the history of a run, all executions of it, to run events. Each call of `add` gives the events that one
 * history event leads to, so a prefix of the history gives a prefix of the events, and their ids are always the same.
 */
import { isUndecodable } from '../base/undecodable.ts';
import { isProblemCode } from '../base/problem.ts';
import type { CallOutcome } from '../ledger/approval.ts';
import { ApprovalEvents } from './approval-events.ts';
import { eventIdOf } from './event-id.ts';
import { HiddenByPolicies } from './hidden-by-policies.ts';
import { type Fact, type HistoryEvent, type PlainFailure, textOf } from './history-event.ts';
import type { EventDraft, GapEvent, RecordedEvent, RunCompleteEvent } from './run-event.ts';
import { noFacts, type RunFacts } from './run-facts.ts';
import { type PendingModelCall, TranscriptEvents } from './transcript-events.ts';

export class RunProjection {
  readonly #workflowId: string;
  readonly #facts: RunFacts;
  readonly #policies = new HiddenByPolicies();
  readonly #approvals: ApprovalEvents;
  readonly #transcript: TranscriptEvents;
  #isAgentRun = false;
  /** What is to be said before the next event. */
  #gap: Pick<GapEvent, 'reason' | 'message'> | undefined;
  #isComplete = false;

  constructor(workflowId: string) {
    this.#workflowId = workflowId;
    this.#facts = noFacts(workflowId);
    this.#approvals = new ApprovalEvents(this.#facts);
    this.#transcript = new TranscriptEvents(this.#facts, this.#approvals.outcomes);
  }

  /** True once `RunCompleteEvent` was given. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** The model call in flight. */
  get pendingModelCall(): PendingModelCall | undefined {
    return this.#transcript.pendingModelCall;
  }

  /** A gap comes before the next event. `retention`: the server no longer has what was before. */
  noteGap(gap: Pick<GapEvent, 'reason' | 'message'>): void {
    if (gap.reason === 'retention') this.#approvals.startLate();
    this.#gap = gap;
  }

  /** Takes the next event of the execution `runId`. */
  add(runId: string, event: HistoryEvent): RecordedEvent[] {
    const { eventId, at, what, unread = 0 } = event;
    if (what?.kind === 'started') this.#isAgentRun = what.isAgentRun;
    const gaps = [this.#gap, unread > 0 ? undecodable(unread) : undefined].filter((each) => each !== undefined);
    this.#gap = undefined;
    const { drafts, entries } = this.#approvals.add(event);
    this.#policies.learn(event);
    this.#facts.hidesArguments = this.#policies.hidesArguments;
    const all: EventDraft[] = [
      ...gaps.map((gap) => ({ type: 'gap' as const, ...gap })),
      ...drafts,
      ...this.#transcript.rulings(entries),
      ...this.#transcript.add(what),
      ...this.#end(what),
    ];
    return all.map((draft, index) => {
      const id = eventIdOf({ runId, eventId, index });
      const { type, ...rest } = draft;
      return { type, id, workflowId: this.#workflowId, at, ...rest } as RecordedEvent;
    });
  }

  #end(what: Fact | undefined): EventDraft[] {
    const end = this.#completion(what);
    if (end === undefined) return [];
    this.#isComplete = true;
    return [...this.#approvals.end(), { type: 'RunCompleteEvent', ...end }];
  }

  /** Undefined if the run has not ended: another execution may follow this one. */
  #completion(what: Fact | undefined): Completion | undefined {
    if (what !== undefined && 'next' in what) return undefined;
    switch (what?.kind) {
      case 'completed':
        return this.#isAgentRun ? completionOf(what.result) : { status: 'completed', output: textOf(what.result) };
      case 'failed':
        return { status: 'failed', output: '', failure: problemOf(what.failure) };
      case 'cancelled':
        return { status: 'cancelled', output: '' };
      case 'terminated':
        return failed(`The run was terminated${what.reason === '' ? '' : `: ${what.reason}`}.`);
      case 'timed_out':
        return failed('The run timed out.');
      case 'continued':
      case 'started':
      case 'scheduled':
      case 'attempted':
      case 'ended':
      case 'message':
      case 'task_completed':
      case 'reset':
      case undefined:
        return undefined;
    }
  }
}

type Completion = Pick<RunCompleteEvent, 'status' | 'output' | 'outcomes' | 'failure'>;

function undecodable(payloads: number): Pick<GapEvent, 'reason' | 'message'> {
  const what = payloads === 1 ? 'A payload' : `${payloads} payloads`;
  return {
    reason: 'undecodable',
    message: `${what} of this event cannot be decoded here: give the codecs of the workers.`,
  };
}

const statuses = ['completed', 'closed', 'limit', 'cancelled'] as const;

function completionOf(result: unknown): Completion {
  if (isUndecodable(result)) return { status: 'completed', output: '' };
  const { status, output, outcomes } = (result ?? {}) as { status?: unknown; output?: unknown; outcomes?: unknown };
  return {
    status: statuses.find((each) => each === status) ?? 'completed',
    output: typeof output === 'string' ? output : '',
    ...(Array.isArray(outcomes) && { outcomes: outcomes as CallOutcome[] }),
  };
}

function problemOf({ type, message }: PlainFailure): RunCompleteEvent['failure'] {
  return { code: isProblemCode(type) ? type : 'internal', message };
}

function failed(message: string): Completion {
  return { status: 'failed', output: '', failure: { code: 'internal', message } };
}

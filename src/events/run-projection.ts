/**
 * Converts the history of a run, with all its executions, to run events. `add` takes one history event after another,
 * so a longer history only appends run events, and a run event always has the same id.
 */
import { ApprovalEvents } from './approval-events.ts';
import { eventIdOf, type Completion, type EventDraft, type GapEvent, type RecordedEvent } from './run-event.ts';
import { HiddenByPolicies } from './hidden-by-policies.ts';
import { type Fact, type HistoryEvent, problemOf, textOf } from './history-event.ts';
import { readRunResult } from './read-payloads.ts';
import { noFacts, type RunFacts } from './run-facts.ts';
import { type PendingModelCall, TranscriptEvents } from './transcript-events.ts';

export class RunProjection {
  readonly #workflowId: string;
  readonly #facts: RunFacts;
  readonly #policies = new HiddenByPolicies();
  readonly #approvals: ApprovalEvents;
  readonly #transcript: TranscriptEvents;
  #isAgentRun = false;
  #gap: Pick<GapEvent, 'reason' | 'message'> | undefined;
  #isComplete = false;

  constructor(workflowId: string) {
    this.#workflowId = workflowId;
    this.#facts = noFacts(workflowId);
    this.#approvals = new ApprovalEvents(this.#facts);
    this.#transcript = new TranscriptEvents(this.#facts, this.#approvals.outcomes);
  }

  /** True once `add` has returned the `RunCompleteEvent`. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  get pendingModelCall(): PendingModelCall | undefined {
    return this.#transcript.pendingModelCall;
  }

  /** Reports a gap before the next event. The reason `retention` says that the server no longer has the beginning. */
  noteGap(gap: Pick<GapEvent, 'reason' | 'message'>): void {
    if (gap.reason === 'retention') this.#approvals.startLate();
    this.#gap = gap;
  }

  /** Returns the events of the next history event in the execution `runId`: gaps, approvals, and the transcript. */
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
      ...this.#transcript.journaled(entries),
      ...(what === undefined ? [] : this.#drafts(what)),
    ];
    return all.map((draft, index) => {
      const id = eventIdOf({ runId, eventId, index });
      const { type, ...rest } = draft;
      return { type, id, workflowId: this.#workflowId, at, ...rest } as RecordedEvent;
    });
  }

  #drafts(what: Fact): EventDraft[] {
    switch (what.kind) {
      case 'started':
        return this.#transcript.started(what);
      case 'scheduled':
        return this.#transcript.scheduled(what.activity);
      case 'attempted':
        return this.#transcript.attempted(what.activity);
      case 'ended':
        return this.#transcript.ended(what);
      case 'completed': {
        const { result } = what;
        const ofCustom = { status: 'completed', output: textOf(result) } as const;
        return this.#end(this.#isAgentRun ? readRunResult(result) : ofCustom, what.next);
      }
      case 'failed':
        return this.#end({ status: 'failed', output: '', failure: problemOf(what.failure) }, what.next);
      case 'timed_out':
        return this.#end(failed('The run timed out.'), what.next);
      case 'cancelled':
        return this.#end({ status: 'cancelled', output: '' });
      case 'terminated':
        return this.#end(failed(`The run was terminated${what.reason === '' ? '' : `: ${what.reason}`}.`));
      case 'continued':
      case 'message':
      case 'task_completed':
      case 'reset':
        return [];
    }
  }

  /** Returns the last events of the run; none if the execution `next` continues it. */
  #end(end: Completion, next?: string): EventDraft[] {
    if (next !== undefined) return [];
    this.#isComplete = true;
    return [...this.#approvals.end(), { type: 'RunCompleteEvent', ...end }];
  }
}

function undecodable(payloads: number): Pick<GapEvent, 'reason' | 'message'> {
  const what = payloads === 1 ? 'A payload' : `${payloads} payloads`;
  const message = `${what} of this event cannot be decoded here: give the codecs of the workers.`;
  return { reason: 'undecodable', message };
}

function failed(message: string): Completion {
  return { status: 'failed', output: '', failure: { code: 'internal', message } };
}

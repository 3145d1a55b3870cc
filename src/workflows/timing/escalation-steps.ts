import { CancellationScope, proxyActivities, sleep } from '@temporalio/workflow';
import type { Notify, NotifyInput } from '../../activities/announce.ts';
import { activityNames } from '../../contract.ts';
import { openedAtMs, stepsDue, type DueStep } from '../../core/ledger/escalation.ts';
import { iso, type RequestRecord } from '../../core/ledger/ledger.ts';
import { reviewersOf } from '../../core/ledger/waiting-for.ts';
import { clock } from '../sandbox/clock.ts';
import type { GateState } from '../state/gate-state.ts';
import type { InFlight } from '../state/in-flight.ts';
import { backoffMs } from './backoff.ts';

const notify = proxyActivities<{ [activityNames.notify]: Notify }>({
  startToCloseTimeout: '30s',
  retry: { maximumAttempts: 3 },
})[activityNames.notify];

/** Takes the due steps of waiting requests. Each step is a journal entry and one activity that notifies people. */
export class EscalationSteps {
  readonly #state: GateState;
  readonly #inFlight: InFlight;
  /**
   * The notifications that failed and are made again. A later reminder of a request takes the place of an earlier one.
   */
  readonly #missed = new Map<string, NotifyInput>();

  constructor(state: GateState, inFlight: InFlight) {
    this.#state = state;
    this.#inFlight = inFlight;
  }

  restore(missed: readonly NotifyInput[] = []): void {
    for (const each of missed) void this.#notifyAfterWait(each, 0);
  }

  /** For continue-as-new: the notifications that are still to be made. */
  carried(): NotifyInput[] | undefined {
    const missed = [...this.#missed.values()].filter((each) => this.#isOpen(each));
    return missed.length === 0 ? undefined : missed;
  }

  take(requests: readonly RequestRecord[]): void {
    const atMs = clock.nowMs;
    for (const record of requests) {
      const steps = stepsDue(record, atMs);
      if (steps.length === 0) continue;
      const { requestId } = record.request;
      const reviewers = reviewersOf(record.terms, atMs - openedAtMs(record));
      this.#state.apply({ kind: 'step', atMs, requestId, steps, reviewers });
      for (const step of steps) void this.#inFlight.wait(this.#notify(inputOf(record, step, reviewers)));
    }
  }

  /** Notifies people of one step. A failure neither fails nor blocks the run: the inbox shows the request anyway. */
  async #notify(input: NotifyInput, failed = 0): Promise<void> {
    try {
      const journal = this.#state.takeJournal();
      await notify.executeWithOptions({ summary: `${input.kind}: approval of ${input.toolName}` }, [
        { ...input, journal },
      ]);
    } catch {
      void this.#notifyAfterWait(input, failed);
      // Failures alone may fill the history.
      this.#state.noteGrowth();
    }
  }

  /** Makes a failed notification again after a wait, if its request is still open. */
  async #notifyAfterWait(input: NotifyInput, failed: number): Promise<void> {
    const key = [input.requestId, input.kind, ...(input.to ?? [])].join(' ');
    this.#missed.set(key, input);
    const summary = `${input.kind}: notify again`;
    await CancellationScope.nonCancellable(() => sleep(backoffMs(failed), { summary }));
    if (this.#missed.get(key) !== input) return;
    this.#missed.delete(key);
    if (this.#isOpen(input)) await this.#inFlight.wait(this.#notify(input, failed + 1));
  }

  #isOpen({ requestId }: NotifyInput): boolean {
    return this.#state.ledger.open.some(({ request }) => request.requestId === requestId);
  }
}

function inputOf({ request }: RequestRecord, { kind, to, dueMs }: DueStep, reviewers: string[]): NotifyInput {
  const { workflowId, requestId, toolName, agentName, deadline } = request;
  return { kind, workflowId, requestId, toolName, agentName, reviewers, to, deadline, dueAt: iso(dueMs) };
}

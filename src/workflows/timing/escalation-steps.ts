import { proxyActivities } from '@temporalio/workflow';
import type { Notify } from '../../activities/notify.ts';
import { activityNames } from '../../contract.ts';
import { openedAtMs, stepsDue, type DueStep } from '../../core/ledger/escalation.ts';
import { iso, type RequestRecord } from '../../core/ledger/ledger.ts';
import { reviewersOf } from '../../core/ledger/why-asked.ts';
import { clock } from '../sandbox/clock.ts';
import type { GateState } from '../state/gate-state.ts';
import type { InFlight } from '../state/in-flight.ts';

const notify = proxyActivities<{ [activityNames.notify]: Notify }>({
  startToCloseTimeout: '30s',
  retry: { maximumAttempts: 3 },
})[activityNames.notify];

/** Takes the due steps of waiting requests. Each step is a journal entry and one activity that notifies people. */
export class EscalationSteps {
  readonly #state: GateState;
  readonly #inFlight: InFlight;

  constructor(state: GateState, inFlight: InFlight) {
    this.#state = state;
    this.#inFlight = inFlight;
  }

  take(requests: readonly RequestRecord[]): void {
    const atMs = clock.nowMs;
    for (const record of requests) {
      const steps = stepsDue(record, atMs);
      if (steps.length === 0) continue;
      const { requestId } = record.request;
      const reviewers = reviewersOf(record.terms, atMs - openedAtMs(record));
      this.#state.apply({ kind: 'step', atMs, requestId, steps, reviewers });
      for (const step of steps) void this.#inFlight.wait(this.#tell(record, step, reviewers));
    }
  }

  /** A failed notification neither fails the run nor holds it up: the inbox shows the request anyway. */
  async #tell({ request }: RequestRecord, { kind, to, dueMs }: DueStep, reviewers: string[]): Promise<void> {
    const { workflowId, requestId, toolName, agentName, deadline } = request;
    const input = { kind, workflowId, requestId, toolName, agentName, reviewers, to, deadline, dueAt: iso(dueMs) };
    try {
      const journal = this.#state.takeJournal();
      await notify.executeWithOptions({ summary: `${kind}: approval of ${toolName}` }, [{ ...input, journal }]);
    } catch {
      // Three attempts failed, and there is no other place to report it.
    }
  }
}

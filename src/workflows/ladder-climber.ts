import { proxyActivities } from '@temporalio/workflow';
import type { Notify } from '../activities/notify.ts';
import { activityNames } from '../contract.ts';
import { openedAtMs, stepsDue, type LadderStep } from '../core/ladder.ts';
import type { BookedRequest } from '../core/ledger.ts';
import { reviewersOf } from './book-request.ts';
import type { Book } from './book.ts';

const notify = proxyActivities<{ [activityNames.notify]: Notify }>({
  startToCloseTimeout: '30s',
  retry: { maximumAttempts: 3 },
})[activityNames.notify];

/** Takes the steps of waiting requests: an entry in the journal, and one activity that tells people. */
export class LadderClimber {
  readonly #book: Book;
  #telling = 0;

  constructor(book: Book) {
    this.#book = book;
  }

  /** True while people are being told: the run must not continue as new then. */
  get busy(): boolean {
    return this.#telling > 0;
  }

  climb(requests: readonly BookedRequest[]): void {
    const atMs = Date.now();
    for (const booked of requests) {
      const steps = stepsDue(booked, atMs);
      if (steps.length === 0) continue;
      const { requestId } = booked.request;
      const reviewers = reviewersOf(booked.terms, atMs - openedAtMs(booked));
      this.#book.apply({ kind: 'step', atMs, requestId, steps, reviewers });
      for (const step of steps) void this.#tell(booked, step, reviewers);
    }
  }

  /** Nobody told is no reason to fail a run, or to keep it: the inbox shows the request all the same. */
  async #tell({ request }: BookedRequest, { kind, to }: LadderStep, reviewers: string[]): Promise<void> {
    const { workflowId, requestId, toolName, agentName, deadline } = request;
    const input = { kind, workflowId, requestId, toolName, agentName, reviewers, ...(to && { to }), deadline };
    this.#telling++;
    try {
      const journal = this.#book.takeJournal();
      await notify.executeWithOptions({ summary: `${kind}: approval of ${toolName}` }, [{ ...input, journal }]);
    } catch {
      // The log could not be reached three times: there is nowhere else to say so.
    } finally {
      this.#telling--;
    }
  }
}

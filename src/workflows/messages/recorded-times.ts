import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Arbitrate } from '../../activities/recorded-events.ts';
import { activityNames } from '../../contract.ts';
import { clock } from '../sandbox/clock.ts';
import type { InFlight } from '../state/in-flight.ts';
import { acceptable } from './message-kind.ts';

const arbitrate = proxyActivities<{ [activityNames.arbitrate]: Arbitrate }>({
  startToCloseTimeout: '30s',
  summary: 'Read when messages were recorded',
})[activityNames.arbitrate];

/** Reads when the server recorded signals that came close to a deadline (I6). The queue waits meanwhile. */
export class RecordedTimes {
  readonly #inFlight: InFlight;
  readonly #onRead: () => void;
  readonly #atMs = new Map<string, number>();

  constructor(inFlight: InFlight, onRead: () => void) {
    this.#inFlight = inFlight;
    this.#onRead = onRead;
  }

  /** The recorded time of a signal; undefined if it has not been read yet; infinity if it could not be read. */
  of(eventId: string): number | undefined {
    return this.#atMs.get(eventId);
  }

  /** Reads all times in one activity, because the messages behind the first one may be late too. */
  read(eventIds: string[]): void {
    const find = async (): Promise<Record<string, number>> =>
      arbitrate({ runId: workflowInfo().runId, eventIds }).catch(() => ({}));
    void this.#inFlight.keep(
      {
        id: undefined,
        digest: undefined,
        blocks: true,
        holds: undefined,
        conclude: this.#onRead,
        failed: acceptable,
        ended: acceptable,
      },
      find().then((recorded) => () => {
        for (const eventId of eventIds) {
          const recordedAtMs = recorded[eventId];
          this.#atMs.set(eventId, recordedAtMs ?? Number.POSITIVE_INFINITY);
          // The server's time of an earlier event: the run's clock must not be behind it.
          if (recordedAtMs !== undefined) clock.prove(recordedAtMs);
        }
        return acceptable;
      }),
    );
  }
}

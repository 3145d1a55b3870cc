import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Announce } from '../../activities/announce.ts';
import { activityNames } from '../../contract.ts';
import type { RequestRecord } from '../../core/ledger/ledger.ts';
import type { UserMessageTaker } from '../messages/user-message.ts';
import type { ActivePolicies } from '../state/active-policies.ts';
import type { GateState } from '../state/gate-state.ts';
import type { InFlight } from '../state/in-flight.ts';
import type { ScheduledTask } from '../state/scheduler.ts';

const announce = proxyActivities<{ [activityNames.announce]: Announce }>({
  startToCloseTimeout: '10s',
  // The run waits for it before it ends or continues as new. The inbox shows requests even if they are not announced.
  scheduleToCloseTimeout: '60s',
})[activityNames.announce];

const mostFailures = 3;

/**
 * Tells the workflow of the run's channels which requests have opened, have other channels, are settled, or were written
 * about by the user: one activity for all that an activation changed. A run without channels announces nothing.
 */
export class Announcements implements ScheduledTask {
  readonly #state: GateState;
  readonly #inFlight: InFlight;
  readonly #active: () => ActivePolicies | undefined;
  /** How many messages of the user the model has not got. */
  readonly #unheard: () => number;
  /** The channels of each open request and the number of unheard messages, as they were announced last. */
  #announced = new Map<string, string>();
  /** What was compared last. Nothing has changed while all are the same. */
  #seen: { open: RequestRecord[]; active: ActivePolicies; unheard: number } | undefined;
  #pending = 0;
  /** Announcements that failed since the last one that arrived. */
  #failures = 0;

  constructor(
    state: GateState,
    inFlight: InFlight,
    active: () => ActivePolicies | undefined,
    taker: Pick<UserMessageTaker, 'unheard'> | undefined,
  ) {
    this.#state = state;
    this.#inFlight = inFlight;
    this.#active = active;
    this.#unheard = () => (active()?.options.announcesUserMessages === true ? (taker?.unheard.length ?? 0) : 0);
  }

  /** Restores what the previous execution announced. */
  restore(announced: Record<string, string> = {}): void {
    this.#announced = new Map(Object.entries(announced));
  }

  /** For continue-as-new, when nothing is in flight: what was announced of each open request. */
  carried(): Record<string, string> | undefined {
    return this.#announced.size === 0 ? undefined : Object.fromEntries(this.#announced);
  }

  get isDue(): boolean {
    return this.#changed().length > 0;
  }

  /** True while an announcement is due or has not arrived. */
  get isPending(): boolean {
    return this.#pending > 0 || this.isDue;
  }

  run(): void {
    const requestIds = this.#changed();
    if (requestIds.length === 0) return;
    const before = this.#announced;
    this.#announced = this.#now();
    this.#seen = { open: this.#state.ledger.open, active: this.#active()!, unheard: this.#unheard() };
    this.#pending += 1;
    void this.#inFlight.wait(this.#send(requestIds, before));
    this.#state.noteCommand();
  }

  async #send(requestIds: string[], before: ReadonlyMap<string, string>): Promise<void> {
    const { workflowId } = workflowInfo();
    try {
      const journal = this.#state.takeJournal();
      const summary = `${requestIds.length} ${requestIds.length === 1 ? 'request' : 'requests'} for channels`;
      await announce.executeWithOptions({ summary }, [{ workflowId, requestIds, journal }]);
      this.#failures = 0;
    } catch {
      this.#failures += 1;
      // After three failures in a row it gives up, so that the run can end; its requests are in the inbox.
      if (this.#failures < mostFailures) this.#forget(requestIds, before);
    }
    this.#pending -= 1;
  }

  /** Undoes an announcement that failed, so that these requests are announced again. */
  #forget(requestIds: readonly string[], before: ReadonlyMap<string, string>): void {
    for (const requestId of requestIds) {
      const announced = before.get(requestId);
      if (announced === undefined) this.#announced.delete(requestId);
      else this.#announced.set(requestId, announced);
    }
    this.#seen = undefined;
  }

  #changed(): string[] {
    const active = this.#active();
    if (active?.options.routes === undefined) return [];
    const { open } = this.#state.ledger;
    const unheard = this.#unheard();
    if (this.#seen?.open === open && this.#seen.active === active && this.#seen.unheard === unheard) return [];
    const now = this.#now();
    const ids = [...new Set([...now.keys(), ...this.#announced.keys()])];
    const changed = ids.filter((id) => now.get(id) !== this.#announced.get(id));
    if (changed.length === 0) this.#seen = { open, active, unheard };
    return changed;
  }

  /** The open requests that have channels. */
  #now(): Map<string, string> {
    const active = this.#active()!;
    const unheard = this.#unheard();
    // No name of a channel.
    const written = unheard === 0 ? [] : [`#${unheard}`];
    return new Map(
      this.#state.ledger.open.flatMap((record): [string, string][] => {
        const names = active.channelsOf(record) ?? [];
        return names.length === 0 ? [] : [[record.request.requestId, [...names, ...written].join(' ')]];
      }),
    );
  }
}

import { proxyActivities, sleep, workflowInfo } from '@temporalio/workflow';
import type { Announce } from '../../activities/announce.ts';
import { activityNames } from '../../contract.ts';
import { isPreviewed } from '../../core/base/bound-preview.ts';
import type { RequestRecord } from '../../core/ledger/ledger.ts';
import type { UserMessageHandler } from '../messages/user-message.ts';
import type { ActivePolicies } from '../state/active-policies.ts';
import type { GateState } from '../state/gate-state.ts';
import type { InFlight } from '../state/in-flight.ts';
import type { ScheduledTask } from '../state/scheduler.ts';
import { backoffMs } from '../timing/backoff.ts';

const announce = proxyActivities<{ [activityNames.announce]: Announce }>({
  startToCloseTimeout: '10s',
  // The run waits for announcements before it ends, so this must be short. The inbox shows the requests anyway.
  scheduleToCloseTimeout: '60s',
})[activityNames.announce];

/** After this many failures in a row, the run waits before it announces again, and may end meanwhile. */
const mostFailures = 3;

/**
 * Announces changed requests to the workflow of the run's channels (`channels/approval-channels.ts`), by one activity
 * for each activation. Changed means: opened, settled, with other channels, or with new messages of the user.
 */
export class Announcements implements ScheduledTask {
  readonly #state: GateState;
  readonly #inFlight: InFlight;
  readonly #active: () => ActivePolicies | undefined;
  /** How many messages of the user the model has not received. */
  readonly #unheard: () => number;
  /** What was announced of each request, by its id: its channels, and how many messages the model had not received. */
  #announced = new Map<string, string>();
  /** The state that was compared last. While it is the same, there is nothing to announce. */
  #seen: { open: RequestRecord[]; active: ActivePolicies; unheard: number } | undefined;
  #pending = 0;
  /** The number of announcements that failed since the last one that arrived. */
  #failures = 0;
  /**
   * Requests whose announcement failed and is repeated after a wait, each with what was announced of it before. A new
   * request has an empty text: its announcement may have arrived all the same, so its settlement must be announced.
   */
  readonly #missed = new Map<string, string>();
  #isWaiting = false;

  constructor(
    state: GateState,
    inFlight: InFlight,
    active: () => ActivePolicies | undefined,
    session: Pick<UserMessageHandler, 'unheard'> | undefined,
  ) {
    this.#state = state;
    this.#inFlight = inFlight;
    this.#active = active;
    // Before the gate has its policies, nothing is announced.
    this.#unheard = () => (active() === undefined ? 0 : (session?.unheard.length ?? 0));
  }

  restore(announced: Record<string, string> = {}): void {
    this.#announced = new Map(Object.entries(announced));
  }

  /** What was announced of each open request, for continue-as-new. Call it when nothing is in flight. */
  carried(): Record<string, string> | undefined {
    const announced = new Map([...this.#announced, ...this.#missed]);
    return announced.size === 0 ? undefined : Object.fromEntries(announced);
  }

  get isDue(): boolean {
    return this.#changed().length > 0 || (this.#missed.size > 0 && !this.#isWaiting);
  }

  /** True while an announcement is due or in flight; false while a failed one waits to be repeated. */
  get isPending(): boolean {
    return this.#pending > 0 || this.#changed().length > 0;
  }

  run(): void {
    const changed = this.#changed();
    if (changed.length > 0) this.#announce([...new Set([...changed, ...this.#missed.keys()])]);
    else if (this.isDue) this.#startWait();
  }

  /** Starts the announcement of these requests. From then on, their present state counts as announced. */
  #announce(requestIds: string[]): void {
    const announcedBefore = new Map(requestIds.map((id) => [id, this.#missed.get(id) ?? this.#announced.get(id)]));
    this.#missed.clear();
    this.#announced = this.#current();
    this.#seen = { open: this.#state.ledger.open, active: this.#active()!, unheard: this.#unheard() };
    this.#pending += 1;
    void this.#inFlight.wait(this.#send(announcedBefore));
    this.#state.noteCommand();
  }

  /** Sends one announcement. A failed one is made again at once or, after `mostFailures` in a row, after a wait. */
  async #send(announcedBefore: ReadonlyMap<string, string | undefined>): Promise<void> {
    const { workflowId } = workflowInfo();
    const requestIds = [...announcedBefore.keys()];
    try {
      const journal = this.#state.takeJournal();
      const summary = `${requestIds.length} ${requestIds.length === 1 ? 'request' : 'requests'} for channels`;
      await announce.executeWithOptions({ summary }, [{ workflowId, requestIds, journal }]);
      this.#failures = 0;
    } catch {
      this.#failures += 1;
      if (this.#failures < mostFailures) this.#restoreAnnounced(announcedBefore);
      else for (const [id, announced = ''] of announcedBefore) this.#missed.set(id, announced);
    }
    this.#pending -= 1;
  }

  /** Starts the wait before the requests in `#missed` are announced again. */
  #startWait(): void {
    this.#isWaiting = true;
    void this.#announceLater();
    this.#state.noteCommand();
    // Repeated failures alone can make the history long enough to continue as new.
    this.#state.noteGrowth();
  }

  async #announceLater(): Promise<void> {
    await sleep(backoffMs(Math.max(0, this.#failures - mostFailures)), { summary: 'announce requests again' });
    this.#isWaiting = false;
    this.#restoreAnnounced(this.#missed);
    this.#missed.clear();
  }

  /** Restores what was announced before a failed announcement, so that `#changed` returns its requests again. */
  #restoreAnnounced(announcedBefore: ReadonlyMap<string, string | undefined>): void {
    for (const [requestId, announced] of announcedBefore) {
      if (announced === undefined) this.#announced.delete(requestId);
      else this.#announced.set(requestId, announced);
    }
    this.#seen = undefined;
  }

  /** Returns the requests that differ from what was announced of them; none if the run has no channels. */
  #changed(): string[] {
    const active = this.#active();
    if (active?.options.routes === undefined) return [];
    const { open } = this.#state.ledger;
    const unheard = this.#unheard();
    if (this.#seen?.open === open && this.#seen.active === active && this.#seen.unheard === unheard) return [];
    const current = this.#current();
    const ids = [...new Set([...current.keys(), ...this.#announced.keys()])];
    const changed = ids.filter((id) => current.get(id) !== this.#announced.get(id));
    if (changed.length === 0) this.#seen = { open, active, unheard };
    return changed;
  }

  /** What to announce, by request id. A request that binds its preview has no channels until the preview is ready. */
  #current(): Map<string, string> {
    const active = this.#active()!;
    const unheard = this.#unheard();
    // No name of a channel begins with `#`.
    const written = unheard === 0 ? [] : [`#${unheard}`];
    return new Map(
      this.#state.ledger.open.flatMap((record): [string, string][] => {
        const names = isPreviewed(record) ? (active.channelsOf(record) ?? []) : [];
        return names.length === 0 ? [] : [[record.request.requestId, [...names, ...written].join(' ')]];
      }),
    );
  }
}

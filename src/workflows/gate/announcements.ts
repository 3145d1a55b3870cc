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
  // The run waits for an announcement before it ends or continues as new. The inbox needs none.
  scheduleToCloseTimeout: '60s',
})[activityNames.announce];

/** After this many failures in a row, the run waits before it announces again, and may end meanwhile. */
const mostFailures = 3;

/**
 * Announces to the workflow of the run's channels which requests were opened or settled, or have other channels or new
 * messages of the user: by one activity for each activation. A run without channels announces nothing.
 */
export class Announcements implements ScheduledTask {
  readonly #state: GateState;
  readonly #inFlight: InFlight;
  readonly #active: () => ActivePolicies | undefined;
  /** How many messages of the user the model has not received. */
  readonly #unheard: () => number;
  /** By request id: its channels, and the number of messages that the model had not received. */
  #announced = new Map<string, string>();
  /** The state that was compared last. While it is the same, there is nothing to announce. */
  #seen: { open: RequestRecord[]; active: ActivePolicies; unheard: number } | undefined;
  #pending = 0;
  /** Announcements that failed since the last one that arrived. */
  #failures = 0;
  /**
   * Requests to announce again after a wait. The values are those of `#announced` before the failure, or empty: the
   * failed announcement may have arrived, so a settlement is announced, too.
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

  /** True while an announcement is due or has not arrived. False while one that failed waits. */
  get isPending(): boolean {
    return this.#pending > 0 || this.#changed().length > 0;
  }

  run(): void {
    const changed = this.#changed();
    if (changed.length > 0) this.#announce([...new Set([...changed, ...this.#missed.keys()])]);
    else if (this.isDue) this.#waitOrGiveUp();
  }

  #announce(requestIds: string[]): void {
    const before = new Map(requestIds.map((id) => [id, this.#missed.get(id) ?? this.#announced.get(id)]));
    this.#missed.clear();
    this.#announced = this.#current();
    this.#seen = { open: this.#state.ledger.open, active: this.#active()!, unheard: this.#unheard() };
    this.#pending += 1;
    void this.#inFlight.wait(this.#send(before));
    this.#state.noteCommand();
  }

  /** What fails is announced again, until it has failed too often in a row. */
  async #send(before: ReadonlyMap<string, string | undefined>): Promise<void> {
    const { workflowId } = workflowInfo();
    const requestIds = [...before.keys()];
    try {
      const journal = this.#state.takeJournal();
      const summary = `${requestIds.length} ${requestIds.length === 1 ? 'request' : 'requests'} for channels`;
      await announce.executeWithOptions({ summary }, [{ workflowId, requestIds, journal }]);
      this.#failures = 0;
    } catch {
      this.#failures += 1;
      if (this.#failures < mostFailures) this.#forget(before);
      else for (const [id, announced = ''] of before) this.#missed.set(id, announced);
    }
    this.#pending -= 1;
  }

  #waitOrGiveUp(): void {
    this.#isWaiting = true;
    void this.#announceLater();
    this.#state.noteCommand();
    // Failures alone may fill the history.
    this.#state.noteGrowth();
  }

  async #announceLater(): Promise<void> {
    await sleep(backoffMs(Math.max(0, this.#failures - mostFailures)), { summary: 'announce requests again' });
    this.#isWaiting = false;
    this.#forget(this.#missed);
    this.#missed.clear();
  }

  #forget(before: ReadonlyMap<string, string | undefined>): void {
    for (const [requestId, announced] of before) {
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
    const current = this.#current();
    const ids = [...new Set([...current.keys(), ...this.#announced.keys()])];
    const changed = ids.filter((id) => current.get(id) !== this.#announced.get(id));
    if (changed.length === 0) this.#seen = { open, active, unheard };
    return changed;
  }

  /** What to announce, by request id. A request whose approval needs a preview has channels from the preview on. */
  #current(): Map<string, string> {
    const active = this.#active()!;
    const unheard = this.#unheard();
    // Begins with `#`, which no name of a channel does.
    const written = unheard === 0 ? [] : [`#${unheard}`];
    return new Map(
      this.#state.ledger.open.flatMap((record): [string, string][] => {
        const names = isPreviewed(record) ? (active.channelsOf(record) ?? []) : [];
        return names.length === 0 ? [] : [[record.request.requestId, [...names, ...written].join(' ')]];
      }),
    );
  }
}

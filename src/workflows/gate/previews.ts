import { ActivityFailure, ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import type { Preview } from '../../activities/preview.ts';
import { activityNames, type Caller } from '../../contract.ts';
import { isBoundFacts } from '../../core/base/bound-preview.ts';
import { byteLength } from '../../core/base/text.ts';
import { type CallPreview, readChanges } from '../../core/base/call-preview.ts';
import type { RequestRecord } from '../../core/ledger/ledger.ts';
import type { GateState } from '../state/gate-state.ts';
import type { ScheduledTask } from '../state/scheduler.ts';

/** The activity times out this much later than the tool's `preview`, whose time-out the worker reports itself. */
const marginMs = 5_000;
/** The most bytes of previews that continue-as-new carries. The next execution requests the others again. */
const carriedBytes = 64_000;

/** The previews of open requests: what each call would change. Only an approval that binds a preview waits for it. */
export class Previews implements ScheduledTask {
  readonly #state: GateState;
  readonly #caller: () => Caller | undefined;
  /** The previews by request id. `pending`: this execution has requested it. */
  #known = new Map<string, CallPreview>();

  constructor(state: GateState, caller: () => Caller | undefined) {
    this.#state = state;
    this.#caller = caller;
  }

  /** Takes what `carried` returned in the previous execution. Missing previews are requested again. */
  restore(carried: Record<string, CallPreview> = {}): void {
    this.#known = new Map(Object.entries(carried));
  }

  of(record: RequestRecord): CallPreview | undefined {
    if (!hasPreview(record)) return undefined;
    return this.#known.get(record.request.requestId) ?? { state: 'pending' };
  }

  get isDue(): boolean {
    return this.#state.ledger.open.some((record) => this.#isUnasked(record));
  }

  /** Requests the missing previews, and drops those of settled requests. A preview is kept when it arrives. */
  run(): void {
    const unasked = this.#state.ledger.open.filter((record) => this.#isUnasked(record));
    if (unasked.length === 0) return;
    this.#known = new Map(this.#ofOpen());
    for (const record of unasked) {
      const { requestId } = record.request;
      this.#known.set(requestId, { state: 'pending' });
      void this.#ask(record).then((preview) => {
        this.#known.set(requestId, preview);
        if (record.bound !== undefined) this.#bind(requestId, preview);
      });
    }
    this.#state.noteCommand();
  }

  /** The finished previews of open requests, for continue-as-new, up to `carriedBytes`. */
  carried(): Record<string, CallPreview> | undefined {
    let bytes = 0;
    const finished = this.#ofOpen().filter(([, { state }]) => state !== 'pending');
    const kept = finished.filter(([, preview]) => (bytes += byteLength(JSON.stringify(preview))) <= carriedBytes);
    return kept.length === 0 ? undefined : Object.fromEntries(kept);
  }

  /** Records the facts that an approval binds. This changes the open requests, so the index writes a command (I12). */
  #bind(requestId: string, preview: CallPreview): void {
    const bound = (preview.state === 'ready' ? preview.bound : undefined) ?? 'unknown';
    this.#state.apply({ kind: 'bind', requestId, bound });
  }

  #isUnasked(record: RequestRecord): boolean {
    return hasPreview(record) && !this.#known.has(record.request.requestId);
  }

  #ofOpen(): [string, CallPreview][] {
    return this.#state.ledger.open.flatMap(({ request: { requestId } }): [string, CallPreview][] => {
      const preview = this.#known.get(requestId);
      return preview === undefined ? [] : [[requestId, preview]];
    });
  }

  /** Requests the preview of a call from a worker. If that fails, resolves to a failed preview with the reason. */
  async #ask({ request, ruled, previewTimeoutMs = 0 }: RequestRecord): Promise<CallPreview> {
    const { requestId, toolName, arguments: args, agentName: agent } = request;
    const { [activityNames.preview]: preview } = proxyActivities<{ [activityNames.preview]: Preview }>({
      startToCloseTimeout: previewTimeoutMs + marginMs,
      retry: { maximumAttempts: 3 },
      summary: `Preview of ${toolName}`,
    });
    const { definition } = ruled;
    try {
      const input = { requestId, agent, caller: this.#caller(), tool: toolName, definition, args };
      const result: CallPreview | null = await preview(input);
      // An operator can complete the activity with any result.
      return isPreview(result) ? result : { state: 'failed', message: 'its activity gave no preview' };
    } catch (error) {
      const cause = error instanceof ActivityFailure ? error.cause : error;
      const message = cause instanceof ApplicationFailure ? cause.message : 'no worker finished it';
      return { state: 'failed', message };
    }
  }
}

function isPreview(result: CallPreview | null): result is CallPreview {
  if (result?.state === 'failed') return typeof result.message === 'string';
  if (result?.state !== 'ready') return false;
  const { changes, cut, bound } = result;
  const isWhole = (cut === undefined || typeof cut === 'string') && (bound === undefined || isBoundFacts(bound));
  return isWhole && 'changes' in readChanges(changes);
}

/** Reviewers who see no arguments see no preview either. */
function hasPreview({ previewTimeoutMs, hidden }: RequestRecord): boolean {
  return previewTimeoutMs !== undefined && hidden !== true;
}

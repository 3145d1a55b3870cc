import { meOf, session } from '../state/me.ts';
import { serverNowMs } from '../api/fetch-json.ts';

/** If the timer fires later than this, the computer has slept, and the reviewer could not see the button to undo. */
const lateMs = 2_000;
/** If `check` takes longer, the answer is dropped: the computer has slept, or the gateway does not answer. */
const longestCheckMs = 30_000;
/** An answer must be sent this long before a deadline, because sending takes time and clocks differ. */
const marginMs = 10_000;

/** How long an approval can be undone. Undefined: a deadline is so near that the approval must be sent at once. */
export function undoTimeMs(deadlines: readonly (string | null)[]): number | undefined {
  const undoMs = Math.max(0, meOf(session.get())?.undoMs ?? 5_000);
  const latestMs = serverNowMs() + undoMs + marginMs;
  return deadlines.some((deadline) => deadline !== null && Date.parse(deadline) < latestMs) ? undefined : undoMs;
}

export interface HeldBack {
  fromMs: number;
  untilMs: number;
  cancel: () => void;
  endNow: () => void;
}

interface HeldAnswer {
  send: () => void;
  /** Called in place of `send`. `why` is a clause, such as `this computer slept meanwhile`. */
  drop: (why: string) => void;
  /** Called before `send`. Resolves with a clause that says why the answer must not be sent; else with undefined. */
  check?: () => Promise<string | undefined>;
  /** True: the answer is too large to send while the page closes, so the browser asks before it closes the page. */
  isFragile?: boolean;
}

/** After `delayMs`, calls `send`, or `drop` if `check` objects. Sends early if the page is hidden, as it may close. */
export function holdBack(delayMs: number, { send, drop, check, isFragile }: HeldAnswer): HeldBack {
  const fromMs = Date.now();
  const untilMs = fromMs + delayMs;
  let isOver = false;
  const listening = new AbortController();
  const cancel = (): void => {
    isOver = true;
    clearTimeout(timer);
    listening.abort();
  };
  const end = (why: string | undefined): void => {
    if (isOver) return;
    cancel();
    if (why === undefined) send();
    else drop(why);
  };
  const finish = async (): Promise<void> => {
    clearTimeout(timer);
    const endedAtMs = Date.now();
    if (endedAtMs > untilMs + lateMs) return end('this computer slept meanwhile');
    const why = await check?.();
    end(Date.now() > endedAtMs + longestCheckMs ? 'it took too long to read the request again' : why);
  };
  const onHidden = ({ type }: Event): void => {
    if (type !== 'pagehide' && document.visibilityState !== 'hidden') return;
    // When a computer wakes up, this event may come before the timer.
    end(Date.now() > untilMs + longestCheckMs ? 'this computer slept meanwhile' : undefined);
  };
  const askBeforeClosing = (event: Event): void => event.preventDefault();
  const timer = setTimeout(() => void finish(), delayMs);
  const { signal } = listening;
  window.addEventListener('pagehide', onHidden, { signal });
  document.addEventListener('visibilitychange', onHidden, { signal });
  if (isFragile === true) window.addEventListener('beforeunload', askBeforeClosing, { signal });
  return { fromMs, untilMs, cancel, endNow: () => void finish() };
}

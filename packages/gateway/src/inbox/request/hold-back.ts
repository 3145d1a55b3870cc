import { meOf, session } from '../state/me.ts';
import { serverNowMs } from '../api/fetch-json.ts';

/** If the timer fires this late, the computer slept, and the reviewer did not see the time to undo. */
const lateMs = 2_000;
/** A longer check means that the computer slept, or that the gateway does not answer. */
const longestCheckMs = 30_000;
/** An answer delayed to this close to a deadline might miss it: sending takes time, and two clocks differ. */
const marginMs = 10_000;

/** The time in which an approval can be undone; undefined if a deadline is so near that the approval might miss it. */
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
  /** Called in place of `send`. `why`: a clause. */
  drop: (why: string) => void;
  /** Before `send`: why the answer must not be sent any more, as a clause. */
  check?: () => Promise<string | undefined>;
  /** True: a page that is closed would break it off, so the browser asks before it closes the page. */
  isFragile?: boolean;
}

/** Sends after `delayMs` and `check`; at once if the page is hidden, because a phone may end a hidden page. */
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
  const leave = ({ type }: Event): void => {
    if (type !== 'pagehide' && document.visibilityState !== 'hidden') return;
    // A computer that wakes up may report first that the page was hidden.
    end(Date.now() > untilMs + longestCheckMs ? 'this computer slept meanwhile' : undefined);
  };
  const stay = (event: Event): void => event.preventDefault();
  const timer = setTimeout(() => void finish(), delayMs);
  const { signal } = listening;
  window.addEventListener('pagehide', leave, { signal });
  document.addEventListener('visibilitychange', leave, { signal });
  if (isFragile === true) window.addEventListener('beforeunload', stay, { signal });
  return { fromMs, untilMs, cancel, endNow: () => void finish() };
}

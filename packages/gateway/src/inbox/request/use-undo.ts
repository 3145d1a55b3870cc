import { useEffect, useRef, useState } from 'preact/hooks';
import { announceText } from '../state/announcements.ts';
import { meOf, session } from '../state/me.ts';

/** An answer that is held back. */
export interface Held {
  fromMs: number;
  untilMs: number;
}

interface Holding extends Held {
  timer?: ReturnType<typeof setTimeout>;
}

export interface Undo {
  held: Held | undefined;
  /**
   * Calls `send` after the time to undo, or at once if that is zero. With `check`, it calls `send` only if `check` then
   * returns true; the answer can be undone until `check` has returned.
   */
  hold: (send: () => void, check?: () => Promise<boolean>) => void;
  /** Drops what is held, and announces `why`. */
  cancel: (why?: string) => void;
}

/** If the timer fires this late, the computer slept, and nobody saw the time to undo. */
const lateMs = 2_000;
/** A longer check means that the computer slept, or that the gateway does not answer. */
const longestCheckMs = 30_000;

/**
 * Holds an approval back for as long as the gateway says. What is held is dropped if the page or the view is left, or if
 * the computer slept: only what stood on the screen the whole time is sent.
 */
export function useUndo(): Undo {
  const [held, setHeld] = useState<Held>();
  // If this changes while a check runs, the check's answer was cancelled.
  const current = useRef<Holding | undefined>(undefined);
  const drop = (): void => {
    clearTimeout(current.current?.timer);
    current.current = undefined;
    setHeld(undefined);
  };
  const cancel = (why = 'Not sent.'): void => {
    if (current.current === undefined) return;
    drop();
    announceText(why);
  };
  const hold = (send: () => void, check?: () => Promise<boolean>): void => {
    drop();
    const undoMs = meOf(session.get())?.undoMs ?? 5_000;
    if (undoMs <= 0 && check === undefined) return send();
    const fromMs = Date.now();
    const own: Holding = { fromMs, untilMs: fromMs + Math.max(undoMs, 0) };
    current.current = own;
    setHeld(own);
    const finish = async (): Promise<void> => {
      if (Date.now() > own.untilMs + lateMs) return cancel('Not sent: the page was asleep.');
      const isSame = check === undefined || (await check());
      if (current.current !== own) return;
      if (!isSame) return cancel('Not sent: the request has changed. Look at it again.');
      if (Date.now() > own.untilMs + longestCheckMs) return cancel('Not sent: it took too long to read it again.');
      drop();
      send();
    };
    own.timer = setTimeout(() => void finish(), own.untilMs - fromMs);
  };
  useEffect(() => {
    const leave = (): void => cancel('Not sent: the page was left.');
    window.addEventListener('pagehide', leave);
    return () => {
      window.removeEventListener('pagehide', leave);
      cancel('Not sent: you left the request before the time to undo was over.');
    };
  }, []);
  return { held, hold, cancel };
}

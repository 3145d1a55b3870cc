import { useEffect, useRef, useState } from 'preact/hooks';
import { announce } from '../state/announcements.ts';
import { meOf, session } from '../state/me.ts';

/** An answer that is held back. */
export interface Held {
  fromMs: number;
  untilMs: number;
}

export interface Undo {
  held: Held | undefined;
  /** Calls `send` after the time in which it can be undone; at once if there is none. */
  hold: (send: () => void) => void;
  /** Drops what is held. `why` is said. */
  cancel: (why?: string) => void;
}

/** A timer that fires this late was asleep: nobody watched the bar. */
const lateMs = 2_000;

/**
 * Holds an approval back for as long as the gateway says. What is held is dropped if the page or the view is left, or if
 * the computer slept: only what stood on the screen the whole time is sent.
 */
export function useUndo(): Undo {
  const [held, setHeld] = useState<Held>();
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const cancel = (why = 'Not sent.'): void => {
    if (timer.current === undefined) return;
    clearTimeout(timer.current);
    timer.current = undefined;
    setHeld(undefined);
    announce(why);
  };
  const hold = (send: () => void): void => {
    clearTimeout(timer.current);
    const undoMs = meOf(session.get())?.undoMs ?? 5_000;
    if (undoMs <= 0) return send();
    const fromMs = Date.now();
    const untilMs = fromMs + undoMs;
    setHeld({ fromMs, untilMs });
    timer.current = setTimeout(() => {
      if (Date.now() > untilMs + lateMs) return cancel('Not sent: the page was asleep.');
      timer.current = undefined;
      setHeld(undefined);
      send();
    }, undoMs);
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

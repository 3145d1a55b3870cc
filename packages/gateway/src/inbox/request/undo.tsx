import { useEffect, useRef, useState } from 'preact/hooks';
import { announceText } from '../state/store.ts';
import { meOf, session } from '../state/me.ts';
import type { ComponentChildren } from 'preact';

/** A delayed answer. */
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
  /** Drops the delayed answer, and announces `why`. */
  cancel: (why?: string) => void;
}

/** If the timer fires this late, the computer slept, and the reviewer did not see the time to undo. */
const lateMs = 2_000;
/** A longer check means that the computer slept, or that the gateway does not answer. */
const longestCheckMs = 30_000;

/**
 * Delays an approval for the gateway's time to undo. Drops it if the user leaves the page or the view, or if the
 * computer slept: only an approval that was visible the whole time is sent.
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

/** Shows for how long an approval can still be undone. Its children describe the approval. */
export function UndoBar({ held, undo, children }: { held: Held; undo: () => void; children: ComponentChildren }) {
  const [now, setNow] = useState(Date.now);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    button.current?.focus({ preventScroll: true });
    const timer = setInterval(() => setNow(Date.now()), 100);
    return () => clearInterval(timer);
  }, []);
  const leftMs = Math.max(0, held.untilMs - now);
  return (
    <div class="undo">
      <p role="status">{children}. You can still undo it.</p>
      <progress max={held.untilMs - held.fromMs} value={leftMs} aria-label="Time to undo" />
      <span aria-hidden="true">{Math.ceil(leftMs / 1_000)} s</span>
      <button type="button" class="primary" ref={button} onClick={() => undo()}>
        Undo
      </button>
    </div>
  );
}

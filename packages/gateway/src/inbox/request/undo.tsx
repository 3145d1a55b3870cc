import { useEffect, useRef, useState } from 'preact/hooks';
import { useShortcuts } from '../state/shortcuts.ts';
import { announceText } from '../state/store.ts';
import { type HeldBack, holdBack, undoTimeMs } from './hold-back.ts';
import type { ComponentChildren } from 'preact';
import { Button } from '../parts/controls.tsx';

export interface UndoTime {
  fromMs: number;
  untilMs: number;
}

/** Delays a dialog's answer for the gateway's time to undo. A closed dialog drops it; a page that is left sends it. */
export function useUndo() {
  const [held, setHeld] = useState<HeldBack>();
  const current = useRef<HeldBack>(undefined);
  const set = (next: HeldBack | undefined): void => {
    current.current?.cancel();
    current.current = next;
    setHeld(next);
  };
  const cancel = (why = 'Not sent.'): void => {
    if (current.current === undefined) return;
    set(undefined);
    announceText(why);
  };
  /** Calls `send` after the time to undo, or at once if one of the deadlines is too near. */
  const hold = (send: () => void, deadlines: readonly (string | null)[]): void => {
    const delayMs = undoTimeMs(deadlines);
    if (delayMs === undefined || delayMs === 0) return send();
    set(
      holdBack(delayMs, {
        send: () => {
          set(undefined);
          send();
        },
        drop: (why) => cancel(`Not sent: ${why}.`),
      }),
    );
  };
  useEffect(() => () => cancel('Not sent: you closed the dialog.'), []);
  return { held, hold, cancel: (): void => cancel() };
}

interface UndoBarProps {
  held: UndoTime;
  undo: () => void;
  /** True: its button gets the focus, and what is approved is announced. */
  focus?: boolean;
  children: ComponentChildren;
}

/** Shows for how long an approval can still be undone. Its children describe the approval. */
export function UndoBar({ held, undo, focus = true, children }: UndoBarProps) {
  const [now, setNow] = useState(Date.now);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (focus) button.current?.focus({ preventScroll: true });
    const timer = setInterval(() => setNow(Date.now()), 100);
    return () => clearInterval(timer);
  }, []);
  useShortcuts({ z: undo });
  const leftMs = Math.max(0, held.untilMs - now);
  return (
    <div class="undo">
      <p role={focus ? 'status' : undefined}>{children}</p>
      <progress max={held.untilMs - held.fromMs} value={leftMs} aria-label="Time to undo" />
      <Button class="primary" ref={button} onClick={() => undo()}>
        Undo <span aria-hidden="true">({Math.ceil(leftMs / 1_000)} s)</span>
      </Button>
    </div>
  );
}

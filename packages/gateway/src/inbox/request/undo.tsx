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

/** Delays the answer of a dialog, for undoing. Closing the dialog drops the answer, and leaving the page sends it. */
export function useUndo() {
  const [held, setHeld] = useState<HeldBack>();
  const pending = useRef<HeldBack>(undefined);
  const set = (next: HeldBack | undefined): void => {
    pending.current?.cancel();
    pending.current = next;
    setHeld(next);
  };
  const cancel = (why = 'Not sent.'): void => {
    if (pending.current === undefined) return;
    set(undefined);
    announceText(why);
  };
  /** Calls `send` after the time to undo; at once if one of `deadlines` is too near. */
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
  /** True: the button takes the focus, and screen readers announce the children. */
  focus?: boolean;
  children: ComponentChildren;
}

/** Shows how long an approval can still be undone, with a button for that. The children describe the approval. */
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

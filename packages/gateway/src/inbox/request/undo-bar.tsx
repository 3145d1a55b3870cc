import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Held } from './use-undo.ts';

/** Shows for how long an approval can still be undone. Its children say what is approved. */
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

import { useEffect, useState } from 'preact/hooks';

/** A key or click that was meant for what was on the screen before must not answer this. */
const armingMs = 500;

/** True once a text has been on the screen for half a second. */
export function useArmed(shownAtMs: number): boolean {
  const [armedFor, setArmedFor] = useState<number>();
  useEffect(() => {
    const timer = setTimeout(() => setArmedFor(shownAtMs), Math.max(0, shownAtMs + armingMs - Date.now()));
    return () => clearTimeout(timer);
  }, [shownAtMs]);
  return armedFor === shownAtMs;
}

import { useEffect, useState } from 'preact/hooks';

/** For this long, keys and clicks do not count: they may be meant for what was on the screen before. */
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

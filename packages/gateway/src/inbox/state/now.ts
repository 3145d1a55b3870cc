import { useEffect, useState } from 'preact/hooks';
import { serverNowMs } from '../api/server-clock.ts';

/** The time by the server's clock; the component is drawn again every second. */
export function useNow(): number {
  const [now, setNow] = useState(serverNowMs);
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNowMs()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

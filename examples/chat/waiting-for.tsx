/** Shows a user that their chat waits for a reviewer: copy this file beside your page. */
import { useEffect, useState } from 'react';

/** A member of `waits` in the notes of the gateway. */
export interface Wait {
  /** One sentence, for what has no people: an agent without a worker, or a model that is called again. */
  message: string;
  /** The call that waits. */
  sentence?: string;
  /** The reviewers who can answer: `ann or bob`. */
  people?: string;
  /** ISO 8601; null: for ever. */
  deadline?: string | null;
  /** The address of the request in the inbox. */
  url?: string;
}

export function WaitingFor({ waits }: { waits: readonly Wait[] }) {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <ul aria-label="Waiting for">
      {waits.map((wait) => (
        <li key={`${wait.url} ${wait.message}`}>
          {wait.sentence === undefined || wait.people === undefined ? (
            wait.message
          ) : (
            <>
              {wait.sentence} · waiting for {wait.people}
              {wait.deadline != null && ` until ${timeText(wait.deadline, nowMs)}`}
              {wait.url !== undefined && (
                <>
                  {' '}
                  · <a href={wait.url}>Open in the inbox</a>
                </>
              )}
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Such as `15:52 (in 12 min)`. */
function timeText(deadline: string, nowMs: number): string {
  const at = new Date(deadline);
  const leftMinutes = Math.max(0, Math.ceil((at.getTime() - nowMs) / 60_000));
  const time = at.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  return leftMinutes > 12 * 60 ? at.toLocaleString() : `${time} (in ${leftMinutes} min)`;
}

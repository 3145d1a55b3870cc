import { isUrgent } from '../../http/inbox/open-view.ts';
import { leftText } from '../state/texts.ts';
import { useEffect, useState } from 'preact/hooks';
import { serverNowMs } from '../api/fetch-json.ts';

/** A time in the zone of the reader: with seconds for today, else with the date; `unknown` if `at` is no time. */
export function LocalTime({ at, before }: { at: string; before?: string }) {
  const ms = Date.parse(at);
  if (Number.isNaN(ms)) return <span>{before}unknown</span>;
  const time = new Date(ms);
  const isToday = time.toDateString() === new Date().toDateString();
  const shown = isToday
    ? time.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
    : time.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  return (
    <>
      {before}
      <time dateTime={at} title={time.toLocaleString()}>
        {shown}
      </time>
    </>
  );
}

/** The time left to a deadline, marked as urgent when little is left of the whole time. */
export function TimeLeft({ requestedAt, deadline }: { requestedAt: string; deadline: string | null }) {
  const now = useNow();
  if (deadline === null) return <span class="soft">no deadline</span>;
  const text = leftText(deadline, now);
  const isPassed = text === 'passed';
  return (
    <time
      dateTime={deadline}
      title={new Date(deadline).toLocaleString()}
      class={isUrgent(requestedAt, deadline, now) ? 'urgent' : undefined}
    >
      {isPassed ? 'deadline passed' : `${text} left`}
    </time>
  );
}

/** The time by the clock of the gateway. The component is drawn again every second. */
export function useNow(): number {
  const [now, setNow] = useState(serverNowMs);
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNowMs()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

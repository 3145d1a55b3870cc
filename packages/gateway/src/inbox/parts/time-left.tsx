import { useNow } from '../state/now.ts';
import { isUrgent, leftText } from '../state/time-texts.ts';

/** The time until a deadline, by the server's clock, counted down. */
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

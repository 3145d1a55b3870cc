/** A point in time, in the reader's own time zone. */
export function LocalTime({ at }: { at: string }) {
  const ms = Date.parse(at);
  if (Number.isNaN(ms)) return <span>unknown</span>;
  const time = new Date(ms);
  const parts = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
  const isToday = time.toDateString() === new Date().toDateString();
  const shown = !isToday
    ? time.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })
    : time.toLocaleTimeString(undefined, parts);
  return (
    <time dateTime={at} title={time.toLocaleString()}>
      {shown}
    </time>
  );
}

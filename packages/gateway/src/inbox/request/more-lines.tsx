/** Further lines or rows are drawn on demand. */
export const mostLines = 500;

/** The button that draws further lines. `shown`: how many are drawn. */
export function MoreLines({ all, shown, show }: { all: number; shown: number; show: (count: number) => void }) {
  if (all <= shown) return null;
  return (
    <button type="button" onClick={() => show(shown + mostLines * 4)}>
      Show more ({(all - shown).toLocaleString('en')} left)
    </button>
  );
}

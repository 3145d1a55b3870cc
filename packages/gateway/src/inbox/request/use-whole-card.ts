import { useState } from 'preact/hooks';
import { problemText } from '../api/problem-text.ts';
import { announceText } from '../state/announcements.ts';
import type { LoadedRequest } from './use-request.ts';
import { makeWholeCard, type WholeCard } from './whole-card.ts';

/** The whole card of a request, once somebody has asked for it with `unfold`. A changed text is folded again. */
export function useWholeCard(shown: LoadedRequest | undefined): { whole: WholeCard | undefined; unfold: () => void } {
  const [unfolded, setUnfolded] = useState<WholeCard & { shownAtMs: number }>();
  const whole = unfolded?.shownAtMs === shown?.shownAtMs ? unfolded : undefined;
  const unfold = (): void => {
    if (shown === undefined || whole !== undefined || shown.view.card.whole) return;
    const { shownAtMs, view } = shown;
    announceText('Making the whole card …');
    makeWholeCard(view.request).then(
      (made) => {
        setUnfolded({ ...made, shownAtMs });
        announceText('Everything is shown now.');
      },
      (error: unknown) => announceText(problemText(error), 'bad'),
    );
  };
  return { whole, unfold };
}

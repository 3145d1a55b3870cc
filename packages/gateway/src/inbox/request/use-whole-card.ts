import { useState } from 'preact/hooks';
import { problemText } from '../api/problem-text.ts';
import { announce } from '../state/announcements.ts';
import type { ShownRequest } from './use-request.ts';
import { makeWholeCard, type WholeCard } from './whole-card.ts';

/** The whole card of a request, once somebody has asked for it with `unfold`. A changed text is folded again. */
export function useWholeCard(shown: ShownRequest | undefined): { whole: WholeCard | undefined; unfold: () => void } {
  const [unfolded, setUnfolded] = useState<WholeCard & { shownAtMs: number }>();
  const whole = unfolded?.shownAtMs === shown?.shownAtMs ? unfolded : undefined;
  const unfold = (): void => {
    if (shown === undefined || whole !== undefined || shown.view.card.whole) return;
    const { shownAtMs, view } = shown;
    announce('Making the whole card …');
    makeWholeCard(view.request).then(
      (made) => {
        setUnfolded({ ...made, shownAtMs });
        announce('Everything is shown now.');
      },
      (error: unknown) => announce(problemText(error), 'bad'),
    );
  };
  return { whole, unfold };
}

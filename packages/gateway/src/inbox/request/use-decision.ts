import { useState, useRef } from 'preact/hooks';
import { viewedBounds } from 'countersign/base';
import type { Receipt, Viewed, ApprovalDetails } from 'countersign/client';
import { sendJson, newMessageId, sendAgain } from '../api/fetch-json.ts';
import { problemText } from '../state/texts.ts';
import { announceText } from '../state/store.ts';

/** Sends messages about a request, other than decisions. Calls all of `then` after each accepted message. */
export function useMessage(...then: (() => void)[]) {
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState('');
  // A retry of the same content has the same id, so that it counts once.
  const attempt = useRef<{ content: string; messageId: string } | undefined>(undefined);
  /** `done` is the text for screen readers once the gateway has accepted the message. */
  const send = async (path: string, body: object, done: string): Promise<void> => {
    const content = JSON.stringify(body);
    if (attempt.current?.content !== content) attempt.current = { content, messageId: newMessageId() };
    const { messageId } = attempt.current;
    setSending(true);
    setProblem('');
    try {
      await sendAgain(() => sendJson<Receipt>('POST', path, body, { 'idempotency-key': messageId }));
      announceText(done, 'good');
      for (const each of then) each();
    } catch (error) {
      setProblem(problemText(error));
    }
    setSending(false);
  };
  return { isSending, problem, setProblem, send };
}

export function viewedSince(shownAtMs: number, more: Pick<Viewed, 'card' | 'userMessages' | 'preview'> = {}): Viewed {
  const durationMs = Math.round(Math.min(viewedBounds.durationMs, Math.max(0, Date.now() - shownAtMs)));
  return { channel: 'inbox', durationMs, ...more };
}

/** Why the call cannot be approved; undefined if the page shows all of it. `isPart`: the page shows only the row. */
export function whyNotApprove(
  { shown, preview }: ApprovalDetails,
  isWhole: boolean,
  isPart = false,
): string | undefined {
  if (isPart && !isWhole) return 'Only part of this request is shown, so it cannot be approved now. You can deny it.';
  if (shown !== 'all') return 'Not all arguments are shown to you, so it cannot be approved here: deny or respond.';
  if (preview?.state === 'pending') return 'The tool is still working out what would change.';
  return isWhole ? undefined : 'Show everything before you approve it.';
}

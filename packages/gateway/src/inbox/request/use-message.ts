import { useRef, useState } from 'preact/hooks';
import type { Receipt } from 'countersign/client';
import { sendJson } from '../api/fetch-json.ts';
import { newMessageId } from '../api/message-id.ts';
import { problemText } from '../api/problem-text.ts';
import { sendAgain } from '../api/send-again.ts';
import { announceText } from '../state/announcements.ts';

interface Message {
  isSending: boolean;
  problem: string;
  setProblem: (problem: string) => void;
  /** `done`: what to say once it counts. */
  send: (path: string, body: object, done: string) => Promise<void>;
}

/** Sends a message about a request that is no decision. `then` runs once it counts. */
export function useMessage(then: () => void): Message {
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState('');
  // A retry with the same content has the same id, so that it counts once.
  const attempt = useRef<{ content: string; messageId: string } | undefined>(undefined);
  const send = async (path: string, body: object, done: string): Promise<void> => {
    const content = JSON.stringify(body);
    if (attempt.current?.content !== content) attempt.current = { content, messageId: newMessageId() };
    const { messageId } = attempt.current;
    setSending(true);
    setProblem('');
    try {
      await sendAgain(() => sendJson<Receipt>('POST', path, body, { 'idempotency-key': messageId }));
      announceText(done, 'good');
      then();
    } catch (error) {
      setProblem(problemText(error));
    }
    setSending(false);
  };
  return { isSending, problem, setProblem, send };
}

import { useRef, useState } from 'preact/hooks';
import type { Receipt } from 'countersign/client';
import { apiPath, sendJson } from '../api/fetch-json.ts';
import { problemText } from '../api/problem-text.ts';
import { announceText } from '../state/announcements.ts';

/** Where the user of a session says more to it. */
export function ReplyBox({ workflowId }: { workflowId: string }) {
  const [content, setContent] = useState('');
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  // Sent again, the same text counts once.
  const key = useRef(crypto.randomUUID());
  const change = (text: string): void => {
    key.current = crypto.randomUUID();
    setContent(text);
    setProblem('');
  };
  const send = async (): Promise<void> => {
    if (isBusy) return;
    if (content.trim() === '') return setProblem('Write a message.');
    setBusy(true);
    try {
      const headers = { 'idempotency-key': key.current };
      const receipt = await sendJson<Receipt>('POST', apiPath`/runs/${workflowId}/messages`, { content }, headers);
      const taken = 'The model gets your message before its next turn.';
      announceText(receipt.recorded === true ? receipt.message : taken, 'good');
      change('');
    } catch (error) {
      setProblem(problemText(error));
    }
    setBusy(false);
  };
  return (
    <form
      class="reply"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <label>
        Say more to the agent
        <textarea
          rows={3}
          maxLength={100_000}
          value={content}
          aria-keyshortcuts="Control+Enter"
          aria-invalid={problem !== ''}
          aria-describedby="reply-problem"
          onInput={(event) => change(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.ctrlKey === event.metaKey) return;
            event.preventDefault();
            void send();
          }}
        />
      </label>
      <p id="reply-problem" class="problem" role="alert">
        {problem}
      </p>
      <div class="buttons">
        <button type="submit" class="primary" aria-disabled={isBusy}>
          Send
        </button>
      </div>
    </form>
  );
}

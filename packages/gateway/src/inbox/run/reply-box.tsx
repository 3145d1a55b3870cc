import { useRef, useState } from 'preact/hooks';
import type { Receipt } from 'countersign/client';
import { apiPath, sendJson } from '../api/fetch-json.ts';
import { problemText } from '../state/texts.ts';
import type { LastTurn } from './timeline.ts';
import { announceText } from '../state/store.ts';
import { Button, onSend, ProblemText, TextArea } from '../parts/controls.tsx';

/** The form in which the user of a session writes to the agent, retries a failed turn, or stops a running one. */
export function ReplyBox({ workflowId, lastTurn }: { workflowId: string; lastTurn: LastTurn | undefined }) {
  const [content, setContent] = useState('');
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  // The idempotency key of retries, so that the same text counts once.
  const key = useRef(crypto.randomUUID());
  const change = (text: string): void => {
    key.current = crypto.randomUUID();
    setContent(text);
    setProblem('');
  };
  /** Sends a message to the run, unless another one is under way. Resolves with true if the gateway has accepted it. */
  const post = async (body: object, idempotencyKey: string, acceptedText: string): Promise<boolean> => {
    if (isBusy) return false;
    setBusy(true);
    setProblem('');
    try {
      const headers = { 'idempotency-key': idempotencyKey };
      const receipt = await sendJson<Receipt>('POST', apiPath`/runs/${workflowId}/messages`, body, headers);
      announceText(receipt.recorded === true ? receipt.message : acceptedText, 'good');
      return true;
    } catch (error) {
      setProblem(problemText(error));
      return false;
    } finally {
      setBusy(false);
    }
  };
  const send = async (): Promise<void> => {
    if (content.trim() === '') return setProblem('Write a message.');
    if (await post({ content }, key.current, 'The model gets your message before its next turn.')) change('');
  };
  return (
    <form class="reply" noValidate onSubmit={onSend(send)}>
      <TextArea
        label="Say more to the agent"
        rows={3}
        maxLength={100_000}
        value={content}
        aria-keyshortcuts="Control+Enter"
        aria-invalid={problem !== ''}
        aria-describedby="reply-problem"
        change={change}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.ctrlKey === event.metaKey) return;
          event.preventDefault();
          void send();
        }}
      />
      <ProblemText id="reply-problem">{problem}</ProblemText>
      <div class="buttons">
        <button type="submit" class="primary" aria-disabled={isBusy}>
          Send
        </button>
        {lastTurn?.canRetry && (
          <Button
            aria-disabled={isBusy}
            onClick={() => void post({ retry: true }, lastTurn.eventId, 'The model is asked again.')}
          >
            Try again
          </Button>
        )}
        {lastTurn?.canStop && (
          <Button
            aria-disabled={isBusy}
            onClick={() => void post({ stop: true }, `${lastTurn.eventId}-stop`, 'The turn is stopped.')}
          >
            Stop
          </Button>
        )}
      </div>
    </form>
  );
}

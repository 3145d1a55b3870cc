import { useState } from 'preact/hooks';
import { AnswerForm } from './answer-form.tsx';
import type { AnswerFormProps } from './form-props.ts';

/** Approves the call, with words for the model. */
export function CommentForm({ isBusy, cancel, send }: AnswerFormProps) {
  const [comment, setComment] = useState('');
  const reason = comment.trim();
  return (
    <AnswerForm
      title="Approve this call with a comment"
      verb="Approve"
      isBusy={isBusy}
      isBlocked={reason === ''}
      cancel={cancel}
      submit={() => send({ approved: true, reason })}
    >
      <label>
        Comment, which the model reads before the tool's result
        <textarea
          rows={2}
          maxLength={2_000}
          value={comment}
          onInput={(event) => setComment(event.currentTarget.value)}
        />
      </label>
    </AnswerForm>
  );
}

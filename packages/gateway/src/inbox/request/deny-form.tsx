import { useState } from 'preact/hooks';
import { AnswerForm } from './answer-form.tsx';
import type { AnswerFormProps } from './form-props.ts';

/** Denies the call. */
export function DenyForm({ isBusy, cancel, send }: AnswerFormProps) {
  const [reason, setReason] = useState('');
  const text = reason.trim();
  return (
    <AnswerForm
      title="Deny this call"
      verb="Deny"
      isBusy={isBusy}
      isPrimary
      cancel={cancel}
      submit={() => send({ approved: false, ...(text !== '' && { reason: text }) })}
    >
      <label>
        Reason, which the model reads (optional)
        <textarea rows={2} maxLength={2_000} value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
      </label>
    </AnswerForm>
  );
}

import { useState } from 'preact/hooks';
import { visibleText } from 'countersign/base';
import { apiPath } from '../api/fetch-json.ts';
import { AnswerForm } from './answer-form.tsx';
import type { FormProps } from './form-props.ts';
import { useMessage } from './use-message.ts';

/** Passes one's own seat among the reviewers on. */
export function DelegateForm({ request, isBusy, cancel, then }: FormProps & { then: () => void }) {
  const [to, setTo] = useState('');
  const { isSending, problem, setProblem, send } = useMessage(() => {
    then();
    cancel();
  });
  const { requestId, workflowId } = request;
  const submit = (): void => {
    if (to.trim() === '') return setProblem('Write who is to answer in your place.');
    void send(
      `${apiPath`/approvals/${requestId}/delegate`}?workflowId=${encodeURIComponent(workflowId)}`,
      {
        to: to.trim(),
      },
      `${visibleText(to.trim())} decides in your place now.`,
    );
  };
  return (
    <AnswerForm
      title="Let somebody else answer"
      verb="Delegate"
      isBusy={isBusy || isSending}
      cancel={cancel}
      submit={submit}
    >
      <label>
        Who answers in your place
        <input
          autocomplete="off"
          autocapitalize="off"
          maxLength={200}
          value={to}
          aria-invalid={problem === '' ? undefined : 'true'}
          aria-describedby="delegate-problem"
          onInput={(event) => {
            setTo(event.currentTarget.value);
            setProblem('');
          }}
        />
      </label>
      <p id="delegate-problem" class="problem" role="alert">
        {problem}
      </p>
    </AnswerForm>
  );
}

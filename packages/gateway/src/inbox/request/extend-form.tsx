import { useState } from 'preact/hooks';
import { parseDuration } from 'countersign/base';
import { apiPath } from '../api/fetch-json.ts';
import { AnswerForm } from './answer-form.tsx';
import type { FormProps } from './form-props.ts';
import { useMessage } from './use-message.ts';

/** Extends the deadline of a request. */
export function ExtendForm({ request, isBusy, cancel, then }: FormProps & { then: () => void }) {
  const [duration, setDuration] = useState('1h');
  const { isSending, problem, setProblem, send } = useMessage(() => {
    then();
    cancel();
  });
  const { requestId, workflowId, deadline } = request;
  const submit = (): void => {
    const parsed = parseDuration(duration.trim());
    if (!('durationMs' in parsed) || parsed.durationMs === null || deadline === null) {
      return setProblem('Write a whole number and a unit, such as 30s, 5m, 1h or 1d.');
    }
    const until = new Date(Date.parse(deadline) + parsed.durationMs).toISOString();
    void send(
      `${apiPath`/approvals/${requestId}/extend`}?workflowId=${encodeURIComponent(workflowId)}`,
      { until },
      `It waits until ${new Date(until).toLocaleString()}.`,
    );
  };
  return (
    <AnswerForm title="Extend the deadline" verb="Extend" isBusy={isBusy || isSending} cancel={cancel} submit={submit}>
      <label>
        How much longer after its present deadline
        <input
          list="durations"
          autocomplete="off"
          autocapitalize="off"
          value={duration}
          aria-invalid={problem === '' ? undefined : 'true'}
          aria-describedby="extend-problem"
          onInput={(event) => {
            setDuration(event.currentTarget.value);
            setProblem('');
          }}
        />
      </label>
      <datalist id="durations">
        {['15m', '1h', '4h', '1d'].map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <p id="extend-problem" class="problem" role="alert">
        {problem}
      </p>
    </AnswerForm>
  );
}

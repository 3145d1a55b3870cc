import { useState } from 'preact/hooks';
import { parseDuration, personsShown, visibleText } from 'countersign/base';
import { apiPath } from '../api/fetch-json.ts';
import { AnswerForm, type FormProps, personInput } from './answer-form.tsx';
import { PeopleList, usePeople } from './hand-over.tsx';
import { useMessage } from './use-decision.ts';

/** Extends the deadline of a request. */
export function ExtendForm({ request, isBusy, cancel, then }: FormProps & { then: () => void }) {
  const [duration, setDuration] = useState('1h');
  const { isSending, problem, setProblem, send } = useMessage(() => {
    then();
    cancel();
  });
  const { requestId, workflowId, deadline } = request;
  const until = deadlineAfter(deadline, duration.trim());
  const submit = (): void => {
    if (until === undefined) return setProblem('Write a whole number and a unit, such as 30s, 5m, 1h or 1d.');
    void send(
      `${apiPath`/approvals/${requestId}/extend`}?workflowId=${encodeURIComponent(workflowId)}`,
      { until },
      `It waits until ${new Date(until).toLocaleString()}.`,
    );
  };
  return (
    <AnswerForm title="Extend the deadline" verb="Extend" isBusy={isBusy || isSending} cancel={cancel} submit={submit}>
      <label>
        Extend by{until !== undefined && ` (new deadline ${new Date(until).toLocaleString()})`}
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

/** The deadline after an extension; undefined if the duration is not readable, or there is no deadline. */
function deadlineAfter(deadline: string | null, duration: string): string | undefined {
  const parsed = parseDuration(duration);
  if (!('durationMs' in parsed) || parsed.durationMs === null || deadline === null) return undefined;
  const until = new Date(Date.parse(deadline) + parsed.durationMs);
  return Number.isNaN(until.getTime()) ? undefined : until.toISOString();
}

/** For an operator: gives the seat of one person to another. */
export function MoveForm({ request, isBusy, cancel, then }: FormProps & { then: () => void }) {
  const { requestId, workflowId, approvers = [], people } = request;
  const [from, setFrom] = useState(approvers.length === 1 ? approvers[0]! : '');
  const [to, setTo] = useState('');
  const [reason, setReason] = useState('');
  const known = usePeople(request);
  const { isSending, problem, setProblem, send } = useMessage(() => {
    then();
    cancel();
  });
  const move = { from: from.trim(), to: to.trim(), reason: reason.trim() };
  const field = (set: (text: string) => void) => ({
    'aria-invalid': problem === '' ? undefined : ('true' as const),
    'aria-describedby': 'move-problem',
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) => {
      set(currentTarget.value);
      setProblem('');
    },
  });
  const submit = (): void => {
    if (Object.values(move).includes('')) return setProblem('Write whose place it is, who answers in it, and why.');
    void send(
      `${apiPath`/approvals/${requestId}/move`}?workflowId=${encodeURIComponent(workflowId)}`,
      move,
      `${visibleText(move.to)} decides in the place of ${visibleText(move.from)} now.`,
    );
  };
  return (
    <AnswerForm
      title="Move to another reviewer"
      verb="Move"
      isBusy={isBusy || isSending}
      cancel={cancel}
      submit={submit}
    >
      <label>
        In whose place
        <input list="approvers" {...personInput} value={from} {...field(setFrom)} />
      </label>
      <datalist id="approvers">
        {approvers.map((id) => (
          <option key={id} value={id}>
            {visibleText(personsShown(people)(id))}
          </option>
        ))}
      </datalist>
      <label>
        Who answers
        <input list="people" {...personInput} value={to} {...field(setTo)} />
      </label>
      <PeopleList id="people" people={known?.people ?? []} />
      <label>
        Reason, which the audit keeps
        <textarea rows={2} maxLength={2_000} value={reason} {...field(setReason)} />
      </label>
      <p id="move-problem" class="problem" role="alert">
        {problem}
      </p>
    </AnswerForm>
  );
}

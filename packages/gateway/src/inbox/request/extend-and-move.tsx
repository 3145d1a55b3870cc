import { useState } from 'preact/hooks';
import { parseDuration, personsShown, visibleText } from 'countersign/base';
import { requestPath } from '../api/fetch-json.ts';
import { ProblemText, TextArea, TextField, wrongIf } from '../parts/controls.tsx';
import { AnswerForm, type FormProps, personInput } from './answer-form.tsx';
import { PeopleList, usePeople } from './hand-over.tsx';
import { useMessage } from './use-decision.ts';

export function ExtendForm({ request, isBusy, cancel, then }: FormProps & { then: () => void }) {
  const [duration, setDuration] = useState('1h');
  const { isSending, problem, setProblem, send } = useMessage(then, cancel);
  const until = deadlineAfter(request.deadline, duration.trim());
  const submit = (): void => {
    if (until === undefined) return setProblem('Write a whole number and a unit, such as 30s, 5m, 1h or 1d.');
    void send(requestPath(request, '/extend'), { until }, `It waits until ${new Date(until).toLocaleString()}.`);
  };
  return (
    <AnswerForm title="Extend the deadline" verb="Extend" isBusy={isBusy || isSending} cancel={cancel} submit={submit}>
      <TextField
        label={`Extend by${until === undefined ? '' : ` (new deadline ${new Date(until).toLocaleString()})`}`}
        list="durations"
        autocomplete="off"
        autocapitalize="off"
        value={duration}
        {...wrongIf(problem, 'extend-problem')}
        change={(text) => {
          setDuration(text);
          setProblem('');
        }}
      />
      <datalist id="durations">
        {['15m', '1h', '4h', '1d'].map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <ProblemText id="extend-problem">{problem}</ProblemText>
    </AnswerForm>
  );
}

/** The deadline after an extension; undefined if the duration is not valid, or the request has no deadline. */
function deadlineAfter(deadline: string | null, duration: string): string | undefined {
  const parsed = parseDuration(duration);
  if (!('durationMs' in parsed) || parsed.durationMs === null || deadline === null) return undefined;
  const until = new Date(Date.parse(deadline) + parsed.durationMs);
  return Number.isNaN(until.getTime()) ? undefined : until.toISOString();
}

/** The form with which an operator moves the seat of one reviewer to another. An only approver is filled in. */
export function MoveForm({ request, isBusy, cancel, then }: FormProps & { then: () => void }) {
  const { approvers = [], people } = request;
  const [from, setFrom] = useState(approvers.length === 1 ? approvers[0]! : '');
  const [to, setTo] = useState('');
  const [reason, setReason] = useState('');
  const known = usePeople(request);
  const { isSending, problem, setProblem, send } = useMessage(then, cancel);
  const move = { from: from.trim(), to: to.trim(), reason: reason.trim() };
  const field = (set: (text: string) => void) => ({
    ...wrongIf(problem, 'move-problem'),
    change: (text: string) => {
      set(text);
      setProblem('');
    },
  });
  const submit = (): void => {
    if (Object.values(move).includes('')) return setProblem('Write whose place it is, who answers in it, and why.');
    const done = `${visibleText(move.to)} decides in the place of ${visibleText(move.from)} now.`;
    void send(requestPath(request, '/move'), move, done);
  };
  return (
    <AnswerForm
      title="Move to another reviewer"
      verb="Move"
      isBusy={isBusy || isSending}
      cancel={cancel}
      submit={submit}
    >
      <TextField label="In whose place" list="approvers" {...personInput} value={from} {...field(setFrom)} />
      <datalist id="approvers">
        {approvers.map((id) => (
          <option key={id} value={id}>
            {visibleText(personsShown(people)(id))}
          </option>
        ))}
      </datalist>
      <TextField label="Who answers" list="people" {...personInput} value={to} {...field(setTo)} />
      <PeopleList id="people" people={known?.people ?? []} />
      <TextArea label="Reason, which the audit keeps" rows={2} maxLength={2_000} value={reason} {...field(setReason)} />
      <ProblemText id="move-problem">{problem}</ProblemText>
    </AnswerForm>
  );
}

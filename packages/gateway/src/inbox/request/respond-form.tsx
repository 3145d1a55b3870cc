import { useState } from 'preact/hooks';
import { readJson } from 'countersign/json';
import { AnswerForm } from './answer-form.tsx';
import type { AnswerFormProps } from './form-props.ts';

/** Answers in the tool's place. */
export function RespondForm({ isBusy, cancel, send }: AnswerFormProps) {
  const [text, setText] = useState('');
  const [isJson, setJson] = useState(false);
  const [problem, setProblem] = useState('');
  const submit = (): void => {
    if (text.trim() === '') return setProblem("Write what the model gets instead of the tool's result.");
    if (!isJson) return send({ approved: false, response: text });
    const read = readJson(text, { root: 'the answer' });
    if ('problem' in read) setProblem(`Write JSON: ${read.problem}.`);
    else send({ approved: false, response: read.value });
  };
  return (
    <AnswerForm title="Answer in the tool's place" verb="Respond" isBusy={isBusy} cancel={cancel} submit={submit}>
      <label>
        What the model gets instead of the tool's result. The call does not run.
        <textarea
          rows={4}
          maxLength={20_000}
          value={text}
          aria-invalid={problem === '' ? undefined : 'true'}
          aria-describedby="respond-problem"
          onInput={(event) => {
            setText(event.currentTarget.value);
            setProblem('');
          }}
        />
      </label>
      <label class="check">
        <input type="checkbox" checked={isJson} onChange={(event) => setJson(event.currentTarget.checked)} /> It is JSON
      </label>
      <p id="respond-problem" class="problem" role="alert">
        {problem}
      </p>
    </AnswerForm>
  );
}

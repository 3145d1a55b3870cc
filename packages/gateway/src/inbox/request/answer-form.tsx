import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ApprovalDetails } from 'countersign/client';
import type { GivenAnswer } from './decisions.ts';
import { readJson } from 'countersign/json';
import { Button, Checkbox, onSend, ProblemText, TextArea, wrongIf } from '../parts/controls.tsx';

interface FrameProps {
  title: string;
  verb: string;
  isBusy: boolean;
  /** True: the button that sends is the prominent one, as it is for a denial. */
  isPrimary?: boolean;
  isBlocked?: boolean;
  submit: () => void;
  cancel: () => void;
  foot?: ComponentChildren;
  children: ComponentChildren;
}

/** A selector for the field that gets the focus: the first text field, or the checked radio button. */
const first = 'input:not([type=radio]), input:checked, textarea, select';

export const personInput = { autocomplete: 'off', autocapitalize: 'off', maxLength: 200 } as const;

/** A form below the card, which takes the focus. Escape closes the form; its button or Ctrl-Enter sends the answer. */
export function AnswerForm({ title, verb, isBusy, isPrimary, isBlocked, submit, cancel, foot, children }: FrameProps) {
  const form = useRef<HTMLFormElement>(null);
  // A layout effect moves the focus at once, so that the next key goes into the form.
  useLayoutEffect(() => {
    form.current?.scrollIntoView({ block: 'nearest' });
    form.current?.querySelector<HTMLElement>(first)?.focus();
  }, []);
  return (
    <form
      class="answer"
      ref={form}
      aria-label={title}
      noValidate
      onSubmit={onSend(() => !isBusy && isBlocked !== true && submit())}
      onKeyDown={(event) => {
        if (event.isComposing) return;
        if (event.key === 'Enter' && event.ctrlKey !== event.metaKey && !event.repeat) {
          event.preventDefault();
          form.current?.requestSubmit();
        }
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        cancel();
      }}
    >
      <h2>{title}</h2>
      {children}
      <div class="form-foot">
        {foot}
        <p class="buttons">
          <Button onClick={cancel}>Cancel</Button>
          <button
            type="submit"
            class={isPrimary === true ? 'primary' : undefined}
            aria-disabled={isBusy || isBlocked === true}
          >
            {verb}
          </button>
        </p>
      </div>
    </form>
  );
}

export interface FormProps {
  request: ApprovalDetails;
  /** True while an answer is delayed or in flight. */
  isBusy: boolean;
  cancel: () => void;
}

export interface AnswerFormProps extends FormProps {
  send: (answer: GivenAnswer) => void;
}

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
      <TextArea
        label="Reason, which the model reads (optional)"
        rows={2}
        maxLength={2_000}
        value={reason}
        change={setReason}
      />
    </AnswerForm>
  );
}

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
      <TextArea
        label="Comment, which the model reads before the tool's result"
        rows={2}
        maxLength={2_000}
        value={comment}
        change={setComment}
      />
    </AnswerForm>
  );
}

export function RespondForm({ isBusy, cancel, send }: AnswerFormProps) {
  const [text, setText] = useState('');
  const [isJson, setJson] = useState(false);
  const [problem, setProblem] = useState('');
  const submit = (): void => {
    if (text.trim() === '') return setProblem('Write what the model receives as the result.');
    // A response is no approval: the tool does not run.
    if (!isJson) return send({ approved: false, response: text });
    const read = readJson(text, { root: 'the answer' });
    if ('problem' in read) setProblem(`Write JSON: ${read.problem}.`);
    else send({ approved: false, response: read.value });
  };
  return (
    <AnswerForm title="Answer instead of the tool" verb="Respond" isBusy={isBusy} cancel={cancel} submit={submit}>
      <TextArea
        label="The model receives your text as the result. The tool does not run."
        rows={4}
        maxLength={20_000}
        value={text}
        {...wrongIf(problem, 'respond-problem')}
        change={(written) => {
          setText(written);
          setProblem('');
        }}
      />
      <Checkbox checked={isJson} change={setJson}>
        Send as JSON
      </Checkbox>
      <ProblemText id="respond-problem">{problem}</ProblemText>
    </AnswerForm>
  );
}

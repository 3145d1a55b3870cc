import { useEffect, useState } from 'preact/hooks';
import { isObject, type Json } from 'countersign/base';
import { readJson } from 'countersign/json';
import { changedValues, type ChangedValue, formRoot, placedProblems, readForm } from '../form/read-form.ts';
import { formOf } from '../form/form-node.ts';
import { SchemaForm } from '../form/schema-form.tsx';
import { Row } from '../parts/tables.tsx';
import { Foreign, ForeignValue } from '../parts/shown-text.tsx';
import { Checkbox, ProblemText, TextArea } from '../parts/controls.tsx';
import { AnswerForm, type AnswerFormProps } from './answer-form.tsx';
import type { DecisionState } from './decisions.ts';

/** The most characters of edited arguments. A decision cannot contain more. */
const longestJson = 400_000;

/** The form that approves a call with other arguments. It has a field for each value, or the arguments as JSON. */
export function EditForm({ request, isBusy, cancel, send, state }: AnswerFormProps & { state: DecisionState }) {
  const { arguments: before, schema, redacted = [] } = request;
  const [form, setForm] = useState(() => formOf(before, schema ?? {}, schema ?? {}));
  // Without a schema, or with more members than a form shows, the user edits the arguments as JSON.
  const [text, setText] = useState<string | undefined>(
    schema === undefined || form.kind === 'json' ? JSON.stringify(before, null, 2) : undefined,
  );
  const [isTouched, setTouched] = useState(false);
  const refusal = state.kind === 'refused' && !isTouched ? state.problem.message : '';
  useEffect(() => {
    if (refusal !== '') document.querySelector<HTMLElement>('form.answer [aria-invalid=true]')?.focus();
  }, [refusal]);
  if (JSON.stringify(before).length > longestJson) {
    return (
      <AnswerForm title="Edit the arguments" verb="Close" isBusy={isBusy} cancel={cancel} submit={cancel}>
        <p>
          They are too long to be edited: a decision holds at most {longestJson.toLocaleString('en')} characters.
          Approve or deny the call as it is.
        </p>
      </AnswerForm>
    );
  }
  const read = text === undefined ? readForm(form) : readText(text);
  const after = 'value' in read && isObject(read.value) ? read.value : undefined;
  const changes = after === undefined ? [] : changedValues(before, after);
  const problems = 'problems' in read ? read.problems : placedProblems(refusal);
  const touch = (): void => setTouched(true);
  return (
    <AnswerForm
      title="Edit the arguments"
      verb="Approve with these arguments"
      isBusy={isBusy}
      isBlocked={after === undefined || changes.length === 0}
      cancel={cancel}
      foot={
        <>
          <h3>Your changes</h3>
          <Changes changes={changes} isReadable={after !== undefined} />
        </>
      }
      submit={() => {
        setTouched(false);
        send({ approved: true, modifiedArguments: after! });
      }}
    >
      {redacted.length > 0 && (
        <p class="note">
          Placeholders stand for values that you do not see. Where you leave one in its place, the tool gets the
          original.
        </p>
      )}
      {text === undefined ? (
        <SchemaForm
          node={form}
          path={[]}
          root={schema ?? {}}
          problems={problems}
          change={(node) => {
            touch();
            setForm(node);
          }}
        />
      ) : (
        <TextArea
          label="All arguments as JSON"
          class="mono"
          rows={12}
          spellcheck={false}
          value={text}
          aria-invalid={'problems' in read ? 'true' : undefined}
          aria-describedby="edit-problem"
          change={(written) => {
            touch();
            setText(written);
          }}
        />
      )}
      {schema !== undefined && form.kind !== 'json' && (
        <Checkbox
          checked={text !== undefined}
          disabled={after === undefined}
          change={(asJson) => {
            if (asJson) setText(JSON.stringify(after, null, 2));
            else {
              setForm(formOf(after!, schema, schema));
              setText(undefined);
            }
          }}
        >
          Edit as JSON
        </Checkbox>
      )}
      <ProblemText id="edit-problem">
        {text !== undefined && 'problems' in read && <Foreign text={Object.values(read.problems).join(' ')} />}
        {refusal !== '' && Object.keys(problems).length === 0 && <Foreign text={refusal} />}
      </ProblemText>
    </AnswerForm>
  );
}

function readText(text: string): { value: Json } | { problems: Readonly<Record<string, string>> } {
  const read = readJson(text, { root: formRoot });
  if ('problem' in read) return { problems: { [formRoot]: `${read.problem}.` } };
  return isObject(read.value)
    ? read
    : { problems: { [formRoot]: 'The arguments must be a JSON object with all of them.' } };
}

/** The changes so far. `isReadable`: false while a field or the JSON has no valid value, so that they are not known. */
function Changes({ changes, isReadable }: { changes: readonly ChangedValue[]; isReadable: boolean }) {
  if (!isReadable) return <p class="soft">Correct what is marked first.</p>;
  if (changes.length === 0) return <p class="soft">Nothing so far.</p>;
  return (
    <dl class="changes" aria-live="polite">
      {changes.map(({ place, before, after }) => (
        <Row key={place} label={<Foreign text={place} most={300} />}>
          {before !== undefined && (
            <del>
              <ForeignValue value={before} most={500} />
            </del>
          )}{' '}
          {after !== undefined && (
            <ins>
              <ForeignValue value={after} most={500} />
            </ins>
          )}
        </Row>
      ))}
    </dl>
  );
}

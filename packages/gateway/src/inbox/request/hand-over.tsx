import { useState } from 'preact/hooks';
import { visibleText } from 'countersign/base';
import type { ApprovalDetails } from 'countersign/client';
import type { RequestPeople } from '../../http/inbox/api.ts';
import { requestPath } from '../api/fetch-json.ts';
import { useJson } from '../api/use-json.ts';
import { AnswerForm, type FormProps, personInput } from './answer-form.tsx';
import { useMessage } from './use-decision.ts';
import { Button, ProblemText, TextField, wrongIf } from '../parts/controls.tsx';

export function PeopleList({ id, people }: { id: string; people: RequestPeople['people'] }) {
  return (
    <datalist id={id}>
      {people.map((person) => (
        <option key={person.id} value={person.id}>
          {visibleText([person.name, ...person.groups].filter((text) => text !== undefined).join(', '))}
        </option>
      ))}
    </datalist>
  );
}

export function usePeople(request: ApprovalDetails): RequestPeople | undefined {
  return useJson<RequestPeople>(requestPath(request, '/people')).value;
}

/** The form that gives the user's place to another person. A name that no directory knows is refused or confirmed. */
export function HandOverForm({ request, isBusy, cancel, then }: FormProps & { then: () => void }) {
  const [to, setTo] = useState('');
  /** An unknown name that was submitted once. Submitting it a second time sends it. */
  const [asked, setAsked] = useState<string>();
  const known = usePeople(request);
  const { isSending, problem, setProblem, send } = useMessage(then, cancel);
  const name = to.trim();
  const submit = (): void => {
    if (name === '') return setProblem('Write who is to answer in your place.');
    const id = idOf(name, known?.people ?? []);
    if (id === undefined && known?.isComplete === true) return setProblem(`No directory knows '${visibleText(name)}'.`);
    if (id === undefined && asked !== name) {
      setAsked(name);
      return setProblem(`No directory knows '${visibleText(name)}'. Hand over anyway?`);
    }
    void send(requestPath(request, '/delegate'), { to: id ?? name }, `Handed over to ${visibleText(id ?? name)}.`);
  };
  return (
    <AnswerForm
      title="Hand this request over"
      verb={asked === name && name !== '' ? 'Hand over anyway' : 'Hand over'}
      isBusy={isBusy || isSending}
      cancel={cancel}
      submit={submit}
    >
      <TextField
        label="Hand over to"
        list="people"
        {...personInput}
        value={to}
        {...wrongIf(problem, 'delegate-problem')}
        change={(text) => {
          setTo(text);
          setAsked(undefined);
          setProblem('');
        }}
      />
      <PeopleList id="people" people={known?.people ?? []} />
      <ProblemText id="delegate-problem">{problem}</ProblemText>
    </AnswerForm>
  );
}

/** The id of the person with this id, or of the only person with this name; undefined if there is none. */
function idOf(text: string, people: RequestPeople['people']): string | undefined {
  const wanted = text.normalize('NFC').toLowerCase();
  const isWanted = (each: string | undefined): boolean => each?.normalize('NFC').toLowerCase() === wanted;
  const named = people.filter(({ name }) => isWanted(name));
  return (people.find(({ id }) => isWanted(id)) ?? (named.length === 1 ? named[0] : undefined))?.id;
}

/** Tells a person who has handed a request over who answers now, with a button that takes the request back. */
export function TakeBack({ request, me, then }: { request: ApprovalDetails; me: { id: string }; then: () => void }) {
  const { isSending, problem, send } = useMessage(then);
  // `by` is present unless the person gave the seat away. Only a person who gave it is offered it back.
  const given = request.delegations?.find(({ from, by }) => from === me.id && by === undefined);
  if (given === undefined) return null;
  const take = (): void => {
    if (!isSending) void send(requestPath(request, '/delegate'), { to: me.id }, 'You answer this request again.');
  };
  return (
    <>
      <p>You handed this request over to {visibleText(given.to)}.</p>
      <ProblemText>{problem}</ProblemText>
      <p class="buttons">
        <Button aria-disabled={isSending} onClick={take}>
          Take it back
        </Button>
      </p>
    </>
  );
}

import { useState } from 'preact/hooks';
import { visibleText } from 'countersign/base';
import type { RequestedScope } from 'countersign/card';
import { Foreign } from '../parts/shown-text.tsx';
import { AnswerForm } from './answer-form.tsx';
import type { AnswerFormProps } from './form-props.ts';
import { ScopeMatches } from './scope-matches.tsx';
import { useMatches } from './use-matches.ts';

const times = [
  ['', 'until the run ends'],
  ['15m', 'for 15 minutes'],
  ['1h', 'for 1 hour'],
  ['8h', 'for 8 hours'],
  ['1d', 'for 1 day'],
] as const;

/** Approves the call, and later calls of the run like it: the narrowest scope is proposed. */
export function AlwaysForm({
  request,
  isBusy,
  cancel,
  send,
  scopes,
}: AnswerFormProps & { scopes: readonly RequestedScope[] }) {
  const exact = scopes.find(({ kind }) => kind === 'arguments')?.match ?? {};
  const [kind, setKind] = useState<RequestedScope['kind']>(
    exact !== undefined && scopes.some((each) => each.kind === 'arguments') ? 'arguments' : scopes[0]!.kind,
  );
  const [globs, setGlobs] = useState<Readonly<Record<string, string | null>>>(exact);
  const [expiresIn, setExpiresIn] = useState('');
  const [uses, setUses] = useState('');
  const match = Object.fromEntries(Object.entries(globs).filter((pair): pair is [string, string] => pair[1] !== null));
  const scope: RequestedScope = {
    kind,
    ...(kind === 'arguments' && { match }),
    ...(expiresIn !== '' && { expiresIn }),
    ...(/^\d+$/.test(uses) && { uses: Number(uses) }),
  };
  const { matches, problem } = useMatches(request, scope);
  const tool = <Foreign text={request.toolName} most={100} />;
  const titles = {
    call: <>only this very call again</>,
    arguments: <>calls of {tool} whose arguments match</>,
    tool: <>every call of {tool}</>,
  } as const;
  const free = Object.keys(request.arguments).filter((name) => (globs[name] ?? null) === null);
  return (
    <AnswerForm
      title="Approve, and always approve calls like it"
      verb="Approve always"
      isBusy={isBusy}
      isBlocked={problem !== '' || matches?.covers === false}
      cancel={cancel}
      submit={() => send({ approved: true, always: scope })}
    >
      <fieldset>
        <legend>Also approve in this run</legend>
        {scopes.map((each) => (
          <label key={each.kind} class="check">
            <input type="radio" name="scope" checked={kind === each.kind} onChange={() => setKind(each.kind)} />{' '}
            <span>{titles[each.kind]}</span>
          </label>
        ))}
        {kind === 'arguments' &&
          Object.keys(exact).map((name) => {
            const glob = globs[name] ?? null;
            const shownName = visibleText(name).slice(0, 200);
            return (
              <div key={name} class="field glob">
                <label>
                  {shownName}
                  {/* An input of one line would drop line feeds. */}
                  <textarea
                    rows={exact[name]!.includes('\n') ? 4 : 1}
                    autocomplete="off"
                    autocapitalize="off"
                    spellcheck={false}
                    value={glob ?? ''}
                    disabled={glob === null}
                    placeholder={glob === null ? 'any value' : undefined}
                    onInput={(event) => setGlobs({ ...globs, [name]: event.currentTarget.value })}
                  />
                </label>
                <label class="check">
                  <input
                    type="checkbox"
                    checked={glob === null}
                    onChange={(event) =>
                      setGlobs({ ...globs, [name]: event.currentTarget.checked ? null : exact[name]! })
                    }
                  />{' '}
                  Any value<span class="visually-hidden"> of {shownName}</span>
                </label>
              </div>
            );
          })}
        {kind === 'arguments' && <p class="hint">* stands for any text, ? for one character, [*] for a star itself.</p>}
      </fieldset>
      {kind === 'arguments' && free.length > 0 && (
        <p class="note">
          Not limited: <Foreign text={free.join(', ')} most={300} />
        </p>
      )}
      <div class="row">
        <label>
          For how long
          <select value={expiresIn} onChange={(event) => setExpiresIn(event.currentTarget.value)}>
            {times.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <label>
          How many times
          <input
            inputMode="numeric"
            placeholder="any number"
            value={uses}
            onInput={(event) => setUses(event.currentTarget.value.replaceAll(/\D/g, ''))}
          />
        </label>
      </div>
      <p class="problem" role="alert">
        {problem !== '' && <Foreign text={problem} />}
        {matches?.covers === false && 'This does not cover the call itself. Widen the patterns.'}
      </p>
      <ScopeMatches matches={matches} />
    </AnswerForm>
  );
}

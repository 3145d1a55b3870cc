import { useState, useEffect } from 'preact/hooks';
import { visibleText } from 'countersign/base';
import type { RequestedScope } from 'countersign/card';
import type { ApprovalDetails } from 'countersign/client';
import { Foreign } from '../parts/shown-text.tsx';
import { AnswerForm, type AnswerFormProps } from './answer-form.tsx';
import type { Matches, MatchesBody } from '../../http/inbox/api.ts';
import { Checkbox, ProblemText, SelectField, TextArea, TextField } from '../parts/controls.tsx';
import { LocalTime } from '../parts/time.tsx';
import { runHref } from '../state/location.ts';
import { requestPath, sendJson } from '../api/fetch-json.ts';
import { problemText } from '../state/texts.ts';

const pauseMs = 300;

type AlwaysFormProps = AnswerFormProps & { scopes: readonly RequestedScope[] };

const times = [
  ['', 'until the run ends'],
  ['15m', 'for 15 minutes'],
  ['1h', 'for 1 hour'],
  ['8h', 'for 8 hours'],
  ['1d', 'for 1 day'],
] as const;

/** The form that approves a call and later ones like it. In `globs`, null means that an argument may have any value. */
export function AlwaysForm({ request, isBusy, cancel, send, scopes }: AlwaysFormProps) {
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
    call: <>exactly this call</>,
    arguments: <>calls of {tool} whose arguments match</>,
    tool: <>every call of {tool}</>,
  } as const;
  const free = Object.keys(request.arguments).filter((name) => (globs[name] ?? null) === null);
  return (
    <AnswerForm
      title="Approve, and allow similar calls"
      verb="Approve always"
      isBusy={isBusy}
      isBlocked={problem !== '' || matches?.covers === false}
      cancel={cancel}
      submit={() => send({ approved: true, always: scope })}
    >
      <fieldset>
        <legend>In this run, also allow</legend>
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
                {/* This is no `input`, because an `input` would remove line feeds. */}
                <TextArea
                  label={shownName}
                  rows={exact[name]!.includes('\n') ? 4 : 1}
                  autocomplete="off"
                  autocapitalize="off"
                  spellcheck={false}
                  value={glob ?? ''}
                  disabled={glob === null}
                  placeholder={glob === null ? 'any value' : undefined}
                  change={(text) => setGlobs({ ...globs, [name]: text })}
                />
                <Checkbox
                  checked={glob === null}
                  change={(isAny) => setGlobs({ ...globs, [name]: isAny ? null : exact[name]! })}
                >
                  Any value<span class="visually-hidden"> of {shownName}</span>
                </Checkbox>
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
        <SelectField label="For how long" value={expiresIn} choices={times} choose={setExpiresIn} />
        <TextField
          label="How many times"
          inputMode="numeric"
          placeholder="any number"
          value={uses}
          change={(text) => setUses(text.replaceAll(/\D/g, ''))}
        />
      </div>
      <ProblemText>
        {problem !== '' && <Foreign text={problem} />}
        {matches?.covers === false && 'This does not cover the call itself. Widen the patterns.'}
      </ProblemText>
      <ScopeMatches matches={matches} />
    </AnswerForm>
  );
}

function ScopeMatches({ matches }: { matches: Matches | undefined }) {
  if (matches === undefined) return <p class="soft">Looking at past calls …</p>;
  const { matched, looked } = matches;
  const calls = (count: number): string => `${count} past call${count === 1 ? '' : 's'}`;
  return (
    <section aria-label="Past calls" aria-live="polite">
      <p>
        {looked === 0
          ? 'No earlier call to compare with.'
          : `Of ${calls(looked)}, it would have covered ${matched.length}.`}
      </p>
      {matched.length > 0 && (
        <ul class="matches">
          {matched.map(({ workflowId, callId, toolName, at, outcome }) => (
            <li key={`${workflowId} ${callId} ${at}`}>
              <Foreign text={toolName} most={100} /> in{' '}
              <a href={runHref(workflowId)}>
                <Foreign text={workflowId} most={100} />
              </a>
              : <Foreign text={outcome.replaceAll('_', ' ')} most={100} /> <LocalTime at={at} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Reads which past calls a scope covers. `problem`: why the gateway refuses the scope. */
function useMatches(request: ApprovalDetails, scope: RequestedScope): { matches?: Matches; problem: string } {
  const [state, setState] = useState<{ matches?: Matches; problem: string }>({ problem: '' });
  const asked = JSON.stringify(scope);
  useEffect(() => {
    let isLatest = true;
    const path = requestPath(request, '/matches');
    const timer = setTimeout(() => {
      sendJson<Matches>('POST', path, { scope: JSON.parse(asked) as RequestedScope } satisfies MatchesBody).then(
        (matches) => isLatest && setState({ matches, problem: '' }),
        (error: unknown) => isLatest && setState({ problem: problemText(error) }),
      );
    }, pauseMs);
    return () => {
      isLatest = false;
      clearTimeout(timer);
    };
  }, [asked]);
  return state;
}

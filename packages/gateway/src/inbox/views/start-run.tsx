import { useRef, useState } from 'preact/hooks';
import { modes } from 'countersign/policy';
import { asProblem, sendJson, newMessageId } from '../api/fetch-json.ts';
import { problemText } from '../state/texts.ts';
import { noStartFields, startBodyOf, type StartFields } from '../run/run-fields.ts';
import { navigate, runHref } from '../state/location.ts';
import { meOf, session } from '../state/me.ts';
import { useStore } from '../state/store.ts';
import type { AgentList } from '../../http/inbox/api.ts';
import { useJson } from '../api/use-json.ts';

type Wrong = { field?: keyof StartFields; text: string };

/** A form that starts a run of an agent. */
export function StartRunView() {
  const me = meOf(useStore(session));
  const [fields, setFields] = useState(noStartFields);
  const [wrong, setWrong] = useState<Wrong>();
  const [isBusy, setBusy] = useState(false);
  // The key of retries, so that the same form starts one run only.
  const key = useRef(newMessageId());
  if (me !== undefined && !me.roles.includes('starter')) {
    return (
      <>
        <h1>Start a run</h1>
        <p>This needs the role starter. Ask the operator of this gateway.</p>
      </>
    );
  }
  const mayLoosen = me?.roles.includes('operator') === true;
  const set = (change: Partial<StartFields>): void => {
    key.current = newMessageId();
    setFields({ ...fields, ...change });
    setWrong(undefined);
  };
  const start = async (): Promise<void> => {
    if (isBusy) return;
    const made = startBodyOf(fields);
    if ('problem' in made) {
      setWrong({ field: made.field, text: made.problem });
      document.getElementById(`start-${made.field}`)?.focus();
      return;
    }
    setBusy(true);
    try {
      const headers = { 'idempotency-key': key.current };
      const { workflowId } = await sendJson<{ workflowId: string }>('POST', '/runs', made.body, headers);
      navigate(runHref(workflowId));
    } catch (error) {
      const isAgent = asProblem(error).code === 'agent_unknown';
      setWrong({ ...(isAgent && { field: 'agent' }), text: problemText(error) });
      if (isAgent) document.getElementById('start-agent')?.focus();
      setBusy(false);
    }
  };
  const common = (field: Exclude<keyof StartFields, 'session'>) => ({
    id: `start-${field}`,
    value: fields[field],
    'aria-invalid': wrong?.field === field,
    'aria-describedby': wrong?.field === field ? 'start-problem' : undefined,
  });
  return (
    <form
      class="start-run"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      <h1>Start a run</h1>
      <label>
        Agent
        <input
          required
          maxLength={200}
          autocomplete="on"
          autocapitalize="off"
          spellcheck={false}
          name="agent"
          list="start-agents"
          {...common('agent')}
          onInput={(event) => set({ agent: event.currentTarget.value })}
        />
      </label>
      <KnownAgents id="start-agents" />
      <label>
        Task
        <textarea
          required
          rows={5}
          {...common('input')}
          onInput={(event) => set({ input: event.currentTarget.value })}
        />
      </label>
      <label class="switch">
        <input
          type="checkbox"
          checked={fields.session}
          onChange={(event) => set({ session: event.currentTarget.checked })}
        />
        Keep the conversation open
      </label>
      <details>
        <summary>{mayLoosen ? 'Policy, mode and caller' : 'Policy'}</summary>
        {mayLoosen && (
          <label>
            Mode
            <select {...common('mode')} onChange={(event) => set({ mode: event.currentTarget.value })}>
              <option value="">as the agent says</option>
              {modes.map((mode) => (
                <option key={mode}>{mode}</option>
              ))}
            </select>
          </label>
        )}
        <label>
          {mayLoosen
            ? "Policy of this run, as JSON. It can only tighten the operator's policy."
            : 'Policy of this run, as JSON. With your role it may only deny.'}
          <textarea
            rows={5}
            spellcheck={false}
            class="mono"
            placeholder={`{ "rules": [{ "pattern": "*", "action": "${mayLoosen ? 'ask' : 'deny'}" }] }`}
            {...common('policy')}
            onInput={(event) => set({ policy: event.currentTarget.value })}
          />
        </label>
        {me?.via === 'local' && (
          <label>
            Caller: the id of the run's user
            <input
              maxLength={200}
              autocapitalize="off"
              {...common('caller')}
              onInput={(event) => set({ caller: event.currentTarget.value })}
            />
          </label>
        )}
      </details>
      <p id="start-problem" class="problem" role="alert">
        {wrong?.text}
      </p>
      <div class="buttons">
        <button type="submit" class="primary" aria-disabled={isBusy}>
          Start
        </button>
      </div>
    </form>
  );
}

/** The agents as suggestions of a field: those of the worker if the gateway knows them, else those of the newest runs. */
export function KnownAgents({ id }: { id: string }) {
  const { value } = useJson<AgentList>('/agents');
  return (
    <datalist id={id}>
      {value?.agents.map((agent) => (
        <option key={agent} value={agent} />
      ))}
    </datalist>
  );
}

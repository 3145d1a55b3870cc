import { useRef, useState } from 'preact/hooks';
import { modes } from 'countersign/policy';
import { asProblem, sendJson, newMessageId } from '../api/fetch-json.ts';
import { problemText } from '../state/texts.ts';
import { NeedsRole } from '../parts/sign-in.tsx';
import { noStartFields, startBodyOf, type StartFields } from '../run/run-fields.ts';
import { navigate, runHref } from '../state/location.ts';
import { meOf, session } from '../state/me.ts';
import { useStore } from '../state/store.ts';
import type { AgentList } from '../../http/inbox/api.ts';
import { useJson } from '../api/use-json.ts';
import { Checkbox, onSend, ProblemText, SelectField, TextArea, TextField } from '../parts/controls.tsx';

type Wrong = { field?: keyof StartFields; text: string };

export function StartRunView() {
  const me = meOf(useStore(session));
  const [fields, setFields] = useState(noStartFields);
  const [wrong, setWrong] = useState<Wrong>();
  const [isBusy, setBusy] = useState(false);
  // The idempotency key of retries, so that the same form starts only one run.
  const key = useRef(newMessageId());
  if (me !== undefined && !me.roles.includes('starter')) return <NeedsRole title="Start a run" role="starter" />;
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
  const common = (field: Exclude<keyof StartFields, 'session' | 'mode'>) => ({
    id: `start-${field}`,
    value: fields[field],
    change: (text: string) => set({ [field]: text }),
    'aria-invalid': wrong?.field === field,
    'aria-describedby': wrong?.field === field ? 'start-problem' : undefined,
  });
  return (
    <form class="start-run" noValidate onSubmit={onSend(start)}>
      <h1>Start a run</h1>
      <TextField
        label="Agent"
        required
        maxLength={200}
        autocomplete="on"
        autocapitalize="off"
        spellcheck={false}
        name="agent"
        list="start-agents"
        {...common('agent')}
      />
      <KnownAgents id="start-agents" />
      <TextArea label="Task" required rows={5} {...common('input')} />
      <Checkbox class="switch" checked={fields.session} change={(session) => set({ session })}>
        Keep the conversation open
      </Checkbox>
      <details>
        <summary>{mayLoosen ? 'Policy, mode and caller' : 'Policy'}</summary>
        {mayLoosen && (
          <SelectField
            label="Mode"
            value={fields.mode}
            choices={[['', 'as the agent says'], ...modes.map((mode) => [mode, mode] as const)]}
            choose={(mode) => set({ mode })}
          />
        )}
        <TextArea
          label={
            mayLoosen
              ? "Policy of this run, as JSON. It can only tighten the operator's policy."
              : 'Policy of this run, as JSON. With your role it may only deny.'
          }
          rows={5}
          spellcheck={false}
          class="mono"
          placeholder={`{ "rules": [{ "pattern": "*", "action": "${mayLoosen ? 'ask' : 'deny'}" }] }`}
          {...common('policy')}
        />
        {me?.via === 'local' && (
          <TextField
            label="Caller: the id of the run's user"
            maxLength={200}
            autocapitalize="off"
            {...common('caller')}
          />
        )}
      </details>
      <ProblemText id="start-problem">{wrong?.text}</ProblemText>
      <div class="buttons">
        <button type="submit" class="primary" aria-disabled={isBusy}>
          Start
        </button>
      </div>
    </form>
  );
}

/** Suggests agents for a field: those of the worker if the gateway knows them, else those of the newest runs. */
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

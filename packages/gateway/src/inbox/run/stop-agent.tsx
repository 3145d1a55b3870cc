import { useState } from 'preact/hooks';
import type { Receipt } from 'countersign/client';
import type { Me, Receipts } from '../../http/inbox/api.ts';
import { newMessageId, sendAgain, sendJson } from '../api/fetch-json.ts';
import { CloseButton, Modal } from '../parts/modal.tsx';
import { Foreign, Marked } from '../parts/shown-text.tsx';
import { requestKey } from '../state/paths.ts';
import { announceText } from '../state/store.ts';
import { problemText } from '../state/texts.ts';
import type { StopChoice, StoppedRequest, StopResult, StopStep } from './stop-steps.ts';
import { stopResult, stopSteps } from './stop-steps.ts';
import { Button, Checkbox, onSend, TextArea } from '../parts/controls.tsx';

export const stopWords = {
  close: 'Stop after the running tool',
  cancel: 'Stop now (interrupt running tools)',
} as const;

/** What a person can do to stop an agent: deny some of its requests, or end its run. */
export function mayStop(
  me: Me | undefined,
  requests: readonly Pick<StoppedRequest, 'waitsFor'>[],
): { denies: boolean; stops: boolean } {
  const has = (role: Me['roles'][number]): boolean => me?.roles.includes(role) ?? false;
  return {
    denies: has('reviewer') && requests.some(({ waitsFor }) => waitsFor !== 'others'),
    stops: has('starter') || has('operator'),
  };
}

interface StopAgentProps {
  requests: readonly StoppedRequest[];
  may: ReturnType<typeof mayStop>;
  onClose: (isDone: boolean) => void;
}

/** The dialog that stops an agent: it denies requests and later calls, or ends the run, and shows each result. */
export function StopAgentDialog({ requests, may, onClose }: StopAgentProps) {
  const [choice, setChoice] = useState<StopChoice>(() => ({
    denies: may.denies,
    deniesLater: may.denies && !may.stops,
    run: may.stops ? 'close' : 'goes_on',
    reason: '',
    id: newMessageId(),
  }));
  const [isSending, setSending] = useState(false);
  const [results, setResults] = useState<readonly StopResult[]>();
  const steps = stopSteps(requests, choice);
  const change = (some: Partial<StopChoice>): void => setChoice({ ...choice, ...some });
  const send = async (): Promise<void> => {
    setSending(true);
    const all: StopResult[] = [];
    for (const step of steps) all.push(await sendStep(step));
    const failed = all.filter(({ isGood }) => !isGood).length;
    announceText(failed === 0 ? 'Done.' : `${failed} of ${all.length} steps failed.`, failed === 0 ? 'good' : 'bad');
    setResults(all);
    setSending(false);
  };
  if (results !== undefined) {
    return (
      <Modal key="results" title="Stop this agent" onClose={() => onClose(true)}>
        <ul class="results">
          {results.map(({ isGood, text }, index) => (
            <li key={index} class={isGood ? 'good' : 'bad'}>
              <Foreign text={text} most={1_000} />
            </li>
          ))}
        </ul>
        <CloseButton onClose={() => onClose(true)} />
      </Modal>
    );
  }
  const close = (): void => {
    if (!isSending) onClose(false);
  };
  const [runs, tools] = [
    new Set(requests.map(({ workflowId }) => workflowId)),
    [...new Set(requests.map(({ toolName }) => toolName))],
  ];
  return (
    <Modal key="choice" title="Stop this agent" onClose={close}>
      <ol class="frozen" aria-label="Its open requests" tabIndex={0}>
        {requests.map((each) => (
          <li key={requestKey(each)}>
            <Marked text={each.sentence} />
          </li>
        ))}
      </ol>
      <form onSubmit={onSend(() => !isSending && steps.length > 0 && send())}>
        {may.denies && (
          <fieldset disabled={isSending}>
            <legend>Its calls</legend>
            <Checkbox checked={choice.denies} change={(denies) => change({ denies })}>
              {requests.length === 1 ? 'Deny this request' : `Deny these ${requests.length} requests`}
            </Checkbox>
            <Checkbox
              checked={choice.denies && choice.deniesLater}
              disabled={!choice.denies}
              change={(deniesLater) => change({ deniesLater })}
            >
              <span>
                Deny later calls of <Foreign text={tools.join(', ')} most={200} />{' '}
                {runs.size === 1 ? 'in this run' : 'in these runs'}
              </span>
            </Checkbox>
          </fieldset>
        )}
        {may.stops && (
          <fieldset disabled={isSending}>
            <legend>{runs.size === 1 ? 'Its run' : `Its ${runs.size} runs`}</legend>
            {(['goes_on', 'close', 'cancel'] as const).map((run) => (
              <label key={run} class="check">
                <input type="radio" name="stop-run" checked={choice.run === run} onChange={() => change({ run })} />{' '}
                {run === 'goes_on' ? 'Let it go on' : stopWords[run]}
              </label>
            ))}
          </fieldset>
        )}
        <TextArea
          label="Reason, which the model reads (optional)"
          maxLength={900}
          rows={2}
          value={choice.reason}
          readOnly={isSending}
          change={(reason) => change({ reason })}
        />
        <p class="buttons">
          <Button autofocus disabled={isSending} onClick={close}>
            Cancel
          </Button>
          <button type="submit" class="primary" disabled={isSending || steps.length === 0}>
            {isSending ? 'Sending …' : 'Stop'}
          </button>
        </p>
      </form>
    </Modal>
  );
}

/** Sends the message of a step. An error becomes a result, so that the other steps are still sent. */
async function sendStep(step: StopStep): Promise<StopResult> {
  try {
    const headers = { 'idempotency-key': step.key };
    const answer = await sendAgain(() => sendJson<Receipt | Receipts>('POST', step.path, step.body, headers));
    return stopResult(step, 'receipts' in answer ? answer.receipts : [answer]);
  } catch (error) {
    return { isGood: false, text: `${failedWords[step.kind]}: ${problemText(error)}` };
  }
}

const failedWords = { deny: 'Not denied', deny_later: 'Not denied', stop_run: 'Not stopped' } as const;

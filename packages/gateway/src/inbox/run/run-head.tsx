import type { RecordedEvent } from 'countersign/client';
import type { ShownRun } from '../../http/inbox/api.ts';
import { LocalTime } from '../parts/time.tsx';
import { Foreign, TemporalLink } from '../parts/shown-text.tsx';
import { useState } from 'preact/hooks';
import { apiPath, sendJson } from '../api/fetch-json.ts';
import { ConfirmDialog } from '../parts/modal.tsx';
import { announceText } from '../state/store.ts';

interface RunHeadProps {
  run: ShownRun;
  status: string;
  events: readonly RecordedEvent[];
}

/** The facts of a run: its agent and caller if its events name them, its times, and its place in Temporal. */
export function RunHead({ run, status, events }: RunHeadProps) {
  const asked = events.find((event) => event.type === 'ApprovalRequestEvent');
  const agent = asked?.agentName ?? run.open[0]?.agentName;
  return (
    <div class="run-head">
      <span class={`run-status ${status}`}>{status}</span>
      {agent !== undefined && (
        <span>
          agent <Foreign text={agent} most={100} />
        </span>
      )}
      <span>
        started <LocalTime at={run.startedAt} />
      </span>
      {run.closedAt !== undefined && (
        <span>
          ended <LocalTime at={run.closedAt} />
        </span>
      )}
      <span>
        task queue <Foreign text={run.taskQueue} />
      </span>
      <TemporalLink workflowId={run.workflowId} />
    </div>
  );
}

/** Ends a run, in one of two ways. */
export function RunActions({ workflowId, onDone }: { workflowId: string; onDone: () => void }) {
  const [ending, setEnding] = useState<'cancel' | 'close'>();
  const send = async (reason: string): Promise<void> => {
    if (ending === undefined) return;
    const path = ending === 'cancel' ? apiPath`/runs/${workflowId}/cancel` : apiPath`/runs/${workflowId}/close`;
    await sendJson('POST', path, reason === '' ? {} : { reason });
    announceText(ending === 'cancel' ? 'The run is being cancelled.' : 'The run is being closed.', 'good');
    onDone();
  };
  return (
    <>
      <button type="button" onClick={() => setEnding('close')}>
        Close the run
      </button>
      <button type="button" onClick={() => setEnding('cancel')}>
        Cancel the run
      </button>
      {ending !== undefined && (
        <ConfirmDialog
          key={ending}
          title={ending === 'cancel' ? 'Cancel this run?' : 'Close this run?'}
          act={ending === 'cancel' ? 'Cancel the run' : 'Close the run'}
          keep="Keep it running"
          askReason
          onClose={() => setEnding(undefined)}
          onConfirm={send}
        >
          <p>
            {ending === 'cancel'
              ? 'Its open requests are cancelled, and the tools that run are asked to stop.'
              : 'Its open requests are cancelled, and nothing more is called. Tools that run now may still end.'}{' '}
            This cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

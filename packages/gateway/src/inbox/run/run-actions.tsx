import { useState } from 'preact/hooks';
import { apiPath, sendJson } from '../api/fetch-json.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { announceText } from '../state/announcements.ts';

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

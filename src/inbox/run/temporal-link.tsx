import { meOf, session } from '../state/me.ts';
import { useStore } from '../state/store.ts';

/** A link to the run in Temporal's own UI, if the gateway knows where that is. */
export function TemporalLink({ workflowId }: { workflowId: string }) {
  const me = meOf(useStore(session));
  if (me?.temporalUi === undefined) return null;
  return (
    <>
      {'· '}
      <a href={`${me.temporalUi}/workflows/${encodeURIComponent(workflowId)}`} target="_blank" rel="noreferrer">
        Temporal
      </a>
    </>
  );
}

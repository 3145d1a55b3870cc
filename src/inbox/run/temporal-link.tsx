import { temporalHref } from '../parts/temporal-href.ts';
import { meOf, session } from '../state/me.ts';
import { useStore } from '../state/store.ts';

/** A link to the run in Temporal's own UI, if the gateway knows where that is. */
export function TemporalLink({ workflowId }: { workflowId: string }) {
  const me = meOf(useStore(session));
  const href = me?.temporalUi === undefined ? undefined : temporalHref(me.temporalUi, workflowId);
  if (href === undefined) return null;
  return (
    <>
      {'· '}
      <a href={href} target="_blank" rel="noreferrer">
        Temporal
      </a>
    </>
  );
}

import { temporalHref } from './temporal-href.ts';
import { meOf, session } from '../state/me.ts';
import { useStore } from '../state/store.ts';

/** A link to the run in Temporal's UI, if the gateway knows its address. */
export function TemporalLink({ workflowId }: { workflowId: string }) {
  const me = meOf(useStore(session));
  const href = me?.temporalUi === undefined ? undefined : temporalHref(me.temporalUi, workflowId);
  if (href === undefined) return null;
  return (
    <p>
      <a href={href} target="_blank" rel="noreferrer">
        See it in Temporal's UI
      </a>
    </p>
  );
}

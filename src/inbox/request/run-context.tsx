import { useEffect, useState } from 'preact/hooks';
import type { ApprovalDetails } from '../../contract.ts';
import { type EventsSoFar, readRunEvents } from '../api/read-run-events.ts';
import { Foreign } from '../parts/shown-text.tsx';
import { temporalHref } from '../parts/temporal-href.ts';
import { TimelineEvents } from '../parts/timeline-events.tsx';
import { runHref } from '../state/location.ts';
import { meOf, session } from '../state/me.ts';
import { useStore } from '../state/store.ts';

/** The run that asks: those above it, what happened in it so far, and where Temporal shows it. */
export function RunContext({ request: { workflowId, lineage, settled } }: { request: ApprovalDetails }) {
  const me = meOf(useStore(session));
  const [read, setRead] = useState<EventsSoFar>();
  const [problem, setProblem] = useState('');
  const readAgain = (): void => {
    readRunEvents(workflowId).then(
      (answer) => {
        setRead(answer);
        setProblem('');
      },
      (error: unknown) => setProblem(error instanceof Error ? error.message : String(error)),
    );
  };
  useEffect(readAgain, [workflowId, settled?.settledAt]);
  const temporal = me?.temporalUi === undefined ? undefined : temporalHref(me.temporalUi, workflowId);
  return (
    <section class="run" aria-labelledby="run-title">
      <h2 id="run-title">The run</h2>
      <p class="lineage">
        {[...lineage, workflowId].map((id, index) => (
          <span key={id}>
            {index > 0 && ' › '}
            <a href={runHref(id)}>
              <Foreign text={id} most={200} />
            </a>
          </span>
        ))}
      </p>
      {temporal !== undefined && (
        <p>
          <a href={temporal} target="_blank" rel="noreferrer">
            See it in Temporal's UI
          </a>
        </p>
      )}
      <details open>
        <summary>The conversation and what happened so far</summary>
        {problem !== '' && (
          <p class="note bad">
            It cannot be read: <Foreign text={problem} />
          </p>
        )}
        {read === undefined && problem === '' && <p class="soft">Loading …</p>}
        {read !== undefined && <TimelineEvents {...read} />}
        <p class="buttons">
          <button type="button" onClick={readAgain}>
            Read it again
          </button>
        </p>
      </details>
    </section>
  );
}

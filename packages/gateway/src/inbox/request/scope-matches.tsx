import type { Matches } from '../../http/inbox/api.ts';
import { Moment } from '../parts/moment.tsx';
import { Foreign } from '../parts/shown-text.tsx';
import { runHref } from '../state/location.ts';

/** The past calls that a scope would have covered. */
export function ScopeMatches({ matches }: { matches: Matches | undefined }) {
  if (matches === undefined) return <p class="soft">Looking at past calls …</p>;
  const { matched, looked } = matches;
  const calls = (count: number): string => `${count} past call${count === 1 ? '' : 's'}`;
  return (
    <section aria-label="Past calls" aria-live="polite">
      <p>
        {looked === 0
          ? 'There are no past calls to compare it with.'
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
              : <Foreign text={outcome.replaceAll('_', ' ')} most={100} /> <Moment at={at} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

import { useEffect, useRef } from 'preact/hooks';
import { personsShown } from 'countersign/base';
import type { ApprovalDetails } from 'countersign/client';
import { LocalTime } from '../parts/time.tsx';
import { Foreign, Marked } from '../parts/shown-text.tsx';
import { valueChanges } from './what-changed.ts';
import { inListHref } from '../state/location.ts';
import { NextRequest } from './next-request.tsx';

interface StandingNoteProps {
  request: ApprovalDetails;
  decisionId: string | undefined;
  /** True: the request was open on this page before. */
  isNew: boolean;
}

/** Replaces the answers of a settled or expired request. It takes the focus from a button that is gone now. */
export function StandingNote({ request, decisionId, isNew }: StandingNoteProps) {
  const { settled, workflowId, requestId, people } = request;
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isNew) section.current?.focus({ preventScroll: true });
  }, [isNew, settled?.settledAt]);
  // The gateway puts a hash of the person before the id of a decision.
  const isOwn = decisionId !== undefined && settled?.decisionId?.endsWith(decisionId) === true;
  return (
    <section
      class={`answers standing ${isOwn ? 'good' : 'bad'}`}
      aria-label="How it stands"
      tabIndex={-1}
      ref={section}
    >
      <div role={isNew ? 'alert' : undefined}>
        {settled === undefined ? (
          <p>Its deadline has passed: it can no longer be answered.</p>
        ) : (
          <Settled settled={settled} people={people} isOwn={isOwn} />
        )}
        {settled?.edited !== undefined && (
          <p>
            Changed before it ran:{' '}
            <Marked text={valueChanges(request.arguments, settled.edited.arguments).join(', ')} />
          </p>
        )}
      </div>
      {settled?.by === 'edit' && typeof settled.byId === 'string' && (
        <p>
          <a href={inListHref({ workflowId, requestId: settled.byId })}>Go to the request that continues it</a>
        </p>
      )}
      <p class="buttons">
        <NextRequest workflowId={workflowId} requestId={requestId} class="button primary" />
        <a class="button" href={inListHref()}>
          To the inbox
        </a>
      </p>
    </section>
  );
}

interface SettledProps extends Pick<ApprovalDetails, 'people'> {
  settled: NonNullable<ApprovalDetails['settled']>;
  isOwn: boolean;
}

/** Says who settled a request and how; only the outcome if no reviewer did, such as after an expiry. */
function Settled({ settled, people, isOwn }: SettledProps) {
  const { outcome, reviewerId, reviewerName, identity, settledAt, reason, by, byId } = settled;
  const did = by === 'edit' ? 'edited its arguments' : `${verbs[outcome] ?? 'settled'} this`;
  const named = reviewerId === undefined ? 'An unnamed reviewer' : personsShown(people)(reviewerId, reviewerName);
  const other = identity === undefined ? undefined : named;
  const who = isOwn ? 'You' : other;
  return (
    <p>
      {who === undefined ? (
        <>
          {words[outcome] ?? 'Settled'}: <strong>{outcome.replaceAll('_', ' ')}</strong>
          {by !== undefined && ` by ${by === 'grant' && byId != null ? byId : `a ${by}`}`},
        </>
      ) : (
        <strong>
          <Foreign text={who} most={300} /> {did}
        </strong>
      )}{' '}
      at <LocalTime at={settledAt} />
      {reason !== undefined && (
        <>
          : <Foreign text={reason} most={2_000} lines />
        </>
      )}
    </p>
  );
}

const verbs: Partial<Record<string, string>> = { approved: 'approved', denied: 'denied', responded: 'answered' };

const words: Partial<Record<string, string>> = {
  expired: 'No answer in time',
  cancelled: 'The run has ended or was cancelled',
};

export type RequestStanding = 'open' | 'expired' | 'settled';

export function requestStanding({ settled, deadline }: ApprovalDetails, nowMs: number): RequestStanding {
  if (settled !== undefined) return 'settled';
  return deadline !== null && Date.parse(deadline) <= nowMs ? 'expired' : 'open';
}

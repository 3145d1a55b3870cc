import type { ComponentChildren, RefObject } from 'preact';
import type { ApprovalDetails } from 'countersign/client';
import { Foreign } from '../parts/shown-text.tsx';
import { TakeBack } from './hand-over.tsx';
import { whoCanAnswer } from './who-answers.ts';

interface NotYoursProps {
  request: ApprovalDetails;
  me: { id: string };
  reload: () => void;
  isReviewer: boolean;
  parent: RefObject<HTMLElement | null>;
  children: ComponentChildren;
  foot: ComponentChildren;
}

/** Replaces the answers for people whose answer the gateway would refuse. */
export function NotYours({ request, me, reload, isReviewer, parent, foot, children }: NotYoursProps) {
  const who = whoCanAnswer(request);
  return (
    <section class="answers" aria-label="Your answer" ref={parent}>
      {children}
      {isReviewer ? (
        <>
          <p>
            <strong>
              {who === undefined ? (
                'This request waits for others.'
              ) : (
                <>
                  Waiting for <Foreign text={who} most={600} />.
                </>
              )}
            </strong>
          </p>
          <TakeBack request={request} me={me} then={reload} />
          {request.reviewers.length === 0 && <p>You have voted or passed your seat on.</p>}
        </>
      ) : (
        <p>
          You can look at requests but not answer them. Answering needs the role reviewer: ask the operator of this
          gateway.
        </p>
      )}
      {foot}
    </section>
  );
}

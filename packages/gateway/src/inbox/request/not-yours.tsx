import type { ComponentChildren } from 'preact';
import type { ApprovalDetails } from 'countersign/client';
import { Foreign } from '../parts/shown-text.tsx';

interface NotYoursProps {
  request: ApprovalDetails;
  isReviewer: boolean;
  /** What became of an answer that was given before. */
  children: ComponentChildren;
}

/** In the place of the answers, for people whose answer would be refused. */
export function NotYours({ request: { reviewers }, isReviewer, children }: NotYoursProps) {
  return (
    <section class="answers" aria-label="Your answer">
      {children}
      {isReviewer ? (
        <>
          <p>
            <strong>This request waits for others.</strong>
          </p>
          <p>
            {reviewers.length === 0 ? (
              'You have voted or passed your seat on.'
            ) : (
              <>
                Only these people can answer it now: <Foreign text={reviewers.join(', ')} most={300} />
              </>
            )}
          </p>
        </>
      ) : (
        <p>
          You can look at requests but not answer them. Answering needs the role reviewer: ask whoever runs this
          gateway.
        </p>
      )}
    </section>
  );
}

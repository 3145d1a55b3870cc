import type { ComponentChildren, RefObject } from 'preact';
import { personsShown } from 'countersign/base';
import type { ApprovalDetails } from 'countersign/client';
import { Foreign } from '../parts/shown-text.tsx';

interface NotYoursProps {
  request: ApprovalDetails;
  isReviewer: boolean;
  parent: RefObject<HTMLElement | null>;
  /** The result of an earlier answer. */
  children: ComponentChildren;
  /** The actions of an operator, such as moving the request. Shown below the text. */
  foot: ComponentChildren;
}

/** In place of the answers, for people whose answer would be refused. */
export function NotYours({ request: { reviewers, people }, isReviewer, parent, foot, children }: NotYoursProps) {
  return (
    <section class="answers" aria-label="Your answer" ref={parent}>
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
                Only these people can answer it now:{' '}
                <Foreign text={reviewers.map((id) => personsShown(people)(id)).join(', ')} most={300} />
              </>
            )}
          </p>
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

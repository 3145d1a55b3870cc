import type { ApprovalDetails } from 'countersign/client';
import type { GivenAnswer } from './use-decision.ts';

/** What the forms of all answers get. */
export interface FormProps {
  request: ApprovalDetails;
  /** Something is held back or under way. */
  isBusy: boolean;
  cancel: () => void;
}

/** What the forms get that end in a decision. */
export interface AnswerFormProps extends FormProps {
  send: (answer: GivenAnswer) => void;
}

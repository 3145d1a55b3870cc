import type { ApprovalDetails } from '../../contract.ts';

/** Why a request is posted. */
export interface WebhookDelivery {
  /** With `settled`, the member `settled` of the request says how. */
  event: 'asked' | 'reminded' | 'warned' | 'escalated' | 'settled';
  /** For `escalated`: the additional reviewers. */
  to?: readonly string[];
  /** Where the answer may be posted, while the request is open. */
  callbackUrl?: string;
}

/** The body of each POST: the request as reviewers may see it, and why it is posted. */
export type WebhookBody = ApprovalDetails & { delivery: WebhookDelivery };

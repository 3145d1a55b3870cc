import type { ChannelStep } from '../../channels/channel.ts';
import type { ApprovalDetails } from '../../contract.ts';

/** Why a request is posted. */
export interface WebhookDelivery {
  /** With `settled`, the member `settled` of the request says how. */
  event: ChannelStep['kind'] | 'settled';
  /** For `escalated`: the additional reviewers. */
  to?: readonly string[];
  /** Where the answer may be posted, while the request is open. */
  callbackUrl?: string;
}

/**
 * The body of each POST: the request as reviewers may see it, and why it is posted. With a legacy signature it has the
 * members that it covers, too.
 */
export type WebhookBody = ApprovalDetails & { request_id?: string; tool_name?: string; delivery: WebhookDelivery };

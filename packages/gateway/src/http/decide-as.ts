import { isProblemError } from 'countersign/base';
import type { CommonDecision, Decision, Receipt, ReviewedRequest } from 'countersign/client';
import type { GatewayContext } from './gateway-context.ts';
import type { Principal } from './identity/principal.ts';
import { sendAllAs, sendAs } from './signing.ts';

type Sender = Pick<GatewayContext, 'client' | 'signer' | 'log'>;

/** A decision with the display name of its reviewer. */
function withReviewerName<Given extends object>(decision: Given, { name }: Principal): Given {
  return name === undefined ? decision : { ...decision, reviewerName: name };
}

/**
 * Sends a person's decision. A decision about an ended run goes to the log, because no run can record it (decision 4).
 */
export async function decideAs(
  gateway: Sender,
  person: Principal,
  decision: Decision,
  workflowId?: string,
): Promise<Receipt> {
  return noted(gateway, person.id, decision, () =>
    sendAs(gateway, person, (sign) => gateway.client.decide(withReviewerName(decision, person), { workflowId, sign })),
  );
}

/** As `decideAs`, for one decision about several requests. */
export async function decideAllAs(
  gateway: Sender,
  person: Principal,
  requests: readonly ReviewedRequest[],
  decision: CommonDecision,
): Promise<Receipt[]> {
  const receipts = await sendAllAs(gateway, person, requests, (some, sign) =>
    gateway.client.decideAll(some, withReviewerName(decision, person), { sign }),
  );
  for (const { requestId, code } of receipts) noteEnded(gateway, person.id, { ...decision, requestId }, code);
  return receipts;
}

/** Sends a decision of an unauthenticated reviewer under the given name, logged as by `decideAs`. */
export async function decideFor(
  gateway: Pick<GatewayContext, 'client' | 'log'>,
  who: string,
  decision: Decision,
  workflowId?: string,
): Promise<Receipt> {
  return noted(gateway, who, decision, () => gateway.client.decide(decision, { workflowId }));
}

/** Sends the decision, and logs one that came after the end of its run. Throws its refusal. */
async function noted(
  gateway: Pick<GatewayContext, 'log'>,
  who: string,
  decision: Decision,
  send: () => Promise<Receipt>,
): Promise<Receipt> {
  try {
    return await send();
  } catch (error) {
    if (isProblemError(error)) noteEnded(gateway, who, decision, error.code);
    throw error;
  }
}

function noteEnded(
  { log }: Pick<GatewayContext, 'log'>,
  who: string,
  { requestId, approved }: Pick<Decision, 'requestId' | 'approved'>,
  code: string | undefined,
): void {
  if (code !== 'run_closed') return;
  log(`${who} ${approved ? 'approved' : 'denied'} request ${requestId} after its run had ended: no run records it.`);
}

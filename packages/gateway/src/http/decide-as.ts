import { isProblemError } from 'countersign/base';
import type { CommonDecision, Decision, Receipt, ReviewedRequest } from 'countersign/client';
import type { GatewayContext } from './gateway-context.ts';
import type { Principal } from './identity/principal.ts';
import { sendAllAs, sendAs } from './signing.ts';

type Sender = Pick<GatewayContext, 'client' | 'signer' | 'log'>;

/** Sends a decision of a person. The log keeps one about a run that has ended, because no run can record it (decision 61). */
export async function decideAs(
  gateway: Sender,
  person: Principal,
  decision: Decision,
  workflowId?: string,
): Promise<Receipt> {
  try {
    return await sendAs(gateway, person, (sign) => gateway.client.decide(decision, { workflowId, sign }));
  } catch (error) {
    if (isProblemError(error)) noteEnded(gateway, person, decision, error);
    throw error;
  }
}

/** As `decideAs`, for one decision about several requests. */
export async function decideAllAs(
  gateway: Sender,
  person: Principal,
  requests: readonly ReviewedRequest[],
  decision: CommonDecision,
): Promise<Receipt[]> {
  const receipts = await sendAllAs(gateway, person, requests, (some, sign) =>
    gateway.client.decideAll(some, decision, { sign }),
  );
  for (const { requestId, code } of receipts) noteEnded(gateway, person, { ...decision, requestId }, { code });
  return receipts;
}

/** Sends a decision of somebody who has not signed in, and says who gave it, as `decideAs` says it. */
export async function decideFor(
  { client, log }: Pick<GatewayContext, 'client' | 'log'>,
  who: string,
  decision: Decision,
  workflowId?: string,
): Promise<Receipt> {
  try {
    return await client.decide(decision, { workflowId });
  } catch (error) {
    if (isProblemError(error)) noteEnded({ log }, { id: who }, decision, error);
    throw error;
  }
}

function noteEnded(
  { log }: Pick<GatewayContext, 'log'>,
  { id }: Pick<Principal, 'id'>,
  { requestId, approved }: Pick<Decision, 'requestId' | 'approved'>,
  { code }: { code?: string | undefined },
): void {
  if (code !== 'run_closed') return;
  log(`${id} ${approved ? 'approved' : 'denied'} request ${requestId} after its run had ended: no run records it.`);
}

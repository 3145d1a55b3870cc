import { isProblemError } from 'countersign/base';
import type { Signer, Receipt, CommonDecision, Decision, ReviewedRequest } from 'countersign/client';
import type { GatewayContext } from './gateway-context.ts';
import type { Principal } from './identity/principal.ts';

/** The signer for a principal; undefined without authentication, because a signature asserts a verified name. */
export function signerFor({ signer }: Pick<GatewayContext, 'signer'>, principal: Principal): Signer | undefined {
  return principal.via === 'local' ? undefined : signer;
}

const unverified = 'unverified_reviewer';
/** The refusals of a signed retry whose first attempt came unsigned: the run takes the retry for another message. */
const maybeSentUnsigned: readonly (string | undefined)[] = ['already_settled', 'invalid_message'];

/**
 * Sends a message, signed if possible. The policy of an old run may lack the gateway's key, so that the run refuses the
 * signature. Then this sends the message unsigned. A rule that demands verified reviewers still refuses it.
 */
export async function sendAs<Answer>(
  gateway: Pick<GatewayContext, 'signer'>,
  principal: Principal,
  send: (sign: Signer | undefined) => Promise<Answer>,
): Promise<Answer> {
  const signer = signerFor(gateway, principal);
  try {
    return await send(signer);
  } catch (error) {
    const code = codeOf(error);
    if (signer === undefined || !mayGoUnsigned(code)) throw error;
    return send(undefined).catch((second: unknown) => {
      throw saysMore(codeOf(second), code) ? second : error;
    });
  }
}

/** Sends messages, signed if possible. If a refusal may be due to the signature, sends the message again unsigned. */
async function sendAllAs<Message>(
  gateway: Pick<GatewayContext, 'signer'>,
  principal: Principal,
  messages: readonly Message[],
  send: (messages: Message[], sign: Signer | undefined) => Promise<Receipt[]>,
): Promise<Receipt[]> {
  const signer = signerFor(gateway, principal);
  const receipts = await send([...messages], signer);
  const refusedAt = receipts.flatMap(({ code }, index) => (mayGoUnsigned(code) ? [index] : []));
  if (signer === undefined || refusedAt.length === 0) return receipts;
  const refused = refusedAt.map((index) => messages[index]!);
  const unsignedReceipts = await send(refused, undefined);
  return receipts.map((receipt, index) => {
    const second = unsignedReceipts[refusedAt.indexOf(index)];
    if (second === undefined) return receipt;
    // The second receipt is the answer if the message now counts, or if its refusal says more.
    return second.code === undefined || saysMore(second.code, receipt.code) ? second : receipt;
  });
}

function mayGoUnsigned(code: string | undefined): boolean {
  return code === unverified || maybeSentUnsigned.includes(code);
}

/** True if the first refusal says only that the run does not know the key, and the second one gives another reason. */
function saysMore(second: string | undefined, first: string | undefined): boolean {
  return first === unverified && second !== unverified;
}

function codeOf(error: unknown): string | undefined {
  return isProblemError(error) ? error.code : undefined;
}

type Sender = Pick<GatewayContext, 'client' | 'signer' | 'log'>;

function withReviewerName<Given extends object>(decision: Given, { name }: Principal): Given {
  return name === undefined ? decision : { ...decision, reviewerName: name };
}

/** Sends a person's decision. If the run has ended, it cannot record the decision, so the log gets a line. */
export async function decideAs(
  gateway: Sender,
  person: Principal,
  decision: Decision,
  workflowId?: string,
): Promise<Receipt> {
  return sendLogged(gateway, person.id, decision, () =>
    sendAs(gateway, person, (sign) => gateway.client.decide(withReviewerName(decision, person), { workflowId, sign })),
  );
}

/** Sends a person's decision about several requests. The log gets a line for each whose run has ended. */
export async function decideAllAs(
  gateway: Sender,
  person: Principal,
  requests: readonly ReviewedRequest[],
  decision: CommonDecision,
): Promise<Receipt[]> {
  const receipts = await sendAllAs(gateway, person, requests, (toSend, sign) =>
    gateway.client.decideAll(toSend, withReviewerName(decision, person), { sign }),
  );
  for (const { requestId, code } of receipts) logEnded(gateway, person.id, { ...decision, requestId }, code);
  return receipts;
}

/** Sends a decision unsigned, because its sender has not authenticated. `who` names the sender in the log only. */
export async function decideFor(
  gateway: Pick<GatewayContext, 'client' | 'log'>,
  who: string,
  decision: Decision,
  workflowId?: string,
): Promise<Receipt> {
  return sendLogged(gateway, who, decision, () => gateway.client.decide(decision, { workflowId }));
}

/** Calls `send`, and throws what it throws. Logs a decision on a run that has ended, because no history records it. */
async function sendLogged(
  gateway: Pick<GatewayContext, 'log'>,
  who: string,
  decision: Decision,
  send: () => Promise<Receipt>,
): Promise<Receipt> {
  try {
    return await send();
  } catch (error) {
    if (isProblemError(error)) logEnded(gateway, who, decision, error.code);
    throw error;
  }
}

function logEnded(
  { log }: Pick<GatewayContext, 'log'>,
  who: string,
  { requestId, approved }: Pick<Decision, 'requestId' | 'approved'>,
  code: string | undefined,
): void {
  if (code !== 'run_closed') return;
  log(`${who} ${approved ? 'approved' : 'denied'} request ${requestId} after its run had ended: no run records it.`);
}

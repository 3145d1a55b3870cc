import { isProblemError } from 'countersign/base';
import type { Signer, Receipt } from 'countersign/client';
import type { GatewayContext } from './gateway-context.ts';
import type { Principal } from './identity/principal.ts';

/**
 * The key with which the gateway signs a principal's messages, so that their name counts as verified. Undefined for a
 * principal who did not authenticate, because a signature says that they did.
 */
export function signerFor({ signer }: Pick<GatewayContext, 'signer'>, principal: Principal): Signer | undefined {
  return principal.via === 'local' ? undefined : signer;
}

const unverified = 'unverified_reviewer';
/**
 * What a run may say of a signed message whose first sending went unsigned: only the unsigned one is a retry of that. No
 * other unsigned message is accepted where the signed one gets such an answer.
 */
const maybeSentUnsigned: readonly (string | undefined)[] = ['already_settled', 'invalid_message'];

/**
 * Sends a message, signed if it can be. A run keeps the policy with which it began: to one that does not know the
 * gateway's key the message goes unsigned, as a claim, which a rule that demands verified reviewers still refuses.
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

/** As `sendAs`, for messages that are answered one by one, in order. */
export async function sendAllAs<Message>(
  gateway: Pick<GatewayContext, 'signer'>,
  principal: Principal,
  messages: readonly Message[],
  send: (messages: Message[], sign: Signer | undefined) => Promise<Receipt[]>,
): Promise<Receipt[]> {
  const signer = signerFor(gateway, principal);
  const receipts = await send([...messages], signer);
  const places = receipts.flatMap(({ code }, index) => (mayGoUnsigned(code) ? [index] : []));
  if (signer === undefined || places.length === 0) return receipts;
  const again = await send(
    places.map((place) => messages[place]!),
    undefined,
  );
  return receipts.map((receipt, index) => {
    const second = again[places.indexOf(index)];
    if (second === undefined) return receipt;
    return second.code === undefined || saysMore(second.code, receipt.code) ? second : receipt;
  });
}

function mayGoUnsigned(code: string | undefined): boolean {
  return code === unverified || maybeSentUnsigned.includes(code);
}

/** True if the refusal of the unsigned message is the one to show. The first says why a signature does not count. */
function saysMore(second: string | undefined, first: string | undefined): boolean {
  return first === unverified && second !== unverified;
}

function codeOf(error: unknown): string | undefined {
  return isProblemError(error) ? error.code : undefined;
}

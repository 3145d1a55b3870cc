import type { Signer } from '../../client/sign-message.ts';
import type { Receipt } from '../../contract.ts';
import { isProblemError } from '../../core/base/problem.ts';
import type { GatewayContext } from './gateway-context.ts';
import type { Principal } from './principal.ts';

/**
 * The key with which the gateway signs a principal's messages, so that their name counts as verified. None for a principal
 * who did not authenticate: a signature would say so.
 */
export function signerFor({ signer }: Pick<GatewayContext, 'signer'>, principal: Principal): Signer | undefined {
  return principal.via === 'local' ? undefined : signer;
}

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
    if (signer === undefined || !isUnverified(error)) throw error;
    return send(undefined).catch((second: unknown) => {
      // The first says why the signature does not count.
      throw isUnverified(second) ? error : second;
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
  const places = receipts.flatMap(({ code }, index) => (code === 'unverified_reviewer' ? [index] : []));
  if (signer === undefined || places.length === 0) return receipts;
  const again = await send(
    places.map((place) => messages[place]!),
    undefined,
  );
  return receipts.map((receipt, index) => {
    const second = again[places.indexOf(index)];
    return second === undefined || second.code === 'unverified_reviewer' ? receipt : second;
  });
}

function isUnverified(error: unknown): boolean {
  return isProblemError(error) && error.code === 'unverified_reviewer';
}

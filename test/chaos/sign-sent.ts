import { signDecision, signMessage } from '../../src/client/send/sign-message.ts';
import type { Decision } from '../../src/contract.ts';
import type { SignedAction } from '../../src/core/messages/signature.ts';
import { keyIdOf, privateKeyOf } from './approval-settings.ts';
import type { Fault } from './schedule.ts';

interface Signing {
  person: string;
  workflowId: string;
  namespace: string;
}

/** Constant, so that a repeated message is identical to the last character. */
const signedAt = '2026-01-01T00:00:00.000Z';

/** The decision as its reviewer signs it, or as somebody forges that signature. */
export function signedDecision(decision: object, fault: Fault | undefined, signing: Signing): object {
  const { person, workflowId, namespace } = signing;
  const signed = signDecision(decision as Decision, {
    keyId: keyIdOf(person),
    privateKey: privateKeyOf(fault === 'forged' ? 'mallory' : person),
    workflowId: fault === 'elsewhere' ? `${workflowId}-elsewhere` : workflowId,
    namespace,
    signedAt,
  });
  return fault === 'altered' ? { ...signed, approved: !signed.approved } : signed;
}

export function signedControl(
  action: Exclude<SignedAction, 'decide'>,
  message: object,
  { person, workflowId, namespace }: Signing,
): object {
  const key = { keyId: keyIdOf(person), privateKey: privateKeyOf(person) };
  return signMessage(action, message, { ...key, workflowId, namespace, signedAt });
}

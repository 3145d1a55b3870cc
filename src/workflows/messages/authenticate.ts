import { workflowInfo } from '@temporalio/workflow';
import { decideName, messageNames } from '../../contract.ts';
import { claimedSender, verifiedSender, type Sender, type SentMessage } from '../../core/messages/sender.ts';
import type { Policy } from '../../core/policy/policy.ts';
import type { Problem } from '../../core/base/problem.ts';
import type { PersonKey } from '../../core/people/directory.ts';
import { personKeyOfRun } from '../../core/ledger/panel.ts';
import type { SignedAction } from '../../core/messages/signature.ts';
import { checksOfExecution, type GateState } from '../state/gate-state.ts';

/**
 * The most signatures that one execution verifies, because each takes milliseconds and a task must not take seconds. An
 * execution continues as new after half of them, unless something is in flight. Activations cannot be the unit of the
 * count, because a replay divides a history into other activations.
 */
const maxChecks = 2 * checksOfExecution;

/** The names of the messages that can be signed. A signature of any other message is not read. */
const signed = [
  decideName,
  messageNames.setPolicy,
  messageNames.revoke,
  messageNames.extend,
  messageNames.delegate,
] satisfies SignedAction[];

function actionOf(name: string): SignedAction | undefined {
  return signed.find((each) => each === name);
}

/** Returns the sender that message `name` claims, unverified; an anonymous one if such messages are not signed. */
export function claimed(
  name: string,
  message: unknown,
  ceiling: Policy | undefined,
  state: Pick<GateState, 'directories' | 'ledger'>,
): Sender | { problem: Problem } {
  const action = actionOf(name);
  if (action === undefined) return { voter: { identity: 'anonymous' }, operator: false };
  return claimedSender({ action, message: message as SentMessage }, ...trusted(ceiling, state));
}

/** Returns the sender of message `name`, and verifies the signature if there is one. */
export function authenticate(
  name: string,
  message: unknown,
  ceiling: Policy | undefined,
  state: GateState,
): Sender | { problem: Problem } {
  const sender = claimed(name, message, ceiling, state);
  const action = actionOf(name);
  const sent = message as SentMessage;
  if ('problem' in sender || action === undefined || sent.signature === undefined) return sender;
  if (state.checks >= maxChecks) {
    const sentence = 'this run received too many signatures: send the message again after it has continued as new';
    return { problem: { code: 'rate_limited', message: sentence } };
  }
  state.checks++;
  const { namespace, workflowId } = workflowInfo();
  return verifiedSender({ action, message: sent, namespace, workflowId }, ...trusted(ceiling, state));
}

/** Returns the ceiling with all revocations that this run knows, and the function that compares people's names. */
function trusted(
  ceiling: Policy | undefined,
  { directories }: Pick<GateState, 'directories'>,
): [Policy | undefined, PersonKey] {
  const { revoked } = directories;
  const keyOf = personKeyOfRun({ ceiling: ceiling?.directory });
  return [ceiling && revoked ? { ...ceiling, revoked } : ceiling, keyOf];
}

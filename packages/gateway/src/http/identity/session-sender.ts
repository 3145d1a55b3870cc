/** Who may say more to a session through the gateway: the person for whom it works. */
import { isSamePerson, sessionOf, type SessionOfRun } from 'countersign/adapter';
import { ProblemError, isProblemError } from 'countersign/base';
import type { CountersignClient } from 'countersign/client';
import type { Principal } from './principal.ts';

/** Throws `forbidden` for anybody but the run's user, and `invalid_message` for a run that is no session. */
export async function requireUserOf(
  client: CountersignClient,
  principal: Principal,
  workflowId: string,
): Promise<void> {
  const found = await sessionOf(client.session, workflowId);
  if (!found.isSession) {
    const message = 'This run is no session: it takes no further messages of its user. Start another run.';
    throw new ProblemError({ code: 'invalid_message', message });
  }
  if (isUser(principal, found)) return;
  const message = 'Only the person for whom this run works can say more to it.';
  throw new ProblemError({ code: 'forbidden', message });
}

/** True if this person can say more to the run while it is open. */
export async function isUserOf(client: CountersignClient, principal: Principal, workflowId: string): Promise<boolean> {
  if (!principal.roles.includes('starter')) return false;
  try {
    const found = await sessionOf(client.session, workflowId);
    return found.isSession && isUser(principal, found);
  } catch (error) {
    // The rest of the run can be shown.
    if (isProblemError(error) && error.code === 'undecodable') return false;
    throw error;
  }
}

/** A run without a caller has no user whom anybody knows: whoever may start runs may say more to it. */
function isUser({ id, via, actsForOthers }: Principal, { callerUserId }: SessionOfRun): boolean {
  if (callerUserId === undefined || via === 'local' || actsForOthers === true) return true;
  return isSamePerson(callerUserId, id);
}

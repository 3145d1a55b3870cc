import { requireGated } from 'countersign/adapter';
import type { ChatGateway } from 'countersign/channels';
import { ProblemError } from 'countersign/base';
import type { Decision } from 'countersign/client';
import type { GatewayContext } from '../gateway-context.ts';
import { idempotencyKeyOf } from '../shapes/idempotency-key.ts';
import { isPermitted, permissions } from '../identity/permissions.ts';
import type { Principal } from '../identity/principal.ts';
import { decideAs } from '../decide-as.ts';
import type { LinkedAccounts } from './linked-accounts.ts';

/** The gateway for a chat app: its users answer as the people to whom their accounts are linked. */
export function chatGateway(gateway: GatewayContext, accounts: LinkedAccounts, linkPage: string): ChatGateway {
  const { client, log } = gateway;
  return {
    log,
    personOf: async (account) => {
      const person = await accounts.personOf(account);
      return (
        person && { id: person.id, decide: (workflowId, decision) => answerAs(gateway, person, workflowId, decision) }
      );
    },
    linkUrl: async (account) => `${linkPage}?state=${await accounts.invite(account)}`,
    request: async (workflowId, requestId) => {
      await requireGated(client.session, workflowId);
      return client.approvals.get(requestId, { workflowId });
    },
  };
}

/** As `POST /approve/{requestId}` does for a person who is signed in. */
async function answerAs(
  gateway: GatewayContext,
  person: Principal,
  workflowId: string,
  { decisionId, ...answer }: Omit<Decision, 'reviewerId'>,
) {
  if (!isPermitted(permissions['POST /approve/{requestId}'], person.roles)) {
    throw new ProblemError({ code: 'forbidden', message: `${person.id} does not have the role reviewer.` });
  }
  await requireGated(gateway.client.session, workflowId);
  const decision = { ...answer, reviewerId: person.id, decisionId: idempotencyKeyOf(person, undefined, decisionId) };
  return decideAs(gateway, person, decision, workflowId);
}

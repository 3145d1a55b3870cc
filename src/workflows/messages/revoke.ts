/** Message `revoke`: ends some or all grants of the run, and lifts the denials of a tool. */
import { messageNames } from '../../contract.ts';
import { readRevoke, type RevokeMessage } from '../../core/messages/control.ts';
import { deniedToolId, toolsToLift } from '../../core/ledger/denials.ts';
import type { Grant } from '../../core/policy/grants.ts';
import type { Sender } from '../../core/messages/sender.ts';
import type { Problem } from '../../core/base/problem.ts';
import type { GateState } from '../state/gate-state.ts';
import type { ActivePolicies } from '../state/active-policies.ts';
import { loosening, loosensByOperator } from './loosening.ts';
import type { MessageKind } from './message-kind.ts';
import { refused } from './message-kind.ts';

export function revokeMessages(state: GateState, policies: () => ActivePolicies): MessageKind<RevokeMessage> {
  return {
    name: messageNames.revoke,
    parse: readRevoke,
    concerns: () => [],
    preview: (message, sender, atMs) => {
      const loosened = lifting(message, sender);
      return 'code' in loosened ? refused('', loosened) : state.preview(revocation(message, sender, atMs));
    },
    loosens: (message, sender) => loosensByOperator(lifting(message, sender)),
    apply: (message, sender, atMs) => {
      const ids = namedBy(message).map(({ grantId }) => grantId);
      const loosened = lifting(message, sender);
      if ('code' in loosened) return refused('', loosened);
      const command = { ...revocation(message, sender, atMs), ...loosened };
      const receipt = state.answer(command);
      if (!receipt.accepted) return receipt;
      if (message.grants === 'all') state.lastRevocation = command;
      return { ...receipt, message: ids.length === 0 ? 'there was no grant to revoke' : `revoked ${ids.join(', ')}` };
    },
  };

  function namedBy({ grants }: RevokeMessage): Pick<Grant, 'grantId' | 'approved'>[] {
    const { ledger } = state;
    if (grants === 'all') return ledger.grants;
    const lifted = toolsToLift(ledger, grants).map((tool) => ({ grantId: deniedToolId(tool), approved: false }));
    return [...ledger.grants.filter(({ grantId }) => grants.includes(grantId)), ...lifted];
  }

  /** Revoking a denial loosens what the run may do. */
  function lifting(message: RevokeMessage, sender: Sender): { operatorMs?: number } | Problem {
    if (namedBy(message).every(({ approved }) => approved)) return {};
    return loosening(message, sender, policies().policies.ceiling, state.ledger.operatorMs);
  }
}

function revocation({ grants, reason }: RevokeMessage, { voter }: Sender, atMs: number) {
  return { kind: 'revoke', atMs, grants, voter, reason: reason || undefined } as const;
}

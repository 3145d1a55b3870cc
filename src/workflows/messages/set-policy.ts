/** Message `setPolicy`: changes the run's policy or mode; everything open is ruled on again. */
import { proxyActivities } from '@temporalio/workflow';
import type { ReadPolicy } from '../../activities/read-policy.ts';
import { activityNames, messageNames } from '../../contract.ts';
import type { Receipt } from '../../core/ledger/approval.ts';
import { readSetPolicy, type SetPolicyMessage } from '../../core/messages/control.ts';
import type { Sender } from '../../core/messages/sender.ts';
import type { Problem } from '../../core/base/problem.ts';
import type { RulingMeter } from '../../core/match/ruling-meter.ts';
import { ceilingRedaction } from '../../core/policy/redaction-settings.ts';
import type { PolicyChange } from '../../core/policy/run-side.ts';
import type { GateState } from '../state/gate-state.ts';
import { reevaluateOpen } from '../state/reevaluate-open.ts';
import type { ActivePolicies } from '../state/active-policies.ts';
import { loosening, loosensByOperator } from './loosening.ts';
import type { Lookup, MessageKind } from './message-kind.ts';
import { acceptable, refused, tooManyLookups } from './message-kind.ts';

const readPolicy = proxyActivities<{ [activityNames.readPolicy]: ReadPolicy }>({
  startToCloseTimeout: '30s',
  retry: { maximumAttempts: 5 },
  summary: 'Check the new policy',
})[activityNames.readPolicy];

/** Characters: a problem may quote the document, which may be long. */
const maxProblemLength = 1_000;

/** What it takes to compile a changed policy, in units of a ruling's work. */
const workOfChange = 500_000;
const workOfRule = 5_000;
/** Of a condition. */
const workOfCharacter = 250;

/** `change` puts the run under the changed policy. */
export function setPolicyMessages(
  state: GateState,
  policies: () => ActivePolicies,
  change: (change: PolicyChange) => void,
): MessageKind<SetPolicyMessage> {
  return {
    name: messageNames.setPolicy,
    parse: readSetPolicy,
    concerns: () => state.ledger.open.map(({ request }) => request.requestId),
    preview: (message, sender) => {
      const loosened = loosen(message, sender);
      return 'code' in loosened ? refused('', loosened) : acceptable;
    },
    loosens: (message, sender) => loosensByOperator(loosen(message, sender)),
    apply: (message, sender, atMs) => {
      const loosened = loosen(message, sender);
      if ('code' in loosened) return refused('', loosened);
      const { policy: document, mode, channels } = message;
      const unknown = channels?.find((name) => !Object.hasOwn(policies().options.routes?.channels ?? {}, name));
      if (unknown !== undefined) {
        return refused('', { code: 'policy_invalid', message: `this run has no channel '${unknown.slice(0, 64)}'` });
      }
      if (document === undefined) {
        if (state.affordsNoChange) return refused('', tooManyLookups);
        const { ceiling, parents = [], run } = policies().policies;
        const rules = [ceiling, ...parents, run].flatMap((policy) => policy?.rules ?? []);
        const conditions = rules.reduce((sum, { when = '' }) => sum + when.length, 0);
        const meter = { work: 0 };
        const receipt = follow({ mode, channels }, meter);
        state.changes.work += workOfChange + rules.length * workOfRule + conditions * workOfCharacter + meter.work;
        return receipt;
      }
      return read(document, (policy) => follow({ policy, mode, channels }));

      function follow(next: PolicyChange, meter?: RulingMeter): Receipt {
        const { reason } = message;
        change(next);
        const note = { voter: sender.voter, ...loosened, reason: reason || undefined };
        const { policyDigest, settled } = reevaluateOpen(state, policies(), atMs, note, meter);
        const which = settled.map(({ requestId, outcome }) => `${requestId} ${outcome}`).join(', ');
        return {
          requestId: '',
          accepted: true,
          settled,
          message: `the policy is ${policyDigest.slice(0, 16)}…; settled: ${which || 'nothing'}`,
        };
      }
    },
  };

  function loosen(message: SetPolicyMessage, sender: Sender): { operatorMs?: number } | Problem {
    return loosening(message, sender, policies().policies.ceiling, state.ledger.operatorMs);
  }

  function read(
    document: NonNullable<SetPolicyMessage['policy']>,
    follow: (policy: NonNullable<PolicyChange['policy']>) => Receipt,
  ): Lookup {
    const { ceiling } = policies().policies;
    const { maxTimeoutMs } = ceiling?.approval ?? {};
    const bounds = {
      maxTimeoutMs,
      underCeiling: ceiling !== undefined,
      redaction: ceiling && ceilingRedaction(ceiling),
    };
    return {
      blocks: true,
      failed: 'the new policy could not be read: send it again',
      ended: 'the run ended before it took the policy',
      find: async () => {
        const found = await readPolicy({ policy: document, ...bounds });
        if ('policy' in found) return () => follow(found.policy);
        const problem = `the new policy: ${found.problem.slice(0, maxProblemLength)}`;
        return () => refused('', { code: 'policy_invalid', message: problem });
      },
    };
  }
}

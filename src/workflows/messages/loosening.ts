import { instantMs, type ControlMessage } from '../../core/messages/control.ts';
import type { Sender } from '../../core/messages/sender.ts';
import type { Policy } from '../../core/policy/policy.ts';
import type { Problem } from '../../core/base/problem.ts';

/**
 * If the ceiling names operators, only they may loosen what a run may do (I10). Each message of an operator counts
 * once: one that was signed no later than the last is refused. `operatorMs`: when this message was signed.
 */
export function loosening(
  message: ControlMessage,
  { operator }: Sender,
  ceiling: Policy | undefined,
  lastOperatorMs: number,
): { operatorMs?: number } | Problem {
  const keys = Object.values(ceiling?.reviewerKeys ?? {});
  if (!keys.some((key) => key.operator)) return {};
  const code = 'not_permitted_by_ceiling';
  const operatorMs = instantMs(message.signature?.signedAt);
  if (!operator || operatorMs === undefined) {
    return {
      code,
      message: `only an operator can loosen what this run may do: sign the message with an operator's key`,
    };
  }
  if (operatorMs > lastOperatorMs) return { operatorMs };
  return { code, message: `a message with the same or a later signing time was applied already: sign this one again` };
}

/** Whether an operator's word is what lets a message loosen. */
export function loosensByOperator(found: { operatorMs?: number } | Problem): boolean {
  return 'operatorMs' in found;
}

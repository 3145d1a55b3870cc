/**
 * Thrown by a tool's `execute` if nobody knows whether the call took effect, such as when the connection to a service broke
 * before it answered. The call's outcome is `ran: unknown`, the model is told so, and only a tool that may be repeated is
 * tried again. `message` is kept in history.
 *
 * @example
 * ```ts
 * import { defineTool, UnknownOutcomeError } from 'countersign';
 * import { z } from 'zod';
 *
 * const refund = defineTool({
 *   name: 'refund',
 *   description: 'Refunds an order.',
 *   input: z.object({ orderId: z.string() }),
 *   execute: ({ orderId }) => {
 *     throw new UnknownOutcomeError(`the bank did not answer about order ${orderId}`);
 *   },
 * });
 * console.log(refund.name); // refund
 * ```
 */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError' as const;
}

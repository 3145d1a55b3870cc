import type { ApprovalRequest } from '../../core/ledger/approval.ts';
import { Gate } from '../gate/gate.ts';
import { hasGatedCall, type Gated, guardActivities } from './guarded-activities.ts';
import { carryGate, type Carry, type CarriedGate, loadGate, type LoadOptions } from './load-gate.ts';

/**
 * The gate for a custom workflow: every call of a guarded activity passes the policies first, and a call that they ask
 * about waits for a reviewer, durably (docs/gate.md). Create it at the top of the workflow, before the first `await`,
 * because it registers handlers for signals, updates and queries. A workflow has at most one gate.
 *
 * @example
 * ```ts
 * import { proxyActivities } from '@temporalio/workflow';
 * import { ApprovalGate } from 'countersign/workflow';
 *
 * const activities = proxyActivities<{ refund(orderId: string): Promise<string> }>({ startToCloseTimeout: '1 minute' });
 *
 * export async function returnOrder(orderId: string): Promise<string> {
 *   const gate = new ApprovalGate();
 *   const { refund } = gate.guard(activities, { refund: { risk: 'destructive', arguments: ['orderId'] } });
 *   await gate.load({ agent: 'returns' });
 *   return refund(orderId);
 * }
 * ```
 */
export class ApprovalGate {
  readonly #gate: Gate;
  readonly #written: string[];

  /**
   * `refuseUnknownSignals`: refuses and counts signals that have no handler when they arrive. By default, Temporal
   * keeps them for a handler that the workflow sets later.
   */
  constructor(options: { refuseUnknownSignals?: boolean } = {}) {
    const { refuseUnknownSignals = false } = options;
    this.#gate = new Gate({ refuseUnknownSignals });
    this.#written = Object.keys(options);
  }

  /**
   * Puts activities under the gate, whichever code schedules them, and returns them. A call that does not run throws an
   * error that `gateRefusal` reads. Call it before `load`.
   */
  // oxlint-disable-next-line no-generated-empty-object-type -- it is empty for \`object\` alone
  guard<Activities extends object>(activities: Activities, gated: Gated<Activities>): Activities {
    return guardActivities(this.#gate, activities, gated);
  }

  /**
   * Puts the gate under the worker's policies and the given options, once, before the first guarded call. In a
   * continued execution, it restores the state that `carry` returned, which an activity verifies first. Throws
   * `forbidden` for state that was not carried to this execution, `policy_invalid` for a policy that cannot be read,
   * and `arguments_invalid` for an unknown option, also of the constructor or of `guard`.
   */
  load(options: LoadOptions, carried?: CarriedGate): Promise<void> {
    return loadGate(this.#gate, options, carried, this.#written);
  }

  /** Like `condition`, but first applies the messages that were received. Rejects if its scope is cancelled. */
  until(predicate: () => boolean): Promise<void> {
    return this.#gate.until(predicate);
  }

  /** The requests that wait for a reviewer, the oldest first. */
  get openRequests(): readonly ApprovalRequest[] {
    return this.#gate.ledger.open.map(({ request }) => request);
  }

  /** The reason of a `close` message: open requests are cancelled, and every further call throws `cancelled`. */
  get closing(): string | undefined {
    return this.#gate.closing;
  }

  /** True while a guarded activity runs or a message is in flight: the workflow must not continue as new then. */
  get busy(): boolean {
    return this.#gate.busy || hasGatedCall();
  }

  /** True when the history has grown enough: begin nothing new, and continue as new once `busy` is false. */
  get shouldContinueAsNew(): boolean {
    return this.#gate.shouldContinueAsNew;
  }

  /** The state that `load` takes in the next execution, and the memo of that execution. Call it to continue as new. */
  carry(): Carry {
    return carryGate(this.#gate);
  }
}

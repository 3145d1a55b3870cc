import type { ApprovalRequest } from '../../core/ledger/approval.ts';
import { Gate } from '../gate/gate.ts';
import { gatedRun, type Gated, guardActivities } from './guarded-activities.ts';
import { carryGate, type Carry, type CarriedGate, loadGate, type LoadOptions } from './load-gate.ts';

/**
 * The gate for a workflow of one's own: every call of an activity that it guards passes the policies first, and what they
 * ask about waits for a reviewer, durably (docs/gate.md). Make one at the top of the workflow, before the first `await`:
 * it registers handlers for signals, updates and queries. A workflow has at most one.
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
   * Registers the handlers. `refuseUnknownSignals`: refuses and counts signals that have no handler when they arrive;
   * otherwise, and by default, Temporal keeps them for a handler that the workflow sets later.
   */
  constructor(options: { refuseUnknownSignals?: boolean } = {}) {
    const { refuseUnknownSignals = false } = options;
    this.#gate = new Gate({ refuseUnknownSignals });
    this.#written = Object.keys(options);
  }

  /**
   * Puts activities under the gate and returns them. From now on each call of one that is declared here passes the gate,
   * whoever schedules it; a call that the gate does not let run throws what `gateRefusal` reads. Call it before `load`.
   */
  // oxlint-disable-next-line no-generated-empty-object-type -- it is empty for \`object\` alone
  guard<Activities extends object>(activities: Activities, gated: Gated<Activities>): Activities {
    return guardActivities(this.#gate, activities, gated);
  }

  /**
   * Puts the gate under the worker's policies and these, once, before the first guarded call. In a continued execution
   * it takes up what `carry` gave, which an activity verifies first. Throws `forbidden` if that was not carried here,
   * `policy_invalid` for a policy that cannot be read, and `arguments_invalid` for an option that there is not, also of the
   * constructor and of `guard`.
   */
  load(options: LoadOptions, carried?: CarriedGate): Promise<void> {
    return loadGate(this.#gate, options, carried, this.#written);
  }

  /**
   * Waits until `predicate` holds, after the messages that came in are applied. Use it in place of `condition`. Rejects
   * when the scope that it is called in is cancelled.
   */
  until(predicate: () => boolean): Promise<void> {
    return this.#gate.until(predicate);
  }

  /** The requests that wait for a reviewer, the oldest first. */
  get openRequests(): readonly ApprovalRequest[] {
    return this.#gate.ledger.open.map(({ request }) => request);
  }

  /** The reason, once somebody sent `close`: open requests are cancelled, and every further call throws `cancelled`. */
  get closing(): string | undefined {
    return this.#gate.closing;
  }

  /** True while a guarded activity runs or a message is in flight: the workflow must not continue as new then. */
  get busy(): boolean {
    return this.#gate.busy || gatedRun();
  }

  /** True when the history has grown enough: begin nothing new, and continue as new once `busy` is false. */
  get shouldContinueAsNew(): boolean {
    return this.#gate.shouldContinueAsNew;
  }

  /** For continue-as-new: what `load` takes in the next execution, and its memo. */
  carry(): Carry {
    return carryGate(this.#gate);
  }
}

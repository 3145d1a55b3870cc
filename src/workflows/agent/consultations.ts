import { CancellationScope, isCancellation } from '@temporalio/workflow';
import { failedAdvice, type Advice } from '../../core/policy/advice.ts';
import { redactionSettings } from '../../core/policy/redaction-settings.ts';
import { consultAdvisors } from '../gate/consult-advisors.ts';
import type { Gate } from '../gate/gate.ts';
import type { HeldCall, RunState, TurnCall } from './run-state.ts';

interface AdvisedCall extends HeldCall {
  held: HeldCall['held'] & Required<Pick<HeldCall['held'], 'consultation'>>;
}

/** Asks advisors, for at most `maxPending` calls at once. Each call then passes the gate with their answers. */
export class Consultations {
  readonly #state: RunState;
  readonly #gate: Gate;
  readonly #running = new Set<string>();
  #scope = new CancellationScope();

  constructor(state: RunState, gate: Gate) {
    this.#state = state;
    this.#gate = gate;
  }

  get areRunning(): boolean {
    return this.#running.size > 0;
  }

  mayStart(each: TurnCall): each is AdvisedCall {
    if (each.state !== 'held' || each.held.consultation === undefined) return false;
    return !this.#running.has(each.held.callId) && this.#running.size < this.#gate.limits.maxPending;
  }

  /** Starts the consultation about the call at `index` of the turn. When it ends or is cancelled, keeps its advice. */
  start(index: number, { held: { callId, requested, consultation } }: AdvisedCall): void {
    if (this.#scope.consideredCancelled) this.#scope = new CancellationScope();
    this.#running.add(callId);
    const redact = redactionSettings(this.#gate.policies);
    const call = { callId, args: requested.args! };
    const consulting = this.#scope.run(() => consultAdvisors(call, consultation, redact));
    const givenUp = (error: unknown): Advice[] => {
      if (!isCancellation(error)) throw error;
      return consultation.advisors.map(({ name }) => failedAdvice(name, 'nobody waits for it any more'));
    };
    void consulting.catch(givenUp).then((advice) => this.#keepAdvice(index, callId, advice));
  }

  /** Cancels all consultations. Their calls then pass the gate with failed advice. */
  cancel(): void {
    this.#scope.cancel();
  }

  /** Gives a held call its advice and ends its consultation, so that the call passes the gate next. */
  #keepAdvice(index: number, callId: string, advice: Advice[]): void {
    this.#running.delete(callId);
    const each = this.#state.calls[index];
    // The call may have been given up while its advisors answered.
    if (each?.state !== 'held' || each.held.callId !== callId) return;
    this.#gate.noteRuling();
    const { consultation: _, ...held } = each.held;
    this.#state.calls[index] = { ...each, held: { ...held, advice } };
  }
}

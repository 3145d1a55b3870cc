/** Counts what a whole run uses, and asks a person whether it may go on beyond a limit. */
import { workflowInfo } from '@temporalio/workflow';
import { saidText } from '../../core/base/user-files.ts';
import { totalUsage } from '../../core/base/model-answer.ts';
import { continueArguments, continueAssessment, continueDefinition } from '../../core/policy/continue-request.ts';
import type { Prices, RunMeasure } from '../../core/policy/policy.ts';
import { redactionSettings } from '../../core/policy/redaction-settings.ts';
import { withModelCost, withNestedCost } from '../../core/policy/run-cost.ts';
import type { CallModelResult } from '../../activities/model-turn.ts';
import { amountText, type ReachedLimit, reachedLimit, runLimitsOf } from '../../core/policy/run-limits.ts';
import { sentences } from '../../core/ledger/sentences.ts';
import { marksOf } from '../../core/redact/redaction.ts';
import { clock } from '../sandbox/clock.ts';
import type { Approver } from '../../core/ledger/approved-by.ts';
import type { Gate } from '../gate/gate.ts';
import type { RunState, Spending } from './run-state.ts';
import type { ToolEnd } from './run-tool.ts';

export class LimitCheck {
  readonly #gate: Gate;
  readonly #state: RunState;

  constructor(state: RunState, gate: Gate) {
    this.#state = state;
    this.#gate = gate;
  }

  get isAsking(): boolean {
    return this.#spending.asking !== undefined;
  }

  get isSettled(): boolean {
    const { asking } = this.#spending;
    return asking !== undefined && this.#gate.settlement(asking.requestId) !== undefined;
  }

  /** The people whose approval lets the run go on. The caller checks whether they still count: no second gate does. */
  get approvers(): Approver[] {
    const { asking } = this.#spending;
    return asking === undefined ? [] : this.#gate.approversOf(asking.requestId);
  }

  /** If the run has reached a limit, opens a request to go on, or returns why the run ends. Call it between turns. */
  check(): string | undefined {
    const { allowedFrom } = this.#spending;
    const reached = reachedLimit(runLimitsOf(this.#gate.policies), this.#used, allowedFrom, this.#isCostUnknown);
    if (reached === undefined) return undefined;
    return reached.asks ? this.#ask(reached) : this.#stopReason(reached);
  }

  /** Applies the answer to the request. Returns why the run ends, if it does. `problem`: why the approval is void. */
  takeSettled(problem?: string): string | undefined {
    const spending = this.#spending;
    const { requestId, callId, limit } = spending.asking!;
    const { outcome, runs } = this.#gate.settlement(requestId)!;
    this.#state.spending = { ...spending, asking: undefined };
    // The request was withdrawn without an answer: the user stopped the turn or wrote, so the run goes on.
    if (outcome === 'cancelled') return undefined;
    if (!runs) return this.#stopReason(limit, this.#gate.sentence(requestId));
    if (problem !== undefined) {
      // The limit is still reached, so the next `check` asks again.
      this.#gate.finished(callId, 'no');
      return undefined;
    }
    this.#letGoOn(callId, limit.measure);
    return undefined;
  }

  /** Counts one more tool call. Returns the sentence for the model if a limit leaves no room for the call. */
  refusal(): string | undefined {
    const spending = this.#spending;
    this.#state.spending = { ...spending, calls: spending.calls + 1 };
    const { calls = {} } = runLimitsOf(this.#gate.policies);
    const reached = reachedLimit({ calls }, this.#used, spending.allowedFrom);
    return reached && sentences.tooManyCalls(reached.amount, reached.asks);
  }

  addModelCall({ model, usage }: Pick<CallModelResult, 'model' | 'usage'>): void {
    const spending = this.#spending;
    this.#state.usage = totalUsage(this.#state.usage, usage);
    this.#state.spending = { ...spending, cost: withModelCost(spending.cost, this.#prices, model, usage) };
  }

  /** Adds a nested run's tokens and cost. If it ended without reporting them, its cost counts as unknown. */
  addNested(agent: string, { usage, cost }: Pick<ToolEnd, 'usage' | 'cost'>): void {
    const { nested, ...spending } = this.#spending;
    const isUsed = nested !== undefined || usage !== undefined;
    this.#state.spending = {
      ...spending,
      ...(isUsed && { nested: totalUsage(nested, usage) }),
      cost: withNestedCost(spending.cost, this.#prices, agent, cost),
    };
  }

  /** Opens the request to go on. Returns why the run stops; undefined if it may go on or waits for an answer. */
  #ask(limit: ReachedLimit): string | undefined {
    const { asks = 0 } = this.#spending;
    const callId = `${this.#state.turn}.continue-${asks + 1}`;
    const { measure } = limit;
    const redact = redactionSettings(this.#gate.policies);
    const admission = this.#gate.admit(
      { callId, tool: continueDefinition.name, args: continueArguments(limit) },
      continueDefinition,
      {
        // Workflows cannot apply a policy's own patterns. If a policy has some, leave the text out.
        contextSummary: (redact?.patterns ?? []).length > 0 ? '' : this.#lastText,
        sentence: this.#requestSentence(limit),
        assessment: continueAssessment,
        // Consult no advisors, because only people may let a run go on.
        advice: [],
        // The arguments are only the policy's own numbers, so reviewers see all of them.
        redaction: redact && { ...marksOf(redact), values: [] },
      },
    );
    this.#state.spending = { ...this.#spending, asks: asks + 1 };
    if (admission.kind === 'answered') return this.#stopReason(limit, admission.content);
    if (admission.kind === 'allowed') this.#letGoOn(callId, measure);
    if (admission.kind === 'asked') {
      this.#state.spending = { ...this.#state.spending, asking: { requestId: admission.requestId, callId, limit } };
    }
    return undefined;
  }

  /** Writes the sentence for reviewers: what the run has used, and how much more an approval allows. */
  #requestSentence({ measure, amount, isUnknown }: ReachedLimit): string {
    const more = amountText(measure, amount, this.#prices);
    if (isUnknown === true) {
      const names = this.#spending.cost!.unpriced.map((name) => `'${name}'`).join(', ');
      return `The cost of the run is limited and not known: there is no price for ${names}. Approved, it goes on until what is known is ${more} more; denied, it ends.`;
    }
    return `The run has reached a limit: ${this.#usedText(measure)} used. Approved, it goes on for ${more} more; denied, it ends.`;
  }

  #letGoOn(callId: string, measure: RunMeasure): void {
    const { allowedFrom, ...spending } = this.#spending;
    const unpriced = measure === 'cost' ? { allowedUnpriced: spending.cost?.unpriced.length ?? 0 } : {};
    const from = { ...allowedFrom, [measure]: this.#used[measure] };
    this.#state.spending = { ...spending, ...unpriced, allowedFrom: from };
    this.#gate.finished(callId, 'yes');
  }

  #stopReason({ measure, amount, isUnknown }: ReachedLimit, why?: string): string {
    const used = isUnknown === true ? 'an unknown cost' : this.#usedText(measure);
    const text = `Stopped after ${used} (limit: ${amountText(measure, amount, this.#prices)})`;
    return why === undefined ? text : `${text}. ${why}`;
  }

  #usedText(measure: RunMeasure): string {
    const used = this.#used[measure];
    return amountText(measure, measure === 'timeMs' ? Math.floor(used / 1_000) * 1_000 : used, this.#prices);
  }

  get #used(): Record<RunMeasure, number> {
    const { turn, usage } = this.#state;
    const { calls, startedAtMs, nested, cost } = this.#spending;
    const { inputTokens, outputTokens } = totalUsage(usage, nested);
    const tokens = inputTokens + outputTokens;
    return { turns: turn, calls, tokens, timeMs: clock.nowMs - startedAtMs, cost: cost?.amount ?? 0 };
  }

  get #prices(): Prices | undefined {
    return this.#gate.policies.ceiling?.prices;
  }

  /** True if the run has used something without a price since a person last let it go on. */
  get #isCostUnknown(): boolean {
    const { cost, allowedUnpriced = 0 } = this.#spending;
    return (cost?.unpriced.length ?? 0) > allowedUnpriced;
  }

  get #spending(): Spending {
    return (this.#state.spending ??= { startedAtMs: workflowInfo().startTime.getTime(), calls: 0 });
  }

  get #lastText(): string {
    const texts = this.#state.messages.map((each) => (each.role === 'tool' ? '' : saidText(each)));
    return texts.findLast((text) => text.trim() !== '') ?? '';
  }
}

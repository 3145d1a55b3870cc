/** Carries the calls of one turn from the gate to their answers, which the model gets in the order of its calls. */
import { CancellationScope, createEventGroup, patched } from '@temporalio/workflow';
import type { ChangedDefinition } from '../../activities/call-tool.ts';
import type { ModelCall } from '../../activities/model-turn.ts';
import { changesTooOften, mostDefinitionChanges, previewChangesTooOften } from '../../core/policy/definition-change.ts';
import { renewedDefinition } from '../../core/policy/gated-activity.ts';
import { sentences } from '../../core/ledger/sentences.ts';
import { inlineLimits } from '../../core/base/size-limits.ts';
import type { RulingMeter } from '../../core/match/ruling-meter.ts';
import type { ToolDefinition } from '../../core/base/tool-call.ts';
import type { Approver } from '../../core/ledger/approved-by.ts';
import type { Gate } from '../gate/gate.ts';
import { Consultations } from './consultations.ts';
import type { LimitCheck } from './limit-check.ts';
import type { NestedRuns } from './nested-runs.ts';
import { redactionSettings } from '../../core/policy/redaction-settings.ts';
import { admittedTool, heldAgain, heldAsUnknown, heldForAdvice, passesAtOnce, takeDefinition } from './readmission.ts';
import { earlierResult, keepResult, noteStart } from './result-cache.ts';
import type { StartableCall, AnsweredCall, AskedCall, CheckedCall, HeldCall, RunState, TurnCall } from './run-state.ts';
import { agentOf } from './run-state.ts';
import { lookAtUnsettled, reconcileCall, runTool, type ToolEnd } from './run-tool.ts';
import { answerOf } from './transcript.ts';

/** How often a call is started if no worker can read its arguments. */
const startsForUnread = 5;
/** How often a call is started if its outcome is unknown each time. */
const startsForUnknown = 3;

function neverRan(tool: string): string {
  return sentences.failed(`tool '${tool}' was started ${startsForUnknown} times, and says that it did not run`);
}

export class TurnCalls {
  readonly #gate: Gate;
  readonly #nested: NestedRuns;
  readonly advising: Consultations;
  readonly #limits: LimitCheck;
  readonly #state: RunState;
  #running = 0;
  #tools = new CancellationScope();

  constructor(state: RunState, gate: Gate, nested: NestedRuns, limits: LimitCheck) {
    this.#state = state;
    this.#gate = gate;
    this.#nested = nested;
    this.advising = new Consultations(state, gate);
    this.#limits = limits;
  }

  /** Begins a turn. Each call of the answer passes the gate, or waits to pass it, before any call starts (I1). */
  admitAll(modelCalls: readonly ModelCall[], turn: number, contextSummary: string): void {
    this.#nested.newTurn();
    if (this.#tools.consideredCancelled) this.#tools = new CancellationScope();
    this.#state.calls = [];
    // The rulings on all calls of a turn share one limit of work.
    const meter = { work: 0 };
    for (const [index, requested] of modelCalls.entries()) {
      this.#state.calls.push(this.#admitInTurn(requested, `${turn}.${index + 1}`, contextSummary, meter));
    }
  }

  get areAnswered(): boolean {
    return this.#state.calls.every(({ state }) => state === 'done');
  }

  /** True while a tool, a nested run or an advisor is in flight: the run must not continue as new then (I11). */
  get areRunning(): boolean {
    return this.#running > 0 || this.advising.areRunning;
  }

  /** True if all calls are answered, or if `takeSettled` would change one of them. */
  get canGoOn(): boolean {
    const isDue = (each: TurnCall): boolean =>
      each.state === 'asked'
        ? each.isResponse !== true && this.#gate.settlement(each.requestId) !== undefined
        : each.state === 'held' && passesAtOnce(each);
    return this.areAnswered || this.#state.calls.some(isDue);
  }

  get canStart(): boolean {
    return this.#state.calls.some((each) => each.state === 'ready' || isResponse(each) || this.advising.mayStart(each));
  }

  takeSettled(): void {
    this.#change((each) => this.#settled(each));
    this.#admitHeld();
    const reason = this.#gate.closing ?? this.#state.stopped?.reason;
    if (reason !== undefined) this.#change((each) => this.#givenUp(each, reason));
  }

  startReady(): void {
    for (const [index, each] of this.#state.calls.entries()) {
      if (each.state === 'ready') this.#start(index, each);
      else if (isResponse(each)) this.#takeResponse(index, each);
      else if (this.advising.mayStart(each)) this.advising.start(index, each);
    }
  }

  /** Cancels the running tools. The run still awaits how each of them ends, and the model receives that. */
  cancelRunning(): void {
    this.#tools.cancel();
  }

  /** Waits until no call runs, so that the journal has the end of each. */
  untilEnded(): Promise<void> {
    return this.#gate.until(() => !this.areRunning);
  }

  /** Answers every call, even if the run ends before the call has run. */
  answerAll(reason: string): void {
    this.#change((each) => this.#givenUp(this.#settled(each), reason));
    this.writeAnswers();
  }

  writeAnswers(): void {
    const { calls, messages } = this.#state;
    this.#state.messages = [...messages, ...calls.map(answerOf)];
    this.#state.calls = [];
  }

  get nested(): { callId: string; agent: string }[] {
    return this.#state.calls.flatMap((each) => {
      if (each.state !== 'running') return [];
      const agent = this.#tool(each.tool)?.agent;
      return agent === undefined ? [] : [{ callId: each.call.callId, agent }];
    });
  }

  /** Admits a call. With `batch: sequential`, a call behind an open request waits until that request is settled. */
  #admitInTurn(requested: ModelCall, callId: string, contextSummary: string, meter: RulingMeter): TurnCall {
    const isHeld = this.#gate.limits.batch === 'sequential' && this.#state.calls.some(isUnanswered);
    if (!isHeld) return this.#admit({ requested, callId, contextSummary }, meter);
    const { id: modelCallId, tool, args, raw } = requested;
    return {
      modelCallId,
      tool,
      written: args ?? raw ?? {},
      state: 'held',
      held: { requested, callId, contextSummary },
    };
  }

  /** Passes each held call through the gate, unless it still waits for its advisors or for earlier calls. */
  #admitHeld(): void {
    const { calls } = this.#state;
    const meter = { work: 0 };
    for (const [index, each] of calls.entries()) {
      if (each.state !== 'held' || each.held.consultation !== undefined) continue;
      const { held, notice, changes, unknownStarts, mayHaveRun } = each;
      if (!passesAtOnce(each) && calls.slice(0, index).some(isUnanswered)) continue;
      const admitted = this.#admit(held, meter);
      const known = { notice, changes, unknownStarts, mayHaveRun };
      calls[index] =
        admitted.state === 'done' && mayHaveRun ? notStartedAgain(each, admitted.content) : { ...admitted, ...known };
    }
  }

  /** Refuses a call that cannot run, or passes it through the gate. Returns the call in its next state. */
  #admit(held: HeldCall['held'], meter: RulingMeter): TurnCall {
    const { requested, callId, contextSummary, again, replaces, advice } = held;
    const turnCall = {
      modelCallId: requested.id,
      tool: requested.tool,
      written: requested.args ?? requested.raw ?? {},
    };
    const tool = this.#tool(requested.tool);
    const refuse = (content: string): TurnCall => {
      this.#gate.refuse(callId, requested.tool, content);
      return answered(turnCall, content);
    };
    if (tool === undefined) return refuse(`Error: tool '${requested.tool}' not found`);
    if (requested.args === undefined) return refuse(requested.problem ?? 'Error: bad arguments');
    const problem = tool.agent === undefined ? undefined : this.#nested.problem(callId);
    if (problem !== undefined) return refuse(sentences.failed(problem));
    // A call that passes the gate again was counted the first time.
    const limit = again === true || advice !== undefined ? undefined : this.#limits.refusal();
    if (limit !== undefined) return refuse(limit);
    const call = { callId, tool: requested.tool, args: requested.args };
    const { shell, sentence, assessment, redaction, cannotStart } = requested;
    const { stopped, pendingMessages = [] } = this.#state;
    const meanwhile = { cannotStart, stopped: stopped?.reason, isUnheard: pendingMessages.length > 0 };
    const earlier = (digest: string) => earlierResult(this.#state, tool, digest);
    const facts = { contextSummary, shell, sentence, assessment, redaction, replaces, advice, earlier, ...meanwhile };
    const admission = this.#gate.admit(call, tool, facts, meter);
    if (admission.kind === 'advised') return heldForAdvice(turnCall, held, admission.consultation);
    const { definition: admitted } = tool;
    if (admission.kind === 'allowed') {
      return { ...turnCall, call, admitted, state: 'ready', approvedBy: admission.approvedBy };
    }
    if (admission.kind === 'asked') {
      return { ...turnCall, call, admitted, state: 'asked', requestId: admission.requestId };
    }
    return answered(turnCall, admission.content, admission.isError);
  }

  /** Returns the call in its next state, if its request is settled: ready to start, or answered. */
  #settled(each: TurnCall): TurnCall {
    if (each.state !== 'asked') return each;
    const settlement = this.#gate.settlement(each.requestId);
    if (settlement === undefined) return each;
    if (!settlement.runs) {
      // Like an approval, a response needs a check whether its reviewer was revoked since.
      return settlement.outcome === 'responded' ? { ...each, isResponse: true } : this.#answeredBy(each);
    }
    // `each.notice` is the notice of an earlier approval of the same call, which the new notice continues.
    const { notice, ...call } = this.#gate.approved(each.call, each.requestId, each.notice);
    return { ...each, state: 'ready', call, notice };
  }

  #answeredBy({ requestId, ...each }: AskedCall): AnsweredCall {
    const { outcome } = this.#gate.settlement(requestId)!;
    if (each.mayHaveRun && outcome !== 'responded') return notStartedAgain(each, this.#gate.sentence(requestId));
    return answered(each, this.#gate.sentence(requestId), this.#gate.isErrorForModel(outcome));
  }

  #takeResponse(index: number, each: AskedCall): void {
    this.#afterCheck(index, each, this.#gate.approversOf(each.requestId), () => {
      this.#state.calls[index] = this.#answeredBy(each);
    });
  }

  /** Starts an admitted call. If no second gate will check its approval, a worker checks the approval first. */
  #start(index: number, each: StartableCall): void {
    const tool = admittedTool(this.#state, each);
    if (tool === undefined) return; // never: `#admit` has refused calls of unknown tools
    // Nested runs and handoffs start no activity, so no second gate checks whether the approval still counts.
    const isUnchecked = tool.agent !== undefined || tool.handoff !== undefined;
    const approvedBy = isUnchecked ? this.#approversOf(each) : [];
    this.#afterCheck(index, each, approvedBy, () => this.#startNow(index, each, tool));
  }

  /** Calls `go` once a worker confirms that the approval counts, at once without approvers; else refuses the call. */
  #afterCheck(index: number, each: AskedCall | StartableCall, approvedBy: Approver[], go: () => void): void {
    const check = this.#gate.revocationOf(approvedBy);
    if (check === undefined) return go();
    const { modelCallId, tool, written } = each;
    const checked: CheckedCall = { modelCallId, tool, written, state: 'checked', waiting: each };
    this.#state.calls[index] = checked;
    this.#running++;
    const isCancelled = Symbol('cancelled');
    void check
      .catch(() => isCancelled)
      .then((problem) => {
        this.#running--;
        // The call may have been given up during the check.
        if (this.#state.calls[index] !== checked) return;
        // A check is cancelled when the turn or the run ends. `takeSettled` or `answerAll` then gives the call up.
        if (problem === isCancelled || this.#isOver) this.#state.calls[index] = each;
        else if (problem === undefined) go();
        else {
          const ran = each.mayHaveRun ? 'unknown' : 'no';
          // The response of a revoked reviewer counts as a result that is withheld from the model.
          this.#gate.finished(each.call.callId, ran, each.state === 'asked' ? (problem as string) : undefined);
          this.#state.calls[index] = notStarted(each, sentences.failed(problem as string), true);
        }
      });
  }

  #approversOf({ requestId, approvedBy = [] }: StartableCall): Approver[] {
    return requestId === undefined ? approvedBy : this.#gate.approversOf(requestId);
  }

  /** Starts a handoff, a nested run, or the tool's activity. When it ends, the call gets its next state. */
  #startNow(index: number, each: StartableCall, tool: ToolDefinition): void {
    const { call, requestId, approvedBy } = each;
    if (tool.handoff !== undefined) {
      this.#state.calls[index] = this.#handOver(each, tool.handoff);
      return;
    }
    this.#state.calls[index] = { ...each, state: 'running' };
    this.#running++;
    noteStart(this.#state, tool);
    const groups = requestId === undefined ? [] : [createEventGroup(`approval of ${tool.name}`, { id: requestId })];
    // The permit names the admitted definition. If the tool has changed since, the second gate refuses the call (I8).
    const { admitted: definition } = each;
    const permit =
      tool.agent === undefined
        ? this.#gate.permit(call, { ...tool, definition }, { requestId, approvedBy })
        : undefined;
    const ending =
      permit !== undefined
        ? this.#run(tool, permit, call.args, groups)
        : this.#nested.run(call, tool.agent!, (this.#state.config.sizeLimits ?? inlineLimits).resultBytes);
    void ending.then((end) => {
      this.#running--;
      if (end.isResult) keepResult(this.#state, tool, { ...each, index, digest: permit!.digest });
      this.#state.calls[index] = this.#ended(each, tool, permit?.requestId, end);
    });
  }

  get #isOver(): boolean {
    return this.#gate.closing !== undefined || this.#state.stopped !== undefined;
  }

  /** Runs a tool. If the outcome is unknown and the tool has a `reconcile`, asks the tool what became of the call. */
  #run(...[tool, permit, args, groups]: Parameters<typeof runTool>): Promise<ToolEnd> {
    const running = this.#runOnce(tool, permit, args, groups);
    if (tool.reconciles !== true) return running;
    return running.then((end) => {
      if (end.ran !== 'unknown' || this.#isOver) return end;
      this.#gate.noteCommand();
      return this.#withReviewerFacts(reconcileCall(tool, permit, args), tool, permit, args);
    });
  }

  /** If the tool does not know the outcome either, adds what reviewers see when they decide about another start. */
  async #withReviewerFacts(reconciling: Promise<ToolEnd>, ...call: Parameters<typeof reconcileCall>): Promise<ToolEnd> {
    const end = await reconciling;
    // Replays of histories from before this activity existed must not schedule it.
    if (end.ran !== 'unknown' || this.#isOver || !patched('unknown-outcome-asks')) return end;
    this.#gate.noteCommand();
    const [{ name }, permit, args] = call;
    const redact = redactionSettings(this.#gate.policies);
    return { ...end, unsettled: await lookAtUnsettled(permit, { tool: name, args, redact }) };
  }

  #runOnce(...[tool, permit, args, groups]: Parameters<typeof runTool>): Promise<ToolEnd> {
    if (this.#state.config.userMayStop !== true) return runTool(tool, permit, args, groups);
    // After the user's stop, await how the tool really ended, because the user and the model need to know.
    return this.#tools.run(() => runTool(tool, permit, args, groups, { awaitsEnd: true }));
  }

  /** Returns the call in its next state after its end: answered, ready to start again, or held before the gate. */
  #ended(each: StartableCall, tool: ToolDefinition, requestId: string | undefined, end: ToolEnd): TurnCall {
    const { content, isError, unread, changed, isRevoked, isUndone, withheld, unsettled } = end;
    // This start did not run the tool, but an earlier start may have run it.
    const ran = end.ran === 'no' && each.mayHaveRun ? 'unknown' : end.ran;
    if (tool.agent !== undefined && ran !== 'no') this.#limits.addNested(tool.agent, end);
    // Without `sizeLimits`, no payload is external, so an operator failed the activity, and the tool may run (I7).
    const isUnread = unread === true && this.#state.config.sizeLimits !== undefined;
    const starts = (each.unread ?? 0) + 1;
    if (isUnread && starts < startsForUnread) return { ...each, unread: starts };
    if (isUndone === true) {
      const unknownStarts = (each.unknownStarts ?? 0) + 1;
      if (unknownStarts < startsForUnknown) return { ...each, unknownStarts, mayHaveRun: undefined };
      this.#gate.finished(each.call.callId, 'no');
      return answered(each, withNotice(each, neverRan(tool.name)), true);
    }
    this.#gate.finished(each.call.callId, ran, withheld);
    if (changed !== undefined) return this.#heldAgain(each, tool, changed, requestId);
    if (unsettled !== undefined && (each.unknownStarts ?? 0) + 1 < startsForUnknown) {
      this.#gate.noteRuling();
      return heldAsUnknown(each, unsettled, this.#askedBefore(requestId), this.#state.messages);
    }
    // The notice quotes the approvers. The model must not read it if they are revoked.
    const whole = isRevoked === true ? content : withNotice(each, content);
    return end.ran === 'no' ? notStarted(each, whole, isError) : answered(each, whole, isError);
  }

  /** Makes the call pass the gate again, because its tool or preview has changed; refuses it after too many changes. */
  #heldAgain(
    each: StartableCall,
    tool: ToolDefinition,
    changed: ChangedDefinition,
    requestId: string | undefined,
  ): TurnCall {
    this.#gate.noteRuling();
    const isPreview = changed.changes !== undefined;
    if (!isPreview) takeDefinition(this.#state, tool, renewedDefinition(changed.definition, tool));
    if ((each.changes ?? 0) >= mostDefinitionChanges) {
      return notStarted(each, isPreview ? previewChangesTooOften(tool.name) : changesTooOften(tool.name), true);
    }
    return heldAgain(each, tool, changed, this.#askedBefore(requestId), this.#state.messages);
  }

  #askedBefore(requestId: string | undefined): Parameters<typeof heldAsUnknown>[2] {
    return requestId === undefined ? undefined : { requestId, redaction: this.#gate.redactionOf(requestId) };
  }

  /** Makes agent `target` take over at the next turn, and answers the call. Only the first handoff of a turn counts. */
  #handOver(each: StartableCall, target: string): TurnCall {
    const isFirst = this.#state.next === undefined;
    this.#state.next ??= target;
    this.#gate.finished(each.call.callId, isFirst ? 'yes' : 'no');
    const content = `Agent '${target}' takes over.`;
    if (isFirst) return answered(each, withNotice(each, content));
    const reason = `the run is being handed over to '${this.#state.next}': a turn can hand over only once`;
    return answered(each, sentences.failed(reason), true);
  }

  #givenUp(each: TurnCall, reason: string): TurnCall {
    if (each.state === 'checked') return this.#givenUp(each.waiting, reason);
    if (each.state !== 'ready' && each.state !== 'held' && !isResponse(each)) return each;
    if (each.state === 'ready') this.#gate.finished(each.call.callId, each.mayHaveRun ? 'unknown' : 'no');
    return notStarted(each, sentences.cancelled(reason));
  }

  /** Replaces each call at its index, because running calls refer to their index. */
  #change(change: (each: TurnCall) => TurnCall): void {
    for (const [index, each] of this.#state.calls.entries()) this.#state.calls[index] = change(each);
  }

  #tool(name: string): ToolDefinition | undefined {
    return agentOf(this.#state).tools.find((tool) => tool.name === name);
  }
}

function answered(
  { modelCallId, tool, written }: Pick<TurnCall, 'modelCallId' | 'tool' | 'written'>,
  content: string,
  isError = false,
): AnsweredCall {
  return { modelCallId, tool, written, state: 'done', content, ...(isError && { isError }) };
}

type Unanswered = Pick<TurnCall, 'modelCallId' | 'tool' | 'written' | 'mayHaveRun'>;

function notStarted(each: Unanswered, content: string, isError = false): AnsweredCall {
  return each.mayHaveRun ? notStartedAgain(each, content) : answered(each, content, isError);
}

function notStartedAgain(each: Unanswered, content: string): AnsweredCall {
  return answered(each, sentences.notStartedAgain(content), true);
}

function withNotice({ notice }: StartableCall, content: string): string {
  return notice === undefined ? content : `${notice}\n${content}`;
}

function isResponse(each: TurnCall): each is AskedCall {
  return each.state === 'asked' && each.isResponse === true;
}

function isUnanswered({ state }: TurnCall): boolean {
  return state === 'asked' || state === 'held';
}

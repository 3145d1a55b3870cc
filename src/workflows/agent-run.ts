/**
 * One agent run: the model speaks, the gate rules, the tools run, and the model is told. This is the only file that
 * knows that order. All calls of a turn are gated at once; asked ones wait side by side; answers return in the
 * model's order. The loop is driven by state that continue-as-new carries, so a run can roll over while it waits.
 */
import {
  CancellationScope,
  condition,
  createEventGroup,
  defineQuery,
  isCancellation,
  makeContinueAsNewFunc,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { LoadAgent } from '../activities/load-agent.ts';
import type { CallModelInput, CallModelResult, JournalCarrier, ModelCall } from '../activities/model-turn.ts';
import type { Message, RunInput, RunResult, RunStatus, RunStatusName } from '../contract.ts';
import { activityNames, queryNames } from '../contract.ts';
import { byteLength } from '../core/byte-length.ts';
import type { AgentConfig } from '../core/run-config.ts';
import { sentences } from '../core/sentences.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { type SizeLimits, inlineLimits } from '../core/size-limits.ts';
import { ApprovalGate } from './approval-gate.ts';
import { failRun } from './fail-run.ts';
import { NestedRuns } from './nested-runs.ts';
import type { Carried, RunState, TurnCall } from './run-state.ts';
import { agentOf } from './run-state.ts';
import { runTool } from './run-tool.ts';
import { readInput, startOf } from './start-of.ts';

const { [activityNames.loadAgent]: loadAgent } = proxyActivities<{ [activityNames.loadAgent]: LoadAgent }>({
  startToCloseTimeout: '30s',
});
const { [activityNames.callModel]: callModel } = proxyActivities<{
  [activityNames.callModel]: (input: CallModelInput, carrier: JournalCarrier) => Promise<CallModelResult>;
}>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '30s',
  retry: { maximumAttempts: 10 },
});

const runQuery = defineQuery<RunStatus>(queryNames.run);
const transcriptQuery = defineQuery<Message[]>(queryNames.transcript);

/** How often a tool is started again that was not started for want of its arguments. */
const startsForUnread = 5;

export async function agentRun(input: RunInput, carried?: Carried): Promise<RunResult> {
  const checked = readInput(input);
  // Only our own continue-as-new may bring state along: a starter's second argument is not read (I1).
  const resumed = workflowInfo().continuedFromExecutionRunId === undefined ? undefined : carried;
  // Handlers before the first await: nothing sent to a run that has just begun is lost or turned away.
  const gate = new ApprovalGate(resumed?.gate);
  const run = new AgentRun(checked, gate);
  try {
    return await run.toEnd(resumed?.state ?? startOf(checked, await loadAgent(checked)));
  } catch (error) {
    return await CancellationScope.nonCancellable(async () => {
      if (isCancellation(error)) {
        gate.cancelAll('the run was cancelled');
        await run.toolsEnd();
        run.answerAll('the run was cancelled');
        gate.writeLast();
      }
      throw failRun(error, gate);
    });
  }
}

class AgentRun {
  readonly #input: RunInput;
  readonly #gate: ApprovalGate;
  #loaded: RunState | undefined;
  #running = 0;
  /** The model call at hand. */
  #asking: CancellationScope | undefined;
  readonly #nested: NestedRuns;
  #ended: RunStatusName | undefined;

  constructor(input: RunInput, gate: ApprovalGate) {
    this.#input = input;
    this.#gate = gate;
    this.#nested = new NestedRuns(input, gate);
    setHandler(runQuery, () => this.#status());
    setHandler(transcriptQuery, () => this.#loaded?.messages ?? []);
    gate.onClose(() => {
      this.#asking?.cancel();
      this.#nested.cancel();
    });
  }

  async toEnd(state: RunState): Promise<RunResult> {
    this.#loaded = state;
    this.#govern();
    for (;;) {
      if (this.#state.calls.length > 0) await this.#finishCalls();
      if (this.#gate.closing !== undefined) return this.#result('closed', lastText(this.#state.messages, 'assistant'));
      if (this.#state.turn >= this.#state.config.maxTurns) {
        return this.#result('limit', `Stopped after ${this.#state.turn} turns`);
      }
      const { transcriptBytes } = this.#limits;
      if (byteLength(JSON.stringify(this.#state.messages)) > transcriptBytes) {
        return this.#result('limit', `Stopped: the transcript passes ${transcriptBytes} bytes`);
      }
      if (this.#wantsRollOver) await this.#rollOver();
      const text = await this.#modelTurn().catch(this.#whenClosed);
      if (text !== undefined && this.#state.calls.length === 0 && this.#gate.closing === undefined) {
        return this.#result('completed', text);
      }
    }
  }

  /** A model call that is given up because somebody closed the run is no failure. */
  #whenClosed = (error: unknown): undefined => {
    if (isCancellation(error) && this.#gate.closing !== undefined) return undefined;
    throw error;
  };

  /** Whoever asked for a call is told what became of it, also where the run ends with its calls. */
  answerAll(reason: string): void {
    const { calls = [] } = this.#loaded ?? {};
    for (const each of calls) {
      this.#settle(each);
      this.#giveUp(each, reason);
    }
    if (this.#loaded !== undefined) this.#writeAnswers();
  }

  /** A call that has no answer and will not run any more. */
  #giveUp(each: TurnCall, reason: string): void {
    if (each.state !== 'ready' && each.state !== 'held') return;
    const { callId } = each.call ?? each.held!;
    if (each.state === 'ready') this.#gate.finished(callId, 'no');
    Object.assign(each, { state: 'done', content: sentences.cancelled(reason) });
  }

  #writeAnswers(): void {
    const { calls, messages } = this.#state;
    this.#state.messages = [...messages, ...calls.map(answerOf)];
    this.#state.calls = [];
  }

  /** Puts the gate under the policies of the agent in charge. */
  #govern(): void {
    const { ceiling, parents, rollOver, attributes } = this.#state.config;
    const { agent, run } = this.#agent;
    const { caller, metadata } = this.#input;
    const policies = { ceiling, parents, run };
    this.#gate.govern({ agent, policies, caller, metadata, lineage: this.#nested.lineage, rollOver, attributes });
  }

  /** A cancelled activity ends at once for its workflow, and how it ended belongs into the journal. */
  toolsEnd(): Promise<void> {
    return condition(() => this.#running === 0);
  }

  /** Asks the model, writes down what it said, and passes each of its calls through the gate (I1). */
  async #modelTurn(): Promise<string> {
    const { config, messages } = this.#state;
    const { agent, instructions, tools } = this.#agent;
    const turn = this.#state.turn + 1;
    const scope = new CancellationScope();
    this.#asking = scope;
    const { text, calls, usage } = await scope.run(() =>
      callModel.executeWithOptions({ summary: `turn ${turn} of ${agent}` }, [
        {
          agent,
          turn,
          instructions,
          tools: tools.map(({ name, description, schema }) => ({ name, description, schema })),
          messages,
          ...(config.sizeLimits === undefined ? {} : { sizeLimits: config.sizeLimits }),
        },
        // A payload of its own: a large transcript may be kept elsewhere, the journal stays in history.
        { journal: this.#gate.takeJournal() },
      ]),
    );
    this.#state.turn = turn;
    this.#state.usage = {
      inputTokens: this.#state.usage.inputTokens + usage.inputTokens,
      outputTokens: this.#state.usage.outputTokens + usage.outputTokens,
    };
    const summary = text.trim() === '' ? lastText(messages, 'user') : text;
    this.#nested.newTurn();
    this.#state.calls = [];
    for (const [index, wish] of calls.entries()) {
      this.#state.calls.push(this.#admitInTurn(wish, `${turn}.${index + 1}`, summary));
    }
    const toolCalls = this.#state.calls.map(({ modelCallId: id, tool: name, written }) => ({
      id,
      name,
      arguments: written,
    }));
    this.#state.messages = [
      ...messages,
      { role: 'assistant', content: text, ...(toolCalls.length > 0 ? { toolCalls } : {}) },
    ];
    return text;
  }

  /** Where calls are asked about one after another, one that comes after an open question is held until that is settled. */
  #admitInTurn(wish: ModelCall, callId: string, contextSummary: string): TurnCall {
    const isHeld = this.#gate.limits.batch === 'sequential' && this.#state.calls.some(isUnanswered);
    if (!isHeld) return this.#admit(wish, callId, contextSummary);
    const { id: modelCallId, tool, args, raw } = wish;
    return { modelCallId, tool, written: args ?? raw ?? {}, state: 'held', held: { wish, callId, contextSummary } };
  }

  #admitHeld(): void {
    const { calls } = this.#state;
    for (const [index, { held }] of calls.entries()) {
      if (held === undefined || calls.slice(0, index).some(isUnanswered)) continue;
      calls[index] = this.#admit(held.wish, held.callId, held.contextSummary);
    }
  }

  #admit(wish: ModelCall, callId: string, contextSummary: string): TurnCall {
    const turnCall = { modelCallId: wish.id, tool: wish.tool, written: wish.args ?? wish.raw ?? {} };
    const tool = this.#tool(wish.tool);
    if (tool === undefined || wish.args === undefined) {
      const content =
        tool === undefined ? `Error: tool '${wish.tool}' not found` : (wish.problem ?? 'Error: bad arguments');
      this.#gate.refuse(callId, wish.tool, content);
      return { ...turnCall, state: 'done', content };
    }
    const problem = tool.agent === undefined ? undefined : this.#nested.problem(callId);
    if (problem !== undefined) {
      const content = sentences.failed(problem);
      this.#gate.refuse(callId, wish.tool, content);
      return { ...turnCall, state: 'done', content };
    }
    const call = { callId, tool: wish.tool, args: wish.args };
    const { shell, assessment } = wish;
    const admission = this.#gate.admit(call, tool, { contextSummary, shell, assessment });
    if (admission.kind === 'allowed') return { ...turnCall, call, state: 'ready' };
    if (admission.kind === 'asked') return { ...turnCall, call, state: 'asked', requestId: admission.requestId };
    const { content, isError } = admission;
    return { ...turnCall, call, state: 'done', content, ...(isError && { isError }) };
  }

  /** Runs what may run and waits for the rest, until every call of the turn has its answer. */
  async #finishCalls(): Promise<void> {
    const { calls } = this.#state;
    while (calls.some(({ state }) => state !== 'done')) {
      await this.#gate.until(() => this.#canGoOn());
      for (const each of calls) this.#settle(each);
      this.#admitHeld();
      const { closing } = this.#gate;
      if (closing !== undefined) for (const each of calls) this.#giveUp(each, closing);
      if (!this.#wantsRollOver) for (const each of calls) this.#start(each);
      else if (this.#idle) await this.#rollOver();
    }
    this.#writeAnswers();
    const { next } = this.#state;
    if (next === undefined) return;
    this.#state.agent = next;
    delete this.#state.next;
    this.#govern();
  }

  #canGoOn(): boolean {
    const { calls } = this.#state;
    if (calls.every(({ state }) => state === 'done')) return true;
    if (calls.some((each) => each.state === 'asked' && this.#gate.settlement(each.requestId!) !== undefined))
      return true;
    // A run decides about rolling over before it parks, and then starts nothing new (I11).
    return this.#wantsRollOver ? this.#idle : calls.some(({ state }) => state === 'ready');
  }

  get #state(): RunState {
    return this.#loaded!;
  }

  get #agent(): AgentConfig {
    return agentOf(this.#state);
  }

  get #wantsRollOver(): boolean {
    if (!this.#gate.wantsRollOver) return false;
    return byteLength(JSON.stringify([this.#state, this.#gate.ledger])) <= this.#limits.carriedBytes;
  }

  get #limits(): SizeLimits {
    return this.#state.config.sizeLimits ?? inlineLimits;
  }

  get #idle(): boolean {
    return this.#running === 0 && !this.#gate.busy;
  }

  #settle(each: TurnCall): void {
    if (each.state !== 'asked') return;
    const settlement = this.#gate.settlement(each.requestId!);
    if (settlement === undefined) return;
    if (settlement.runs) {
      const { notice, ...call } = this.#gate.approved(each.call!, each.requestId!);
      Object.assign(each, { state: 'ready', call, ...(notice !== undefined && { notice }) });
    } else {
      const content = this.#gate.sentence(each.requestId!);
      const isError = this.#gate.isToldAsError(settlement.outcome);
      Object.assign(each, { state: 'done', content, ...(isError && { isError }) });
    }
  }

  #start(each: TurnCall): void {
    const { call, requestId } = each;
    const tool = this.#tool(each.tool);
    if (each.state !== 'ready' || call === undefined || tool === undefined) return;
    if (tool.handoff !== undefined) return this.#handOver(each, call, tool.handoff);
    each.state = 'running';
    this.#running++;
    const groups = requestId === undefined ? [] : [createEventGroup(`approval of ${tool.name}`, { id: requestId })];
    const ending =
      tool.agent === undefined
        ? runTool(tool, this.#gate.permit(call, tool, requestId), call.args, groups)
        : this.#nested.run(call, tool.agent, this.#limits.resultBytes);
    void ending.then(({ content, isError, ran, unread }) => {
      this.#running--;
      if (unread === true) each.unread = (each.unread ?? 0) + 1;
      if (unread === true && each.unread! < startsForUnread) {
        each.state = 'ready';
        return;
      }
      const told = each.notice === undefined ? content : `${each.notice}\n${content}`;
      Object.assign(each, { state: 'done', content: told, isError });
      this.#gate.finished(call.callId, ran);
    });
  }

  /** The other agent is in charge from the next turn on; what was asked beside the handoff stays this one's. */
  #handOver(each: TurnCall, { callId }: ToolCall, target: string): void {
    const isFirst = this.#state.next === undefined;
    this.#state.next ??= target;
    const content = isFirst
      ? `Agent '${target}' takes over.`
      : sentences.failed(`the run is being handed over to '${this.#state.next}': one handoff in a turn`);
    Object.assign(each, { state: 'done', content, isError: !isFirst });
    this.#gate.finished(callId, isFirst ? 'yes' : 'no');
  }

  #tool(name: string) {
    return this.#agent.tools.find((tool) => tool.name === name);
  }

  /** Continues as new with everything open; the original deadlines go along (I11). */
  async #rollOver(): Promise<never> {
    const state = { ...this.#state, links: this.#state.links + 1 };
    const { gate, memo } = this.#gate.snapshot();
    const carried: Carried = { state, gate };
    const { parent, ...input } = this.#input;
    // What binds this run is in its state already.
    const bare = parent === undefined ? input : { ...input, parent: { ...parent, policies: [] } };
    return makeContinueAsNewFunc<typeof agentRun>({ memo })(bare, carried);
  }

  #result(status: RunStatusName, output: string): RunResult {
    this.#ended = status;
    const { outcomes } = this.#gate.ledger;
    return { status, output, usage: this.#state.usage, outcomes, journal: this.#gate.takeJournal() };
  }

  #status(): RunStatus {
    const { turn = 0, links = 1, usage = { inputTokens: 0, outputTokens: 0 } } = this.#loaded ?? {};
    const { counts, open, outcomes, refused } = this.#gate.ledger;
    return {
      workflowId: workflowInfo().workflowId,
      agent: this.#loaded === undefined ? this.#input.agent : this.#agent.agent,
      status: this.#ended ?? (open.length > 0 ? 'waiting' : 'running'),
      turn,
      links,
      usage,
      counts: { ...counts, open: open.length, refused: refused.total },
      outcomes,
      ...this.#nested.listed(this.#runningAgents()),
      refused,
    };
  }

  #runningAgents(): { callId: string; agent: string }[] {
    return (this.#loaded?.calls ?? []).flatMap(({ state, tool, call }) => {
      const agent = state === 'running' ? this.#tool(tool)?.agent : undefined;
      return agent === undefined || call === undefined ? [] : [{ callId: call.callId, agent }];
    });
  }
}

function answerOf({ modelCallId, tool, content, isError }: TurnCall): Message {
  const message = { role: 'tool', toolCallId: modelCallId, toolName: tool, content: content ?? '' } as const;
  return isError === true ? { ...message, isError } : message;
}

function isUnanswered({ state }: TurnCall): boolean {
  return state === 'asked' || state === 'held';
}

function lastText(messages: Message[], by: 'user' | 'assistant'): string {
  return messages.findLast(({ role }) => role === by)?.content ?? '';
}

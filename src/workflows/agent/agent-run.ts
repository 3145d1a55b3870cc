/**
 * One agent run: the model answers, the gate rules, the tools run, the model gets the results. Only this file knows
 * this order. All calls of a turn are gated at once; calls that need an approval wait side by side; results return in
 * the model's order. Continue-as-new carries the loop's state, so a run can continue as new while it waits.
 */
import {
  CancellationScope,
  defineQuery,
  isCancellation,
  makeContinueAsNewFunc,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';
import type { LoadAgent } from '../../activities/load-agent.ts';
import type { CallModelInput, CallModelResult, JournalCarrier } from '../../activities/model-turn.ts';
import type { Message, RunInput, RunResult, RunStatus, RunStatusName } from '../../contract.ts';
import { activityNames, queryNames } from '../../contract.ts';
import { byteLength } from '../../core/base/byte-length.ts';
import { redactionSettings } from '../../core/policy/redaction-settings.ts';
import type { AgentConfig } from '../../core/policy/run-config.ts';
import { type SizeLimits, inlineLimits } from '../../core/base/size-limits.ts';
import { Gate } from '../gate/gate.ts';
import { isContinued, refuseRepeated, thisExecution, verified } from '../state/carried.ts';
import { failRun } from './fail-run.ts';
import { gateOptionsOf } from './gate-options.ts';
import { modelActivityOptions } from './model-activity-options.ts';
import { NestedRuns } from './nested-runs.ts';
import type { Carried, RunState } from './run-state.ts';
import { agentOf } from './run-state.ts';
import { runStatus } from './run-status.ts';
import { UserSession } from './session.ts';
import { readInput, startOf } from './start.ts';
import { TurnCalls } from './turn-calls.ts';

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

export async function agentRun(input: RunInput, carried?: Carried): Promise<RunResult> {
  const checked = readInput(input);
  refuseRepeated();
  // Register the handlers before the first await, so that no message to a new run is lost or refused.
  const session = new UserSession(checked);
  const gate = new Gate({ refuseUnknownSignals: true, taker: session });
  const run = new AgentRun(checked, gate, session);
  try {
    // A first execution ignores its second argument (I1).
    return await run.toEnd(isContinued() ? await resume(gate, carried) : startOf(checked, await loadAgent(checked)));
  } catch (error) {
    return await CancellationScope.nonCancellable(async () => {
      if (isCancellation(error)) await run.giveUp('the run was cancelled');
      throw failRun(error, gate);
    });
  }
}

/** Restores what the execution before this one carried, once that is verified. */
async function resume(gate: Gate, carried: Carried | undefined): Promise<RunState> {
  const past = await verified(carried);
  gate.restore(past.gate);
  return past.state;
}

class AgentRun {
  readonly #input: RunInput;
  readonly #gate: Gate;
  readonly #session: UserSession;
  #loaded: RunState | undefined;
  #calls: TurnCalls | undefined;
  /** The scope of the model call in flight. */
  #asking: CancellationScope | undefined;
  readonly #nested: NestedRuns;
  #ended: RunStatusName | undefined;

  constructor(input: RunInput, gate: Gate, session: UserSession) {
    this.#input = input;
    this.#gate = gate;
    this.#session = session;
    this.#nested = new NestedRuns(input, gate);
    setHandler(runQuery, () => this.#status());
    setHandler(transcriptQuery, () => this.#transcript());
    gate.onClose(() => {
      this.#asking?.cancel();
      this.#nested.cancel();
    });
  }

  async toEnd(state: RunState): Promise<RunResult> {
    this.#loaded = state;
    this.#session.begin(state);
    const calls = new TurnCalls(state, this.#gate, this.#nested);
    this.#calls = calls;
    this.#setPolicies();
    // What the user has said meanwhile belongs to the first turn.
    if (this.#session.isSession) await this.#gate.drain();
    for (;;) {
      if (this.#state.calls.length > 0) await this.#finish(calls);
      if (this.#session.isAnswered) await this.#untilMessage();
      // Every path from here writes a command: it calls the model or ends the execution.
      this.#gate.noteGrowth();
      if (this.#gate.closing !== undefined) return this.#end('closed', lastText(this.#state.messages, 'assistant'));
      this.#session.moveToTranscript();
      const turns = this.#state.turn - (this.#state.askedAfterTurn ?? 0);
      if (turns >= this.#state.config.maxTurns) return this.#end('limit', `Stopped after ${turns} turns`);
      const { transcriptBytes } = this.#limits;
      if (byteLength(JSON.stringify(this.#state.messages)) > transcriptBytes) {
        return this.#end('limit', `Stopped: the transcript passes ${transcriptBytes} bytes`);
      }
      if (this.#shouldContinueAsNew) {
        // Continuing as new would lose what is in flight, such as a new policy (I11).
        if (this.#gate.busy) await this.#gate.until(() => !this.#gate.busy);
        await this.#continueAsNew();
      }
      const text = await this.#modelTurn(calls).catch(this.#whenClosed);
      const isAnswered = text !== undefined && this.#state.calls.length === 0 && this.#gate.closing === undefined;
      if (isAnswered && !this.#session.isSession) return this.#end('completed', text);
    }
  }

  /** A model call that is cancelled because somebody closed the run is not a failure. */
  #whenClosed = (error: unknown): undefined => {
    if (isCancellation(error) && this.#gate.closing !== undefined) return undefined;
    throw error;
  };

  /** A session has answered: waits for its user, or for its end. No command follows from that, so it costs no event. */
  async #untilMessage(): Promise<void> {
    const goesOn = (): boolean => !this.#session.isAnswered || this.#gate.closing !== undefined;
    await this.#gate.until(() => goesOn() || (this.#shouldContinueAsNew && this.#idle));
    if (!goesOn()) await this.#continueAsNew();
  }

  /** Sets the gate's policies to those of the agent in charge. */
  #setPolicies(): void {
    this.#gate.setPolicies(gateOptionsOf(this.#state, this.#input, this.#nested.lineage));
  }

  /** Calls the model, records its answer, and passes each of its calls through the gate (I1). */
  async #modelTurn(turnCalls: TurnCalls): Promise<string> {
    const { config, messages } = this.#state;
    const { agent, instructions, tools, modelCall } = this.#agent;
    const turn = this.#state.turn + 1;
    const scope = new CancellationScope();
    this.#asking = scope;
    // The activity carries the journal. Runs that are no sessions keep the gate's own command beside it (I12).
    if (this.#session.isSession) this.#gate.noteCommand();
    const { text, calls, usage, contextSummary } = await scope.run(() =>
      callModel.executeWithOptions({ summary: `turn ${turn} of ${agent}`, ...modelActivityOptions(modelCall) }, [
        {
          agent,
          turn,
          instructions,
          tools: tools.map(({ name, description, schema }) => ({ name, description, schema })),
          messages,
          redact: config.redacts === true ? redactionSettings(this.#gate.policies) : undefined,
          sizeLimits: config.sizeLimits,
        },
        // The journal has its own payload: a large transcript may be stored externally, the journal stays in history.
        { journal: this.#gate.takeJournal() },
      ]),
    );
    // A revocation that arrived before the model's answer binds its calls.
    await this.#gate.drain();
    this.#state.turn = turn;
    this.#state.usage = {
      inputTokens: this.#state.usage.inputTokens + usage.inputTokens,
      outputTokens: this.#state.usage.outputTokens + usage.outputTokens,
    };
    const summary = contextSummary ?? (text.trim() === '' ? lastText(messages, 'user') : text);
    turnCalls.admitAll(calls, turn, summary);
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

  /** Runs the calls that may run and waits for the others, until every call of the turn has an answer. */
  async #finish(calls: TurnCalls): Promise<void> {
    while (!calls.areAnswered) {
      // Decide whether to continue as new before waiting. Once that is decided, start nothing new (I11).
      await this.#gate.until(() => calls.canGoOn || (this.#shouldContinueAsNew ? this.#idle : calls.canStart));
      calls.takeSettled();
      if (!this.#shouldContinueAsNew) calls.startReady();
      else if (this.#idle) await this.#continueAsNew();
    }
    calls.writeAnswers();
    const { next } = this.#state;
    if (next === undefined) return;
    this.#state.agent = next;
    delete this.#state.next;
    this.#setPolicies();
  }

  /** For a cancelled run: waits for what is in flight, and answers every call and message. */
  async giveUp(reason: string): Promise<void> {
    this.#session.end();
    await this.#gate.drain();
    this.#gate.cancelAll(reason);
    await this.#calls?.untilEnded();
    await this.#gate.until(() => !this.#gate.busy && !this.#gate.isAnnouncing);
    this.#calls?.answerAll(reason);
    this.#gate.writeLast();
  }

  get #state(): RunState {
    return this.#loaded!;
  }

  get #agent(): AgentConfig {
    return agentOf(this.#state);
  }

  get #shouldContinueAsNew(): boolean {
    if (!this.#gate.shouldContinueAsNew) return false;
    // All of this is carried together, including the run's input and a changed policy.
    const carried = [this.#bareInput, this.#state, this.#gate.ledger, this.#gate.policies.run ?? null];
    return byteLength(JSON.stringify(carried)) <= this.#limits.carriedBytes;
  }

  get #limits(): SizeLimits {
    return this.#state.config.sizeLimits ?? inlineLimits;
  }

  get #idle(): boolean {
    return this.#calls?.areRunning !== true && !this.#gate.busy;
  }

  /** Continues as new with everything that is open and the original deadlines (I11). */
  async #continueAsNew(): Promise<never> {
    const state = { ...this.#state, executions: this.#state.executions + 1 };
    const { gate, memo } = this.#gate.snapshot();
    const carried: Carried = { writer: thisExecution(), state, gate };
    return makeContinueAsNewFunc<typeof agentRun>({ memo })(this.#bareInput, carried);
  }

  /** The input without the inherited policies, which the state holds already. */
  get #bareInput(): RunInput {
    const { parent, ...input } = this.#input;
    return parent === undefined ? input : { ...input, parent: { ...parent, policies: [] } };
  }

  async #end(status: RunStatusName, output: string): Promise<RunResult> {
    this.#session.end();
    if (this.#gate.isAnnouncing) await this.#gate.until(() => !this.#gate.isAnnouncing);
    this.#ended = status;
    this.#gate.cancelAll('the run ended');
    await this.#gate.drain();
    this.#gate.writeIndex();
    return { status, output, usage: this.#state.usage, outcomes: this.#gate.ledger.outcomes, ...this.#gate.takeLast() };
  }

  #transcript(): Message[] {
    this.#gate.requirePast();
    return this.#loaded?.messages ?? [];
  }

  #status(): RunStatus {
    this.#gate.requirePast();
    return runStatus({
      input: this.#input,
      gate: this.#gate,
      state: this.#loaded,
      ended: this.#ended,
      awaitsMessage: this.#session.isAnswered && this.#gate.closing === undefined,
      nested: this.#nested.listed(this.#calls?.nested ?? []),
    });
  }
}

function lastText(messages: Message[], by: 'user' | 'assistant'): string {
  return messages.findLast(({ role }) => role === by)?.content ?? '';
}

/**
 * One agent run: the model answers, the gate rules, the tools run, the model gets the results. No other file knows this
 * order. All calls of a turn pass the gate at once; calls that need an approval wait side by side; results return in
 * the model's order. Continue-as-new carries the loop's state, also of a run that waits.
 */
import {
  ActivityFailure,
  CancellationScope,
  defineQuery,
  isCancellation,
  makeContinueAsNewFunc,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { LoadAgent } from '../../activities/load-agent.ts';
import type { CallModelResult, CallModelInput, JournalCarrier } from '../../activities/model-turn.ts';
import {
  activityNames,
  newInput,
  queryNames,
  shownTranscript,
  type Message,
  type RunInput,
  type RunResult,
  type RunStatus,
  type RunStatusName,
} from '../../contract.ts';
import { byteLength } from '../../core/base/text.ts';
import { redactionSettings } from '../../core/policy/redaction-settings.ts';
import type { AgentConfig, ModelCallLimits } from '../../core/policy/run-config.ts';
import { inlineLimits, type SizeLimits } from '../../core/base/size-limits.ts';
import { Gate } from '../gate/gate.ts';
import { isContinued, refuseRepeated, thisExecution, verified } from '../state/carried.ts';
import { failureOfRun, problemOf, gateOptionsOf, continuedInput, readInput, startOf } from './start.ts';
import { LimitCheck } from './limit-check.ts';
import { NestedRuns } from './nested-runs.ts';
import { agentOf, spentOf, type Carried, type RunState } from './run-state.ts';
import { UserSession } from './session.ts';
import { isFinal, keptAnswer, lastText, resultOf, withoutFileData } from './transcript.ts';
import { TurnCalls } from './turn-calls.ts';
import { waitingFor, type WaitingFor } from '../../core/ledger/waiting-for.ts';

const { [activityNames.loadAgent]: loadAgent } = proxyActivities<{ [activityNames.loadAgent]: LoadAgent }>({
  startToCloseTimeout: '30s',
});

const runQuery = defineQuery<RunStatus>(queryNames.run);
const transcriptQuery = defineQuery<Message[]>(queryNames.transcript);

/** The workflow of an agent run. Returns its result; throws its failure, a cancellation, or to continue as new. */
export async function agentRun(input: RunInput, carried?: Carried): Promise<RunResult> {
  const checked = readInput(input);
  refuseRepeated();
  // Register the handlers before the first await, so that no message to a new run is lost or refused.
  const session = new UserSession(checked);
  const gate = new Gate({ refuseUnknownSignals: true, session });
  const run = new AgentRun(checked, gate, session);
  try {
    // A first execution does not read `carried`, which its starter may have written (I1).
    return await run.toEnd(isContinued() ? await resume(gate, carried) : startOf(checked, await loadAgent(checked)));
  } catch (error) {
    return await CancellationScope.nonCancellable(async () => {
      if (isCancellation(error)) await run.giveUp('the run was cancelled');
      throw failureOfRun(error, gate);
    });
  }
}

/** Verifies the carried state, restores the gate's part of it, and returns the run's part. */
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
  readonly #modelCall = new ModelCall();
  readonly #nested: NestedRuns;
  #ended: RunStatusName | undefined;
  /** True if this session is pinned to an outdated worker version. Instead of waiting there, it continues as new. */
  #leavesVersion = false;

  constructor(input: RunInput, gate: Gate, session: UserSession) {
    this.#input = input;
    this.#gate = gate;
    this.#session = session;
    this.#nested = new NestedRuns(input, gate);
    setHandler(runQuery, () => this.#status());
    setHandler(transcriptQuery, () => this.#transcript());
    gate.onClose(() => this.#interrupt());
  }

  #interrupt(): void {
    this.#calls?.advising.cancel();
    this.#modelCall.cancel();
    this.#nested.cancel();
    this.#gate.endChecks();
  }

  /** Runs turns until the run ends, and returns its result. To continue as new, it rejects, as Temporal requires. */
  async toEnd(state: RunState): Promise<RunResult> {
    this.#loaded = state;
    const limits = new LimitCheck(state, this.#gate);
    const calls = new TurnCalls(state, this.#gate, this.#nested, limits);
    this.#calls = calls;
    this.#session.begin(state, () => {
      this.#interrupt();
      calls.cancelRunning();
    });
    this.#setPolicies();
    // Messages that the user sent while the run started belong to the first turn.
    if (this.#session.isSession) await this.#gate.drain();
    for (;;) {
      if (this.#state.calls.length > 0) await this.#finish(calls);
      if (limits.isAsking) {
        const stopped = await this.#untilAnswered(limits);
        if (stopped !== undefined) return this.#end('limit', stopped);
      }
      if (this.#session.awaitsUser) await this.#untilMessage();
      // `noteGrowth` needs a command. Each path from here writes one: it calls the model, asks about a limit, or ends.
      this.#gate.noteGrowth();
      // At its next wait for the user, a session leaves a worker version that is outdated. Only a turn sets this:
      // otherwise a run that an operator pins for good would continue as new at each wait.
      this.#leavesVersion = this.#session.isSession && this.#gate.isOutdated;
      if (this.#gate.closing !== undefined) return this.#end('closed', lastText(this.#state.messages, 'assistant'));
      if (this.#session.moveToTranscript()) this.#gate.userHeard();
      // Each new message of a session's user allows `maxTurns` more.
      const turns = this.#state.turn - (this.#state.askedAfterTurn ?? 0);
      if (turns >= this.#state.config.maxTurns) return this.#end('limit', `Stopped after ${turns} turns`);
      const { transcriptBytes } = this.#limits;
      if (byteLength(JSON.stringify(this.#state.messages)) > transcriptBytes) {
        return this.#end('limit', `Stopped: the transcript passes ${transcriptBytes} bytes`);
      }
      const reached = limits.check();
      if (reached !== undefined) return this.#end('limit', reached);
      if (limits.isAsking) continue;
      if (this.#shouldContinueAsNew) {
        // Continuing as new would lose what is in flight, such as a new policy (I11).
        if (this.#gate.busy) await this.#gate.until(() => !this.#gate.busy);
        await this.#continueAsNew();
      }
      const answer = await this.#modelTurn(calls, limits).catch(this.#withoutAnswer);
      if (answer === undefined || this.#session.isSession || this.#gate.closing !== undefined) continue;
      if (isFinal(this.#state.messages.at(-1))) return this.#end('completed', answer.text, resultOf(answer));
    }
  }

  /** Handles a failed model call: a session then waits for its user, any other run fails. Ignores a stop or close. */
  #withoutAnswer = (error: unknown): undefined => {
    if (isCancellation(error)) {
      if (this.#gate.closing !== undefined || this.#state.stopped !== undefined) return;
    } else if (error instanceof ActivityFailure) {
      const problem = problemOf(error);
      const isRefused = problem.code === 'input_refused';
      if (isRefused) this.#gate.inputRefused(JSON.stringify(newInput(this.#state.messages)).length);
      if (this.#session.isSession) {
        this.#session.fail(problem);
        return;
      }
    }
    throw error;
  };

  /** Waits, without a command, until the session's user writes or the run is closed. May continue as new instead. */
  async #untilMessage(): Promise<void> {
    const goesOn = (): boolean => !this.#session.awaitsUser || this.#gate.closing !== undefined;
    const leaves = (): boolean =>
      this.#idle && (this.#shouldContinueAsNew || (this.#leavesVersion && this.#canBeCarried));
    await this.#gate.until(() => goesOn() || leaves());
    if (!goesOn()) await this.#continueAsNew();
  }

  /** Waits until the request to go on beyond a limit is settled. Returns why the run ends; undefined if it goes on. */
  async #untilAnswered(limits: LimitCheck): Promise<string | undefined> {
    await this.#gate.until(() => limits.isSettled || (this.#shouldContinueAsNew && this.#idle));
    if (!limits.isSettled) await this.#continueAsNew();
    const check = this.#gate.revocationOf(limits.approvers);
    return check === undefined ? limits.takeSettled() : limits.takeSettled(await check);
  }

  #setPolicies(): void {
    this.#gate.setPolicies(gateOptionsOf(this.#state, this.#input, this.#nested.lineage));
  }

  /** Calls the model, records its answer, and passes each of its calls through the gate (I1). */
  async #modelTurn(turnCalls: TurnCalls, limits: LimitCheck): Promise<CallModelResult> {
    const { config, messages } = this.#state;
    const { agent, instructions, tools, modelCall } = this.#agent;
    const turn = this.#state.turn + 1;
    // In a session, this activity is the command of the activation (I12), so the gate need not write one of its own.
    if (this.#session.isSession) this.#gate.noteCommand();
    const answer = await this.#modelCall.make(`turn ${turn} of ${agent}`, modelCall, [
      {
        agent,
        turn,
        instructions,
        tools: tools.map(({ name, description, schema }) => ({ name, description, schema })),
        messages,
        redact: redactionSettings(this.#gate.policies),
        sizeLimits: config.sizeLimits,
        engine: config.engine,
        caller: this.#input.caller,
      },
      // The journal is an argument of its own, so that it stays in history when the transcript is stored externally.
      { journal: this.#gate.takeJournal() },
    ]);
    this.#gate.obey(answer.revoked);
    // A revocation that arrived before the model's answer binds its calls.
    await this.#gate.drain();
    const { text, calls, contextSummary } = answer;
    this.#state.turn = turn;
    limits.addModelCall(answer);
    // The activity redacts what the workflow cannot find, so its summary comes before the plain texts.
    const summary = contextSummary ?? (text.trim() === '' ? lastText(messages, 'user') : text);
    turnCalls.admitAll(calls, turn, summary);
    this.#state.messages = [...messages, keptAnswer(answer, this.#state.calls)];
    return answer;
  }

  /** Runs the calls that may run and waits for the others, until each has an answer. A handoff then takes effect. */
  async #finish(calls: TurnCalls): Promise<void> {
    while (!calls.areAnswered) {
      // Once the run must continue as new, start no more calls, and wait until nothing runs (I11).
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

  /** Ends a cancelled run: waits for what is in flight, and answers every call and message. */
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
    return this.#gate.shouldContinueAsNew && this.#canBeCarried;
  }

  get #canBeCarried(): boolean {
    // Continue-as-new carries all of these values together, so their sizes add up.
    const carried = [continuedInput(this.#input), this.#state, this.#gate.ledger, this.#gate.policies.run ?? null];
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
    // A pinned run begins its next execution on the current version of its Worker Deployment.
    const initialVersioningBehavior = 'AUTO_UPGRADE';
    return makeContinueAsNewFunc<typeof agentRun>({ memo, initialVersioningBehavior })(
      continuedInput(this.#input),
      carried,
    );
  }

  /** Ends the run: cancels its open requests, answers its messages, and returns its result. */
  async #end(status: RunStatusName, output: string, more: Partial<RunResult> = {}): Promise<RunResult> {
    this.#session.end();
    // The end of the run would drop an announcement that is due or in flight, so wait for it first.
    if (this.#gate.isAnnouncing) await this.#gate.until(() => !this.#gate.isAnnouncing);
    this.#ended = status;
    this.#gate.cancelAll('the run ended');
    await this.#gate.drain();
    this.#gate.writeIndex();
    return {
      status,
      output,
      ...more,
      usage: this.#state.usage,
      ...spentOf(this.#state),
      outcomes: this.#gate.ledger.outcomes,
      ...this.#gate.takeLast(),
    };
  }

  #transcript(): Message[] {
    this.#gate.requirePast();
    return withoutFileData(shownTranscript(this.#loaded?.messages ?? []));
  }

  /** The answer of query `run`. In a continued execution it throws until the carried state is verified. */
  #status(): RunStatus {
    this.#gate.requirePast();
    return runStatus({
      input: this.#input,
      gate: this.#gate,
      state: this.#loaded,
      ended: this.#ended,
      awaitsMessage: this.#session.awaitsUser && this.#gate.closing === undefined,
      nested: this.#nested.listed(this.#calls?.nested ?? []),
    });
  }
}

const { [activityNames.callModel]: activity } = proxyActivities<{
  [activityNames.callModel]: (input: CallModelInput, carrier: JournalCarrier) => Promise<CallModelResult>;
}>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '30s',
  retry: { maximumAttempts: 10 },
});

/** Calls the model in an activity, with the agent's own time-outs and attempts. Runs one call at a time. */
export class ModelCall {
  #scope: CancellationScope | undefined;

  /** Makes one call. `summary` is for Temporal's UI. Rejects if the activity fails, or once `cancel` is called. */
  make(
    summary: string,
    { timeoutMs, heartbeatTimeoutMs, maxAttempts }: ModelCallLimits = {},
    args: [CallModelInput, JournalCarrier],
  ): Promise<CallModelResult> {
    // Leave out undefined options, because Temporal would let them replace the defaults of `proxyActivities`.
    const options = {
      summary,
      ...(timeoutMs !== undefined && { startToCloseTimeout: timeoutMs }),
      ...(heartbeatTimeoutMs !== undefined && { heartbeatTimeout: heartbeatTimeoutMs }),
      ...(maxAttempts !== undefined && { retry: { maximumAttempts: maxAttempts } }),
    };
    this.#scope = new CancellationScope();
    return this.#scope.run(() => activity.executeWithOptions(options, args));
  }

  cancel(): void {
    this.#scope?.cancel();
  }
}

interface StatusParts {
  input: RunInput;
  gate: Gate;
  state: RunState | undefined;
  ended: RunStatusName | undefined;
  awaitsMessage: boolean;
  nested: Pick<RunStatus, 'nested'>;
}

/** Builds the answer of query `run`. */
export function runStatus({ input, gate, state, ended, awaitsMessage, nested }: StatusParts): RunStatus {
  const { turn = 0, executions = 1, usage = { inputTokens: 0, outputTokens: 0 }, failedTurn } = state ?? {};
  const { counts, open, outcomes, refused } = gate.ledger;
  return {
    workflowId: workflowInfo().workflowId,
    agent: state === undefined ? input.agent : agentOf(state).agent,
    status: ended ?? (open.length > 0 ? 'waiting' : 'running'),
    turn,
    executions,
    usage,
    ...(state !== undefined && spentOf(state)),
    counts: { ...counts, open: open.length, refused: refused.total },
    ...(open.length > 0 && { waitingFor: open.map((record) => withNames(waitingFor(record), gate)) }),
    ...(awaitsMessage && { awaitsMessage }),
    // `turn` counts only the model calls that succeeded.
    ...(failedTurn !== undefined && { failedTurn: { ...failedTurn, turn: turn + 1 } }),
    outcomes,
    ...nested,
    refused,
  };
}

function withNames(waiting: WaitingFor, gate: Gate): WaitingFor {
  const people = gate.peopleOf(waiting.reviewers);
  return people === undefined ? waiting : { ...waiting, people };
}

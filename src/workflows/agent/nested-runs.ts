import {
  CancellationScope,
  workflowInfo,
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  type ChildWorkflowHandle,
  ParentClosePolicy,
  startChild,
} from '@temporalio/workflow';
import { parentsChangedName, type RunInput, type RunStatus, type RunResult, workflowType } from '../../contract.ts';
import { byteLength, escapeText } from '../../core/base/text.ts';
import { bindingPolicies, maxInheritedBytes, nestedRunId, nestingProblem } from '../../core/policy/nesting.ts';
import type { Policy, PolicyLayers } from '../../core/policy/policy.ts';
import type { ToolCall } from '../../core/base/tool-call.ts';
import type { Gate } from '../gate/gate.ts';
import type { ToolEnd } from './run-tool.ts';
import { WorkflowExecutionAlreadyStartedError, type Workflow } from '@temporalio/common';
import { sentences } from '../../core/ledger/sentences.ts';
import { totalUsage, isUnfinished, unfinishedText } from '../../core/base/model-answer.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';

interface Open {
  scope: CancellationScope;
  /** This run's policies as the nested run knows them, from its start or from the last signal. */
  sentPolicies: PolicyLayers;
  run?: Pick<ChildWorkflowHandle<Workflow>, 'signal'>;
}

/** The most bytes of policies that one task sends, because the message with all commands of a task may have 4 MB. */
const maxSentBytes = 2_000_000;

/** Runs calls of other agents as nested runs, which inherit the policies of this run and end with it. */
export class NestedRuns {
  readonly #input: RunInput;
  readonly #gate: Gate;
  #scope = new CancellationScope();
  readonly #open = new Set<Open>();
  #isSending = false;
  #inTurn = 0;

  constructor(input: RunInput, gate: Gate) {
    this.#input = input;
    this.#gate = gate;
  }

  /** Workflow ids of the runs above this one, the root first. */
  get lineage(): string[] {
    return this.#input.parent?.lineage ?? [];
  }

  newTurn(): void {
    this.#inTurn = 0;
    // A stopped turn has cancelled the scope of its own runs, so the new turn needs another scope.
    if (this.#scope.consideredCancelled) this.#scope = new CancellationScope();
  }

  /** Counts a call of an agent, and returns why it cannot start a nested run; undefined if it can. */
  problem(callId: string): string | undefined {
    const { workflowId } = workflowInfo();
    return nestingProblem({
      depth: this.lineage.length,
      before: this.#inTurn++,
      workflowId: nestedRunId(workflowId, callId),
    });
  }

  /** Runs one admitted call as a nested run under the active policies. Later changes are sent to the nested run. */
  run({ callId, args }: ToolCall, agent: string, maxResultBytes: number): Promise<ToolEnd> {
    const { workflowId } = workflowInfo();
    const { caller, metadata } = this.#input;
    const sentPolicies = this.#gate.policies;
    const input = {
      agent,
      input: args['input'] as string,
      caller,
      metadata,
      parent: { lineage: [...this.lineage, workflowId], policies: bindingPolicies(sentPolicies) },
    };
    const open: Open = { scope: new CancellationScope({ cancellable: true, parent: this.#scope }), sentPolicies };
    this.#open.add(open);
    if (!this.#isSending) void this.#keepSending();
    return open.scope.run(async () => {
      try {
        return await this.#runNested(open, nestedRunId(workflowId, callId), input, maxResultBytes);
      } finally {
        this.#open.delete(open);
      }
    });
  }

  /** Starts a nested run and awaits its end. Never throws: every end is an answer to the model, of limited size. */
  async #runNested(open: Open, workflowId: string, input: RunInput, maxResultBytes: number): Promise<ToolEnd> {
    const { agent, parent } = input;
    const bytes = byteLength(JSON.stringify(parent));
    if (bytes > maxInheritedBytes) {
      return notStarted(`the policies that bind agent '${agent}' have ${bytes} bytes; at most ${maxInheritedBytes}`);
    }
    const shownAgent = escapeText(agent).slice(0, 100);
    // The nested run ignores its second argument, which puts journal entries into the history of this run.
    const journal = this.#gate.takeJournal();
    try {
      const run = await startChild<(input: RunInput, carrier: object) => Promise<RunResult>>(workflowType, {
        workflowId,
        args: [input, { journal }],
        parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
        staticSummary: `Agent ${shownAgent}, called by another run`,
        staticDetails: `Agent \`${shownAgent}\`, called by run \`${escapeText(parent?.lineage.at(-1) ?? '')}\`. Look at it with \`countersign show ${escapeText(workflowId)}\`.`,
      });
      open.run = run;
      return answerOf(agent, await run.result(), maxResultBytes);
    } catch (error) {
      return endOf(agent, error);
    }
  }

  /** Sends a change to every open nested run whenever the policies that bind this run have changed (I10). */
  async #keepSending(): Promise<void> {
    this.#isSending = true;
    try {
      for (;;) {
        await this.#gate.until(() => this.#outdated.length > 0);
        const policies = bindingPolicies(this.#gate.policies);
        const bytes = byteLength(JSON.stringify(policies));
        // Take at least one: `#sendPolicies` cancels a nested run to which the policies are too large to be sent.
        const atOnce = Math.max(1, Math.floor(maxSentBytes / bytes));
        await Promise.all(this.#outdated.slice(0, atOnce).map((each) => this.#sendPolicies(each, policies, bytes)));
      }
    } catch {
      // `until` rejects if this run is cancelled. Its nested runs are cancelled, too.
      this.#isSending = false;
    }
  }

  get #outdated(): Open[] {
    return [...this.#open].filter(({ run, sentPolicies }) => run !== undefined && sentPolicies !== this.#gate.policies);
  }

  /** Sends policies to a nested run. If that fails, cancels it, so that it does not go on under its old policies. */
  async #sendPolicies(open: Open, policies: Policy[], bytes: number): Promise<void> {
    open.sentPolicies = this.#gate.policies;
    try {
      if (bytes > maxInheritedBytes) throw new Error('more than a nested run takes');
      await open.run!.signal(parentsChangedName, { policies });
    } catch {
      if (this.#open.has(open)) open.scope.cancel();
    }
  }

  /** Cancels the open nested runs. A closed run waits for them only until they are cancelled. */
  cancel(): void {
    this.#scope.cancel();
  }

  listed(running: { callId: string; agent: string }[]): Pick<RunStatus, 'nested'> {
    const { workflowId } = workflowInfo();
    if (running.length === 0) return {};
    return { nested: running.map((each) => ({ ...each, workflowId: nestedRunId(workflowId, each.callId) })) };
  }
}

/** Returns how the call ended if the nested run returned a result, with the tokens and the cost of the nested run. */
function answerOf(agent: string, result: unknown, maxResultBytes: number): ToolEnd {
  if (isUndecodable(result)) return unknown;
  const ended = (result ?? {}) as Partial<RunResult>;
  return {
    ...answerTo(agent, ended, maxResultBytes),
    usage: totalUsage(ended.usage, ended.nestedUsage),
    cost: ended.cost,
  };
}

/** Returns the answer for the model: the output of a completed run, otherwise an error; `unknown` without an output. */
function answerTo(agent: string, { status, output, finish }: Partial<RunResult>, maxResultBytes: number): ToolEnd {
  if (typeof output !== 'string') return unknown;
  if (byteLength(output) > maxResultBytes) return failed(agent, `its answer has more than ${maxResultBytes} bytes`);
  if (status === 'closed') return closed(agent, output);
  if (status === 'limit') return failed(agent, output);
  const content = !isUnfinished(finish) ? output : `${output}\n(${unfinishedText(finish)})`;
  return { content, isError: false, ran: 'yes' };
}

/** Returns the answer for a closed nested run. Includes its last output, which may be all that the run found out. */
function closed(agent: string, output: string): ToolEnd {
  const content = sentences.cancelled(`the run of agent '${agent}' was closed`);
  return { content: output === '' ? content : `${content}\n${output}`, isError: true, ran: 'yes' };
}

const unknown: ToolEnd = { content: sentences.unknownOutcome, isError: true, ran: 'unknown' };

const neverBegan = ['agent_unknown', 'arguments_invalid', 'policy_invalid', 'too_large'];

/** Returns how the call ended if the nested run could not start, failed, or was cancelled. */
function endOf(agent: string, error: unknown): ToolEnd {
  if (error instanceof WorkflowExecutionAlreadyStartedError) {
    return notStarted(`there is a run '${error.workflowId}' already`);
  }
  const cause = error instanceof ChildWorkflowFailure ? error.cause : error;
  if (cause instanceof CancelledFailure) {
    // A nested run that started ends with a `ChildWorkflowFailure`, and only its own journal says what it has done.
    const ran = error instanceof ChildWorkflowFailure ? 'unknown' : 'no';
    return { content: sentences.cancelled(`the run of agent '${agent}' was cancelled`), isError: true, ran };
  }
  if (!(cause instanceof ApplicationFailure)) return unknown;
  return neverBegan.includes(cause.type ?? '') ? notStarted(cause.message) : failed(agent, cause.message);
}

function failed(agent: string, why: string): ToolEnd {
  return { content: sentences.failed(`agent '${agent}': ${why}`), isError: true, ran: 'yes' };
}

function notStarted(why: string): ToolEnd {
  return { content: sentences.failed(why), isError: true, ran: 'no' };
}

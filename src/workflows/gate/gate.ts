/**
 * The gate: the workflow step that every tool call passes (I1). One object, made at the top of a workflow: it registers
 * its handlers, keeps the ledger, arms one timer, and hands over a snapshot for continue-as-new. Agent runs use it as it
 * is; workflows of one's own use it through `ApprovalGate`.
 */
import { ApplicationFailure, CancellationScope, workflowInfo } from '@temporalio/workflow';
import type { Permit } from '../../contract.ts';
import { answerBefore } from '../../core/ledger/admission.ts';
import type { ApprovalRequest, OutcomeName, Ran, Settlement } from '../../core/ledger/approval.ts';
import { defaultAttributeNames } from '../../core/base/attribute-names.ts';
import type { Assessment } from '../../core/assess/assessment.ts';
import { callDigest } from '../../core/base/digest.ts';
import type { JournalEntry } from '../../core/ledger/journal-entry.ts';
import { openedAtMs } from '../../core/ledger/escalation.ts';
import type { RequestRecord, Ledger, SettledRequest } from '../../core/ledger/ledger.ts';
import { requestInPlaceOf } from '../../core/ledger/ledger-state.ts';
import { limitsOf, type Limits } from '../../core/policy/limits.ts';
import { countsAsIrreversible } from '../../core/ledger/open-request.ts';
import type { Policy, PolicyLayers } from '../../core/policy/policy.ts';
import type { Problem } from '../../core/base/problem.ts';
import type { PolicyChange } from '../../core/policy/run-side.ts';
import { editedSentence, sentences, settledSentence } from '../../core/ledger/sentences.ts';
import type { ShellSplit } from '../../core/shell/parts.ts';
import { notSplit } from '../../core/shell/parts.ts';
import type { ToolCall, ToolDefinition } from '../../core/base/tool-call.ts';
import { activation } from '../sandbox/activation.ts';
import { recordRequest } from '../state/record-request.ts';
import type { GateSnapshot } from '../state/gate-state.ts';
import { GateState } from '../state/gate-state.ts';
import { receiveMessages, type Messages } from '../messages/receive-messages.ts';
import { answerQueries } from './queries.ts';
import { type GateOptions, ActivePolicies } from '../state/active-policies.ts';
import { Scheduler, type ScheduledTask } from '../state/scheduler.ts';
import { VisibilityIndex } from './visibility-index.ts';

/** The gate's answer to one call. `answered`: it will not run, and `content` is what the model is told. */
export type Admission =
  | { kind: 'allowed' }
  | { kind: 'asked'; requestId: string }
  | { kind: 'answered'; content: string; outcome: OutcomeName; isError: boolean };

/** What was found out about a call where its arguments were parsed, and recorded with it (design section 5). */
export interface CallFacts {
  /** The model's text beside the call, else the last user message. */
  contextSummary: string;
  /** Where the tool has a shell subject: its split. */
  shell?: ShellSplit & { argument: string };
  assessment?: Assessment;
  /** Of a call whose tool changed after it was approved: the request that approved it. */
  replaces?: ApprovalRequest['replaces'];
}

export class Gate {
  readonly #state: GateState;
  readonly #index: VisibilityIndex;
  readonly #messages: Messages;
  readonly #scheduler: Scheduler;
  readonly #closeListeners: (() => void)[] = [];
  #change: PolicyChange | undefined;
  #active: ActivePolicies | undefined;

  /** Registers the handlers at once, before any policy is known; `setPolicies` comes before the first call. */
  constructor() {
    if (!activation.installed) {
      throw misused(
        `ApprovalGate needs a worker made by createWorker, or with countersignPlugin, from countersign/worker`,
      );
    }
    this.#state = new GateState();
    this.#index = new VisibilityIndex(this.#state);
    this.#messages = receiveMessages(this.#state, {
      policies: () => this.#rules,
      change: (change) => this.#enforce(this.#rules.options, change),
      inherit: (parents) => this.#inherit(parents),
      close: () => this.#closeListeners.forEach((listener) => listener()),
    });
    answerQueries(this.#state);
    this.#scheduler = new Scheduler(this.#messages.pipeline, this.#outputs());
  }

  /** Takes up what the execution before this one carried, once that is verified (`carried.ts`); before `setPolicies`. */
  restore(snapshot: GateSnapshot): void {
    this.#state.restore(snapshot);
    this.#change = snapshot.change;
    this.#index.restore();
  }

  /** Puts the gate under its policies; once more where a run goes on as another agent. */
  setPolicies(options: GateOptions): void {
    this.#enforce(options, this.#change);
  }

  #inherit(parents: Policy[]): void {
    const { options } = this.#rules;
    this.#enforce({ ...options, policies: { ...options.policies, parents } }, this.#change);
    options.onParents?.(parents);
  }

  #enforce(options: GateOptions, change: PolicyChange | undefined): void {
    this.#change = change;
    this.#active = new ActivePolicies(options, change);
    this.#state.begin();
    this.#state.directories = this.#active.directories;
    this.#state.agent = options.agent;
    this.#state.showsArguments = this.limits.includeArguments;
    this.#index.use(options.attributes ?? defaultAttributeNames);
    if (!this.#messages.queue.isOpen) this.#messages.queue.open();
  }

  /** The limits of the run as they stand. */
  get limits(): Limits {
    return limitsOf(this.#rules.policies);
  }

  /** What binds the calls at present. */
  get policies(): PolicyLayers {
    return this.#rules.policies;
  }

  /** For answers to queries: throws in an execution that has not taken up yet what it continues. */
  requirePast(): void {
    this.#state.requirePast();
  }

  get ledger(): Ledger {
    return this.#state.ledger;
  }

  /** Why the run is to end, once somebody sent `close`: what was open is cancelled, and nothing more is admitted. */
  get closing(): string | undefined {
    return this.#state.closing;
  }

  /** Calls `listener` when somebody sends `close`. */
  onClose(listener: () => void): void {
    this.#closeListeners.push(listener);
  }

  /** True while messages are in flight: the run must not continue as new then (I11). */
  get busy(): boolean {
    return !this.#messages.inFlight.isEmpty || !this.#messages.queue.isEmpty;
  }

  /** Looks at how far the history has grown, in a step that certainly schedules something or ends the run (I12). */
  noteGrowth(): void {
    this.#state.noteGrowth();
  }

  /** True when this execution has grown enough: schedule nothing new, and continue as new once nothing runs (I11). */
  get shouldContinueAsNew(): boolean {
    return this.#state.outgrew(this.#rules.options.rollOver);
  }

  /** Rules on one call and, for `ask`, opens its request. The call that is admitted here is the one that runs (I8). */
  admit(call: ToolCall, tool: ToolDefinition, facts: CallFacts): Admission {
    const { callId, args } = call;
    const { name: toolName, risk, subject, definition } = tool;
    if (this.closing !== undefined) return this.#cancelled(callId, toolName, this.closing);
    const digest = digestOf(call, tool);
    if (typeof digest !== 'string') return this.refuse(callId, toolName, sentences.failed(digest.message));
    const atMs = Date.now();
    const shell = shellOf(tool, facts);
    const { assessment: assessed } = facts;
    const ruled = {
      definition,
      ...(subject !== undefined && { subject }),
      ...(shell !== undefined && { shell }),
      ...(assessed !== undefined && { assessment: assessed }),
    };
    const ruledCase = this.#rules.rule(
      { tool: toolName, args, risk, subject, shell, digest, assessed, definition },
      this.ledger,
      atMs,
    );
    const { ruling, assessment, limits } = ruledCase;
    const { contextSummary, replaces } = facts;
    // The call in whose place this one stands counts already.
    const reversible =
      assessment.reversible || (replaces !== undefined && countsAsIrreversible(this.ledger, replaces.requestId));
    if (ruling.action === 'deny') {
      this.#state.apply({ kind: 'rule', atMs, callId, toolName, outcome: 'denied_by_policy', ruling, digest });
      return this.#answered(sentences.deniedByPolicy(toolName, ruling.reason), 'denied_by_policy');
    }
    const answer = answerBefore(this.ledger, ruling, { tool: toolName, args, digest, reversible, atMs }, limits);
    if (answer !== undefined) {
      const { outcome, content, reason, grantId } = answer;
      this.#state.apply({ kind: 'rule', atMs, callId, toolName, outcome, digest, reason, grantId });
      return this.#answered(content, outcome);
    }
    if (ruling.action === 'allow') {
      this.#state.apply({ kind: 'rule', atMs, callId, toolName, outcome: 'allowed', ruling, digest, reversible });
      return { kind: 'allowed' };
    }
    const { options } = this.#rules;
    const asked = { callId, tool: toolName, args, risk, ruled, digest, ruledCase, contextSummary, replaces, atMs };
    const record = recordRequest(options, { ...asked, lineage: options.lineage ?? [] });
    this.#state.noteGrowth();
    this.#state.apply({ kind: 'open', atMs, record, ruling });
    return { kind: 'asked', requestId: record.request.requestId };
  }

  /** Settles a call that must not run and that no policy needs to see: unknown tool, bad arguments, a limit. */
  refuse(callId: string, toolName: string, content: string): Admission {
    // What is wrong with arguments may be told in their own words.
    const reason = this.#state.showsArguments ? content.slice(0, 500) : undefined;
    this.#state.apply({ kind: 'rule', atMs: Date.now(), callId, toolName, outcome: 'refused', reason });
    return this.#answered(content, 'refused');
  }

  /**
   * How an asked call was settled, or undefined while it is open. A request in whose place another stands is settled
   * when that one is.
   */
  settlement(requestId: string): Settlement | undefined {
    const found = this.#latest(requestId);
    return found !== undefined && 'settlement' in found ? found.settlement : undefined;
  }

  /** What the model is told of a request that was settled without the tool running. */
  sentence(requestId: string): string {
    const found = this.#latest(requestId);
    if (found === undefined || !('settlement' in found)) throw misused(`request ${requestId} is not settled`);
    const { deadlineMs, request, settlement } = found;
    const waitedMs = deadlineMs === null ? null : deadlineMs - openedAtMs(found);
    return settledSentence(settlement, waitedMs, request.toolName);
  }

  /** Whether the model is told of such a denial as of an error (`approval.denied_as`). */
  isToldAsError(outcome: OutcomeName): boolean {
    return this.limits.deniedAs === 'error' && denials.includes(outcome);
  }

  /** The call as it is to run: with the arguments that a reviewer put in the place of those asked about (I9). */
  approved(call: ToolCall, requestId: string): ToolCall & { notice?: string } {
    const edited = this.settlement(requestId)?.edited;
    if (edited === undefined) return call;
    return { ...call, args: edited.arguments, notice: editedSentence(call.args, edited.arguments) };
  }

  /** The proof for the tool activity that this call passed; journal entries ride along (design section 6). */
  permit(call: ToolCall, tool: ToolDefinition, requestId?: string): Permit {
    const { agent, caller } = this.#rules.options;
    this.#state.noteGrowth();
    return {
      workflowId: workflowInfo().workflowId,
      callId: call.callId,
      digest: callDigest({ tool: tool.name, args: call.args, definition: tool.definition }),
      ...this.#outcome(requestId),
      definition: tool.definition,
      agent,
      ...(caller === undefined ? {} : { caller }),
      journal: this.takeJournal(),
    };
  }

  /** Records how an admitted call ended. */
  finished(callId: string, ran: Ran): void {
    this.#state.apply({ kind: 'ran', atMs: Date.now(), callId, ran });
  }

  /**
   * Refuses the messages in flight and settles everything open as cancelled, in the activation that ends the run;
   * `writeLast` must follow.
   */
  cancelAll(reason: string): void {
    this.#messages.pipeline.end();
    this.#state.cancelOpen(reason);
    this.#state.takeBack();
  }

  /** Journal entries whose carrier may never have been sent ride on the next payload. */
  putBackJournal(entries: JournalEntry[]): void {
    this.#state.putBack(entries);
  }

  /** Settles one request as cancelled: nobody waits for its answer any more. */
  withdraw(requestId: string, reason: string): void {
    const { requestId: latestId } = this.#latest(requestId)?.request ?? { requestId };
    this.#state.apply({ kind: 'cancel', atMs: Date.now(), requestId: latestId, reason });
  }

  /** Clears the index and writes down what is left, for a run that ends without a result or details of its failure. */
  writeLast(): void {
    this.#index.writeLast();
  }

  /** The journal entries that no payload has carried yet; the caller writes them into the payload at hand. */
  takeJournal(): JournalEntry[] {
    return this.#state.takeJournal();
  }

  /** Writes the index, for a run that ends with its journal in a result. */
  writeIndex(): void {
    this.#index.run();
  }

  /** What `restore` takes in the next execution, and its memo. */
  snapshot(): { gate: GateSnapshot; memo: Record<string, unknown> } {
    this.#index.run();
    const change = this.#change;
    const { closing } = this;
    const gate = {
      ledger: this.ledger,
      journal: this.takeJournal(),
      ...(change && { change }),
      ...(closing !== undefined && { closing }),
    };
    return { gate, memo: this.#index.memo() };
  }

  get #rules(): ActivePolicies {
    if (this.#active !== undefined) return this.#active;
    throw misused('ApprovalGate: call load() before the first guarded call');
  }

  #cancelled(callId: string, toolName: string, reason: string): Admission {
    this.#state.apply({ kind: 'rule', atMs: Date.now(), callId, toolName, outcome: 'cancelled', reason });
    return this.#answered(sentences.cancelled(reason), 'cancelled');
  }

  #outcome(requestId: string | undefined): Pick<Permit, 'outcome' | 'requestId'> {
    if (requestId === undefined) return { outcome: 'allowed' };
    const latestId = this.#latest(requestId)?.request.requestId ?? requestId;
    const isApproved = this.settlement(requestId)?.outcome === 'approved';
    return { outcome: isApproved ? 'approved' : 'allowed', requestId: latestId };
  }

  #answered(content: string, outcome: OutcomeName): Admission {
    return { kind: 'answered', content, outcome, isError: this.isToldAsError(outcome) };
  }

  /** The request, or the one that stands in its place. */
  #latest(requestId: string): RequestRecord | SettledRequest | undefined {
    return requestInPlaceOf(this.ledger, requestId);
  }

  /**
   * Waits until `predicate` holds, after the messages that came in were applied (scheduler.ts says why not at a condition
   * of one's own). Rejects when the scope it is called in is cancelled.
   */
  until(predicate: () => boolean): Promise<void> {
    return this.#scheduler.until(predicate);
  }

  /** Says that a ruling in this activation may schedule nothing: its task writes a command all the same (I12). */
  noteRuling(): void {
    this.#messages.queue.noteNews();
  }

  /** True while messages that came in are not applied yet: a ruling before that would overtake them. */
  get hasNews(): boolean {
    return this.#messages.queue.hasNews;
  }

  /** Waits until the messages that came in are applied and answered, also where the workflow was cancelled. */
  drain(): Promise<void> {
    return CancellationScope.nonCancellable(() => this.until(() => true));
  }

  /** The gate's own commands, in this order, once nobody can go on: timer, index, else the journal. */
  #outputs(): ScheduledTask {
    const { queue, deadlines } = this.#messages;
    const [state, index] = [this.#state, this.#index];
    return {
      get isDue() {
        return queue.owesCommand || (queue.isOpen && (deadlines.isDue || index.isDue));
      },
      run() {
        if (queue.isOpen) for (const output of [deadlines, index]) output.run();
        if (queue.owesCommand && !state.hasWritten) index.writeJournal();
        queue.notePaid();
      },
    };
  }
}

const denials: readonly OutcomeName[] = ['denied', 'denied_by_policy', 'expired', 'superseded', 'refused'];

/** Arguments that have no canonical JSON cannot be approved: what would run could not be told. */
function digestOf({ args }: ToolCall, { name, definition }: ToolDefinition): string | Problem {
  try {
    return callDigest({ tool: name, args, definition });
  } catch (error) {
    return { code: 'arguments_invalid', message: error instanceof Error ? error.message : String(error) };
  }
}

/** A split that is missing, or that is of another argument than the run recorded as the subject, splits nothing (I2). */
function shellOf({ subject, shellSubject }: ToolDefinition, { shell }: CallFacts): ShellSplit | undefined {
  if (shellSubject !== true) return undefined;
  return shell !== undefined && shell.argument === subject ? shell : notSplit;
}

function misused(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'internal');
}

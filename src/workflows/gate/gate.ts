/**
 * The gate: the workflow step that every tool call passes (I1). It registers its handlers, keeps the ledger, sets one
 * timer, and gives a snapshot for continue-as-new. Agent runs use it directly, custom workflows through `ApprovalGate`.
 */
import { CancellationScope, workflowInfo } from '@temporalio/workflow';
import type { Permit } from '../../contract.ts';
import { approversOf, type Approver } from '../../core/ledger/approved-by.ts';
import { readRevoked } from '../../core/people/revoked.ts';
import { personKeyOfRun } from '../../core/ledger/panel.ts';
import { namesIn, type NamedPerson } from '../../core/people/directory.ts';
import type { OutcomeName, Ran, Settlement } from '../../core/ledger/approval.ts';
import { defaultAttributeNames } from '../../core/base/attribute-names.ts';
import { isPreviewed } from '../../core/base/bound-preview.ts';
import { callDigest } from '../../core/base/digest.ts';
import type { JournalEntry, JournalHead } from '../../core/ledger/journal-entry.ts';
import { openedAtMs } from '../../core/ledger/escalation.ts';
import type { RequestRecord, Ledger, SettledRequest } from '../../core/ledger/ledger.ts';
import { requestInPlaceOf } from '../../core/ledger/ledger-state.ts';
import { limitsOf, type Limits } from '../../core/policy/limits.ts';
import type { Policy, PolicyLayers } from '../../core/policy/policy.ts';
import { type PolicyChange, laterChange } from '../../core/policy/run-side.ts';
import { approvedSentence, editedSentence, settledSentence } from '../../core/ledger/sentences.ts';
import { redactText } from '../../core/redact/find-sensitive.ts';
import type { Redaction } from '../../core/redact/redaction.ts';
import { secretKinds } from '../../core/redact/kinds.ts';
import type { ToolCall, ToolDefinition } from '../../core/base/tool-call.ts';
import { activations, misused, needsPlugin } from '../sandbox/activation.ts';
import { clock } from '../sandbox/clock.ts';
import { type GateSnapshot, GateState } from '../state/gate-state.ts';
import { receiveMessages, type MessageEffects, type Messages } from '../messages/receive-messages.ts';
import { Announcements } from './announcements.ts';
import { ApproverChecks } from './approver-checks.ts';
import { admitCall, type Admission, type CallFacts, isErrorForModel, refuseCall } from './admit-call.ts';
import { outputsOf, VisibilityIndex } from './visibility-index.ts';
import { Previews } from './previews.ts';
import { answerQueries } from './queries.ts';
import { type GateOptions, ActivePolicies } from '../state/active-policies.ts';
import { Scheduler } from '../state/scheduler.ts';

/** Why a call may run although no rule allows it: its request, or the reviewers who made the grant that covers it. */
export interface LetRunBy {
  requestId?: string;
  approvedBy?: Approver[];
}

export class Gate {
  readonly #state: GateState;
  readonly #index: VisibilityIndex;
  readonly #previews: Previews;
  readonly #announcements: Announcements;
  readonly #messages: Messages;
  readonly #scheduler: Scheduler;
  readonly #checks = new ApproverChecks((revoked) => this.obey(revoked));
  readonly #closeListeners: (() => void)[] = [];
  #change: PolicyChange | undefined;
  #active: ActivePolicies | undefined;

  /** Registers the handlers while no policy is known yet. Call `setPolicies` before the first `admit`. */
  constructor({ refuseUnknownSignals, session }: Pick<MessageEffects, 'refuseUnknownSignals' | 'session'>) {
    if (!activations().installed) throw misused(needsPlugin);
    this.#state = new GateState();
    this.#index = new VisibilityIndex(this.#state);
    this.#previews = new Previews(this.#state, () => this.#active?.options.caller);
    this.#messages = receiveMessages(this.#state, {
      policies: () => this.#activePolicies,
      change: (change) => this.#enforce(this.#activePolicies.options, laterChange(change, this.#change)),
      inherit: (parents) => this.#inherit(parents),
      close: () => this.#closeListeners.forEach((listener) => listener()),
      session,
      problemOfSender: (voter) => this.#checks.problem([voter]),
      refuseUnknownSignals,
    });
    answerQueries(this.#state, this.#previews, () => this.#active, session);
    this.#announcements = new Announcements(this.#state, this.#messages.inFlight, () => this.#active, session);
    const outputs = outputsOf(this.#state, this.#messages, this.#index, [this.#previews, this.#announcements]);
    this.#scheduler = new Scheduler(this.#messages.pipeline, outputs);
  }

  /** Restores verified carried state (`carried.ts`). Call it before `setPolicies`. */
  restore(snapshot: GateSnapshot): void {
    this.#state.restore(snapshot);
    this.#change = snapshot.change;
    this.#index.restore();
    this.#previews.restore(snapshot.previews);
    this.#announcements.restore(snapshot.announced);
    this.#messages.escalation.restore(snapshot.missedSteps);
  }

  /** Sets the policies of the agent in charge: first the run's own agent, and after a handoff the next one. */
  setPolicies(options: GateOptions): void {
    this.#enforce(options, this.#change);
  }

  #inherit(parents: Policy[]): void {
    const { options } = this.#activePolicies;
    this.#enforce({ ...options, policies: { ...options.policies, parents } }, this.#change);
    options.onParents?.(parents);
  }

  /** Puts policies in force. The first call also opens the queue, in which messages have waited for them. */
  #enforce(options: GateOptions, change: PolicyChange | undefined): void {
    // Compile the policies first, because this may throw, and nothing must be changed then.
    this.#active = new ActivePolicies(options, change);
    this.#change = change;
    this.#state.begin(options.engine, options.auditSalt);
    this.#state.follow(this.#active);
    this.#state.showsArguments = this.limits.includeArguments;
    this.#index.use(options.attributes ?? defaultAttributeNames);
    if (!this.#messages.queue.isOpen) this.#messages.queue.open();
  }

  get limits(): Limits {
    return limitsOf(this.#activePolicies.policies);
  }

  get policies(): PolicyLayers {
    return this.#activePolicies.policies;
  }

  /** Throws in a continued execution whose carried state is not verified yet. Queries call it before they answer. */
  requirePast(): void {
    this.#state.requirePast();
  }

  get ledger(): Ledger {
    return this.#state.ledger;
  }

  /** The entries for these people in the operator's directory; undefined if there are none. */
  peopleOf(ids: readonly string[]): Record<string, NamedPerson> | undefined {
    const { directories } = this.#state;
    return namesIn(directories.ceiling?.people, ids, personKeyOfRun(directories));
  }

  /** The reason of a `close` message, once one was received: open requests are cancelled, and no call is admitted. */
  get closing(): string | undefined {
    return this.#state.closing;
  }

  onClose(listener: () => void): void {
    this.#closeListeners.push(listener);
  }

  /** True while messages wait or are in flight. Then the run must not continue as new (I11). */
  get busy(): boolean {
    return !this.#messages.inFlight.isEmpty || !this.#messages.queue.isEmpty;
  }

  /** Reads the history's length. Call it only in an activation with a command: a replay may merge any other (I12). */
  noteGrowth(): void {
    this.#state.noteGrowth();
  }

  /** Call this if you write a command in this activation. Then the gate need not write one of its own (I12). */
  noteCommand(): void {
    this.#state.noteCommand();
  }

  /** True when the history has grown enough: schedule nothing new, and continue as new once nothing runs (I11). */
  get shouldContinueAsNew(): boolean {
    return this.#state.outgrew(this.#activePolicies.options.continueAsNewAfter);
  }

  /** True if the run is pinned to another version of its Worker Deployment than the current one. */
  get isOutdated(): boolean {
    return this.#state.isOutdated;
  }

  /** Waits until `predicate` is true and the messages of this activation are applied. Rejects if cancelled. */
  until(predicate: () => boolean): Promise<void> {
    return this.#scheduler.until(predicate);
  }

  /** True while received messages are not applied yet. A ruling made now would ignore them. */
  get hasChanges(): boolean {
    return this.#messages.queue.hasChanges;
  }

  /** Waits until the received messages are applied and answered, also in a cancelled workflow. */
  drain(): Promise<void> {
    return CancellationScope.nonCancellable(() => this.until(() => true));
  }

  /** Makes the gate write a command in this activation. Needed after a ruling, which may schedule nothing (I12). */
  noteRuling(): void {
    this.#messages.queue.noteChange();
  }

  /** Rules on one call and, for `ask`, opens its request. The call that is admitted here is the one that runs (I8). */
  admit(call: ToolCall, tool: ToolDefinition, facts: CallFacts, meter?: { work: number }): Admission {
    return admitCall(this.#state, this.#activePolicies, { call, tool, facts, meter });
  }

  /** Settles a call that must not run and that no policy needs to see: unknown tool, bad arguments, a limit. */
  refuse(callId: string, toolName: string, content: string): Admission {
    return refuseCall(this.#state, this.#activePolicies, { callId, toolName, content });
  }

  /** Returns how a request, or the request that replaced it, was settled; undefined while it is open. */
  settlement(requestId: string): Settlement | undefined {
    const found = this.#latest(requestId);
    return found !== undefined && 'settlement' in found ? found.settlement : undefined;
  }

  /** Returns the sentence for the model about a request that was settled without running the tool. */
  sentence(requestId: string): string {
    const found = this.#latest(requestId);
    if (found === undefined || !('settlement' in found)) throw misused(`request ${requestId} is not settled`);
    const { deadlineMs, request, settlement } = found;
    const waitedMs = deadlineMs === null ? null : deadlineMs - openedAtMs(found);
    return settledSentence(settlement, waitedMs, request.toolName);
  }

  isErrorForModel(outcome: OutcomeName): boolean {
    return isErrorForModel(this.policies, outcome);
  }

  /**
   * Returns the call to run after its approval, with the reviewer's edited arguments if there are any (I9). `notice`
   * precedes the result for the model: the notice of earlier approvals, then the edit, then the approvers' reasons.
   */
  approved(call: ToolCall, requestId: string, earlier?: string): ToolCall & { notice?: string } {
    const edited = this.settlement(requestId)?.edited;
    const change = edited === undefined ? undefined : editedSentence(call.args, edited.arguments);
    const notices = [earlier, change, this.#approvedSentence(requestId)].filter((each) => each !== undefined);
    return {
      ...call,
      ...(edited !== undefined && { args: edited.arguments }),
      ...(notices.length > 0 && { notice: notices.join('\n') }),
    };
  }

  /** Creates the proof for the tool's activity that this call passed the gate. It also carries journal entries. */
  permit(call: ToolCall, tool: ToolDefinition, { requestId, approvedBy }: LetRunBy): Permit {
    const { agent, caller, engine } = this.#activePolicies.options;
    const { workflowId, firstExecutionRunId } = workflowInfo();
    this.#state.noteGrowth();
    return {
      workflowId,
      firstExecutionRunId,
      callId: call.callId,
      digest: callDigest({ tool: tool.name, args: call.args, definition: tool.definition }),
      ...this.#outcome(requestId, approvedBy),
      definition: tool.definition,
      ...(tool.reconciles === true && { reconciles: true as const }),
      agent,
      caller,
      engine,
      journal: this.takeJournal(),
    };
  }

  /** The parts that reviewers did not see in the arguments of a settled request, or in those of its edit. */
  redactionOf(requestId: string): Redaction | undefined {
    const asked = this.#latest(requestId);
    return asked?.editedRedaction ?? asked?.redaction;
  }

  /** The people who settled a request so that its call runs or is answered; empty if a policy settled it. */
  approversOf(requestId: string): Approver[] {
    const asked = this.#latest(requestId);
    return asked === undefined ? [] : approversOf(asked, this.#state.directories);
  }

  /** Revokes the keys and people that the operator's present policy revokes. A value of another form is ignored. */
  obey(revoked: unknown): void {
    // Anyone who may complete or fail activities can write this value.
    if (this.#state.obey(readRevoked(revoked))) this.noteRuling();
  }

  /**
   * Asks a worker why an approval by these people no longer counts; resolves to undefined if it counts. Returns
   * undefined without people. Only effects without an activity need this: the second gate checks all others.
   */
  revocationOf(approvedBy: readonly Approver[]): Promise<string | undefined> | undefined {
    if (approvedBy.length === 0) return undefined;
    return this.#checks.problem(approvedBy);
  }

  endChecks(): void {
    this.#checks.cancel();
  }

  /** Records how an admitted call ended. `withheld`: why the result was withheld from the model. */
  finished(callId: string, ran: Ran, withheld?: string): void {
    this.#state.apply({ kind: 'ran', atMs: clock.nowMs, callId, ran, withheld });
  }

  /** Notes that the model receives the user's messages. It may then ask again for calls that were denied before. */
  userHeard(): void {
    this.#state.apply({ kind: 'heard', atMs: clock.nowMs });
  }

  /** Records that the agent's check has refused the user's input, which has `size` characters of JSON. */
  inputRefused(size: number): void {
    this.#state.apply({ kind: 'refuse', atMs: clock.nowMs, refused: { code: 'input_refused', size } });
  }

  /** Refuses messages in flight and cancels open requests. Then call `writeLast` or `takeLast`, and end the run. */
  cancelAll(reason: string): void {
    this.#messages.pipeline.end();
    this.#state.cancelOpen(reason);
    this.#state.takeBack();
  }

  /** Puts journal entries back whose payload may never have been sent, so that the next payload carries them. */
  putBackJournal(entries: JournalEntry[]): void {
    this.#state.putBack(entries);
  }

  /** Settles one request as cancelled, because its caller no longer waits. */
  withdraw(requestId: string, reason: string): void {
    const { requestId: latestId } = this.#latest(requestId)?.request ?? { requestId };
    this.#state.apply({ kind: 'cancel', atMs: clock.nowMs, requestId: latestId, reason });
  }

  /** Clears the index and writes the rest of the journal, for a run whose end has no payload of its own. */
  writeLast(): void {
    this.#index.writeLast();
  }

  takeJournal(): JournalEntry[] {
    return this.#state.takeJournal();
  }

  get isAnnouncing(): boolean {
    return this.#announcements.isPending;
  }

  /** Takes the rest of the journal, for the payload that ends the run, with the Merkle head over all its entries. */
  takeLast(): { journal: JournalEntry[]; journalHead?: JournalHead } {
    return { journal: this.takeJournal(), ...this.#state.head };
  }

  writeIndex(): void {
    this.#index.run();
  }

  /** Returns the state that `restore` takes in the next execution, and the memo of that execution. */
  snapshot(): { gate: GateSnapshot; memo: Record<string, unknown> } {
    // This comes first, because it may write journal entries, which then need not be carried.
    this.#index.run();
    const { ledger, closing } = this;
    const [journal, previews] = [this.takeJournal(), this.#previews.carried()];
    const [announced, missedSteps] = [this.#announcements.carried(), this.#messages.escalation.carried()];
    const [{ tree, revoked }, change] = [this.#state, this.#change];
    const gate = { ledger, journal, tree, ...revoked, change, closing, previews, announced, missedSteps };
    return { gate, memo: this.#index.memo() };
  }

  get #activePolicies(): ActivePolicies {
    if (this.#active !== undefined) return this.#active;
    throw misused('ApprovalGate: call load() before the first guarded call');
  }

  /** Returns the part of a permit that says why the call may run: a policy, a grant, or people who approved it. */
  #outcome(
    requestId: string | undefined,
    byGrant: Approver[] = [],
  ): Pick<Permit, 'outcome' | 'requestId' | 'approvedBy' | 'bound'> {
    if (requestId === undefined) return { outcome: 'allowed', ...(byGrant.length > 0 && { approvedBy: byGrant }) };
    const asked = this.#latest(requestId);
    const settlement = this.settlement(requestId);
    const isApproved = settlement?.outcome === 'approved';
    const approvedBy = this.approversOf(requestId);
    // Reviewers saw the preview of the original call, not of the edited one.
    const isEdited = settlement?.edited !== undefined && settlement.edited.digest !== asked?.request.digest;
    const bound = asked?.bound && boundOf(asked, isEdited);
    return {
      outcome: isApproved ? 'approved' : 'allowed',
      requestId: asked?.request.requestId ?? requestId,
      ...(isApproved && bound !== undefined && { bound }),
      ...(approvedBy.length > 0 && { approvedBy }),
    };
  }

  /** Returns a sentence with the reasons of an approved request's votes, without secrets if the policies redact. */
  #approvedSentence(requestId: string): string | undefined {
    const found = this.#latest(requestId);
    const isApproved = this.settlement(requestId)?.outcome === 'approved';
    if (found === undefined || !isApproved) return undefined;
    const { redaction } = this.#activePolicies;
    const votes = found.votes.filter(({ approved }) => approved);
    if (redaction === undefined) return approvedSentence(votes);
    return approvedSentence(
      votes.map(({ reviewerId, reason = '' }) => ({ reviewerId, reason: redactText(reason, secretKinds) })),
    );
  }

  #latest(requestId: string): RequestRecord | SettledRequest | undefined {
    return requestInPlaceOf(this.ledger, requestId);
  }
}

function boundOf(asked: RequestRecord, isEdited: boolean): Permit['bound'] {
  if (isEdited) return 'unknown';
  // A policy hid the preview from reviewers before it was ready.
  return asked.bound === 'pending' && isPreviewed(asked) ? 'hidden' : asked.bound;
}

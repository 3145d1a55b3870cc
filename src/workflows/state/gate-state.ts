import { ApplicationFailure, log, workflowInfo } from '@temporalio/workflow';
import type { NotifyInput } from '../../activities/announce.ts';
import type { Receipt, RefusedDecision } from '../../core/ledger/approval.ts';
import { hideInEntry } from '../../core/ledger/hidden-arguments.ts';
import { type TreeState, emptyTree, rootOf, withLeaf } from '../../core/ledger/merkle.ts';
import type { JournalEntry, JournalHead } from '../../core/ledger/journal-entry.ts';
import type { Directories, Ledger, LedgerCommand, RequestRecord } from '../../core/ledger/ledger.ts';
import { emptyLedger, reduce } from '../../core/ledger/ledger.ts';
import { iso, refusedKept } from '../../core/ledger/ledger-state.ts';
import type { CallPreview } from '../../core/base/call-preview.ts';
import { engine, maxWorkOfStep } from '../../core/policy/ruling.ts';
import type { RulingMeter } from '../../core/match/ruling-meter.ts';
import { type PolicyLayers, policyDigest } from '../../core/policy/policy.ts';
import type { PolicyChange } from '../../core/policy/run-side.ts';
import { sentences } from '../../core/ledger/sentences.ts';
import { waitingMessage, waitingNotice } from '../../core/ledger/waiting-for.ts';
import { activations } from '../sandbox/activation.ts';
import { cannotBeApproved } from '../../core/people/cannot-be-approved.ts';
import { lastPanelOf, personKeyOfRun } from '../../core/ledger/panel.ts';
import type { Voter } from '../../core/people/entitlement.ts';
import { revokedByEither, revokedOf, type Revoked } from '../../core/people/revoked.ts';
import { clock } from '../sandbox/clock.ts';
import type { ActivePolicies } from './active-policies.ts';
import { isContinued } from './carried.ts';
import { committedLeaf, runTag, saltsOf } from '../../core/ledger/commit-entry.ts';

/** After this many verified signatures, an execution continues as new, because each replay verifies them again. */
export const checksOfExecution = 50;

/** After this many lookups for messages, an execution continues as new: each lookup adds about seven events. */
export const lookupsOfExecution = 50;

/** The state of a gate that continue-as-new carries (I11). */
export interface GateSnapshot {
  ledger: Ledger;
  journal: JournalEntry[];
  tree: TreeState;
  change?: PolicyChange;
  closing?: string;
  /** What workers' present policies have revoked; absent if nothing is, or no worker was asked. */
  revoked?: Revoked;
  /** Finished previews of open requests, by request id. Other previews are requested again. */
  previews?: Record<string, CallPreview>;
  /** The channels of each open request, by request id, as the workflow of the channels knows them. */
  announced?: Record<string, string>;
  /** The steps of open requests whose notification failed and is made again. */
  missedSteps?: NotifyInput[];
}

/** The ledger, and the journal entries that are not in history yet. Every change of the gate goes through `apply`. */
export class GateState {
  #ledger: Ledger = emptyLedger(engine);
  #journal: JournalEntry[] = [];
  /** Entries that are not in the tree yet. Entries of kind `ran` get their final times when the journal is taken. */
  #unsealed: JournalEntry[] = [];
  readonly #tree = new JournalTree();
  /** The entries that were taken in one activation, with its number. */
  #taken: { activation: number; entries: JournalEntry[] } = { activation: 0, entries: [] };
  /** Updates that this execution accepted; the server limits them per execution. */
  updates = 0;
  /** Signatures that this execution verified (messages/authenticate.ts). */
  checks = 0;
  /** Activities that this execution scheduled for lookups of messages. */
  lookups = 0;
  /** The work of policy changes without a lookup: each rules again on all open requests, and many may come at once. */
  readonly changes: RulingMeter = { work: 0 };
  /** The last command that revoked all grants. It also ends the grant of an edit that was being checked then. */
  lastRevocation: Extract<LedgerCommand, { kind: 'revoke' }> | undefined;
  #directories: Directories = {};
  /** The keys and people whose revocation workers have reported to this run. */
  #revoked: Revoked | undefined;
  agent: string | undefined;
  #active: ActivePolicies | undefined;
  /** The active policies, as long as no journal entry has recorded their digest. */
  #unrecordedPolicies: PolicyLayers | undefined;
  /** True if the active policies show arguments to reviewers; false until the policies are known. */
  showsArguments = false;
  closing: string | undefined;
  /** False in a continued execution until it has restored the carried state and knows its policies. */
  #knowsPast = !isContinued();
  #grown = growth();
  #writtenIn = 0;

  /** Restores carried state. The ledger is still empty, because messages wait for the policies. Call `begin` next. */
  restore({ ledger, journal, tree, closing, revoked }: GateSnapshot): void {
    this.#ledger = ledger;
    this.#tree.restore(tree);
    this.#journal = journal;
    this.closing = closing;
    this.#revoked = revoked;
  }

  /** Sets the run's rules engine and the secret of the journal's salts. From now on, queries can be answered. */
  begin(engineOfRun: number, auditSalt: string): void {
    this.#ledger = { ...this.#ledger, engine: engineOfRun };
    this.#tree.begin(auditSalt);
    this.#knowsPast = true;
  }

  follow(active: ActivePolicies): void {
    const { policies, directories, options } = active;
    this.#active = active;
    this.#directories = directories;
    this.agent = options.agent;
    this.#unrecordedPolicies = policies;
  }

  /** The members of groups by the active policies, and all keys and people known as revoked. */
  get directories(): Directories {
    if (this.#revoked === undefined) return this.#directories;
    return { ...this.#directories, revoked: this.#revoked };
  }

  get revoked(): { revoked?: Revoked } {
    return this.#revoked === undefined ? {} : { revoked: this.#revoked };
  }

  /** Revokes keys and people permanently, with the grants that they made. Returns true if a grant ended. */
  obey(revoked: Revoked | undefined): boolean {
    this.#revoked = revokedByEither(revokedByEither(this.#directories.revoked, this.#revoked), revoked);
    const keyOf = personKeyOfRun(this.#directories);
    const isGone = (voter: Voter): boolean => revokedOf(this.#revoked, voter, keyOf) !== undefined;
    const grants = this.#ledger.grants.filter(({ approved, by = [] }) => approved && by.some(isGone));
    if (grants.length === 0) return false;
    // Revoke the grants by a command, because an audit that repeats later rulings needs the entry in the journal.
    const reason = `made by whom the operator's policy has revoked`;
    this.apply({ kind: 'revoke', atMs: clock.nowMs, grants: grants.map(({ grantId }) => grantId), reason });
    return true;
  }

  /** Throws until the carried state is restored: an answer would wrongly say that there is nothing. */
  requirePast(): void {
    if (!this.#knowsPast) throw ApplicationFailure.nonRetryable(sentences.notTakenUp, 'no_worker');
  }

  get ledger(): Ledger {
    return this.#ledger;
  }

  /** Applies a command to the ledger, and keeps its entries for the journal. Returns its receipt, if it has one. */
  apply(command: LedgerCommand): Receipt | undefined {
    const { ledger, entries, receipt } = reduce(this.#ledger, command, this.directories);
    this.#ledger = ledger;
    for (const { kind, requestId } of entries) if (kind === 'opened') this.#logWaiting(requestId);
    const shown = (this.showsArguments ? entries : entries.map(hideInEntry)).map((entry) => this.#withRunFacts(entry));
    this.#unsealed.push(...shown);
    return receipt;
  }

  /** Logs a new request on the worker. The line does not enter history, and a replay does not write it again. */
  #logWaiting(requestId: string | undefined): void {
    const record = this.#ledger.open.find(({ request }) => request.requestId === requestId);
    if (record === undefined) return;
    const notice = { ...waitingNotice(record.request, this.#active?.channelsOf(record)) };
    log.info(waitingMessage, notice);
    const why = cannotBeApproved(lastPanelOf(record, this.directories), record.votes);
    if (why !== undefined) log.warn(why, notice);
  }

  /** Adds the agent to the entries of calls. The first such entry after a change of policies also gets their digest. */
  #withRunFacts(entry: JournalEntry): JournalEntry {
    const isOfCall = entry.kind === 'ruling' || entry.kind === 'opened';
    if (!isOfCall && entry.kind !== 'policy') return entry;
    const unrecordedPolicies = this.#unrecordedPolicies;
    this.#unrecordedPolicies = undefined;
    if (!isOfCall) return entry; // an entry `policy` has the digest already
    return {
      ...entry,
      ...(this.agent !== undefined && { agent: this.agent }),
      ...(unrecordedPolicies !== undefined && { policyDigest: policyDigest(unrecordedPolicies) }),
    };
  }

  /** Cancels the open requests for which `isSelected` is true. Default: all of them. */
  cancelOpen(reason: string, isSelected: (record: RequestRecord) => boolean = () => true): void {
    for (const record of this.#ledger.open.filter(isSelected)) {
      this.apply({ kind: 'cancel', atMs: clock.nowMs, requestId: record.request.requestId, reason });
    }
  }

  answer(command: LedgerCommand): Receipt {
    return this.apply(command) ?? done(command);
  }

  /** The receipt that `answer` would return now; changes nothing. */
  preview(command: LedgerCommand): Receipt {
    return reduce(this.#ledger, command, this.directories).receipt ?? done(command);
  }

  /** Records a message that changed nothing: its code and size, and for a late decision also its sender (I4). */
  refuse(refused: RefusedDecision): void {
    this.apply({ kind: 'refuse', atMs: clock.nowMs, refused });
  }

  /** True while the journal still records refusals, and with them late decisions: it keeps the first `refusedKept`. */
  get keepsLate(): boolean {
    return this.#ledger.refused.total < refusedKept;
  }

  /** Takes the entries that no payload has carried yet; the caller writes them into its payload. */
  takeJournal(): JournalEntry[] {
    this.#seal();
    const entries = this.#journal;
    this.#journal = [];
    // Keep all entries that this activation takes: `takeBack` may have to put them back.
    if (this.#taken.activation !== activations().number)
      this.#taken = { activation: activations().number, entries: [] };
    this.#taken.entries.push(...entries);
    return entries;
  }

  /** Moves entries into tree and journal. Sets the time of `ran` entries now, as a replay may note them later (I12). */
  #seal(): void {
    const entries = this.#unsealed.map((entry) => (entry.kind === 'ran' ? { ...entry, at: iso(clock.nowMs) } : entry));
    this.#unsealed = [];
    for (const entry of entries) this.#tree.add(entry);
    this.#journal.push(...entries);
  }

  /** The Merkle head over all entries that any payload has taken; empty until the policies are known. */
  get head(): { journalHead?: JournalHead } {
    const { head } = this.#tree;
    return head === undefined ? {} : { journalHead: head };
  }

  get tree(): TreeState {
    return this.#tree.carried;
  }

  /** Puts back the entries taken in this activation: an activity that it also cancels never reaches the server. */
  takeBack(): void {
    if (this.#taken.activation !== activations().number) return;
    const bySeq = new Map([...this.#taken.entries, ...this.#journal].map((entry) => [entry.seq, entry]));
    this.#journal = [...bySeq.values()];
  }

  /** Puts entries that did not fit back into the journal, for the next payload. */
  putBack(entries: JournalEntry[]): void {
    this.#journal = [...entries, ...this.#journal];
  }

  /** Notes that the gate writes a command in this activation, so that its task is not empty. */
  noteCommand(): void {
    this.#writtenIn = activations().number;
  }

  get hasWritten(): boolean {
    return this.#writtenIn === activations().number;
  }

  /** Reads the history's length. Call it only in an activation with a command: a replay may merge any other (I12). */
  noteGrowth(): void {
    this.#grown = growth();
    const { historyEvents = Infinity } = this.#active?.options.continueAsNewAfter ?? {};
    const { historyLength, historySize } = workflowInfo();
    // A lost attempt of a task adds events, so that its next attempt may continue as new (sandbox/untaken-events.ts).
    const isNear = [historyEvents, hintedEvents].some(
      (most) => most > historyLength && most <= historyLength + eventsOfLostAttempts,
    );
    const isLarge = hintedBytes > historySize && hintedBytes <= historySize + bytesOfLostAttempts;
    if (isNear || isLarge) activations().nearlyOutgrown = activations().number;
  }

  /** True if the run was pinned to an outdated worker version when `noteGrowth` last looked. */
  get isOutdated(): boolean {
    return this.#grown.isOutdated;
  }

  /** True once policy changes without a lookup have done the work that one execution may spend on them. */
  get hasSpentChangeWork(): boolean {
    return this.isSpent(this.changes);
  }

  /** True if the work in the meter has reached the limit of one step. */
  isSpent({ work }: RulingMeter): boolean {
    return work >= maxWorkOfStep;
  }

  /** True if this execution has reached a limit after which it must continue as new (I11). */
  outgrew(budget: { historyEvents: number; updates: number }): boolean {
    const { continueAsNewSuggested, historyLength } = this.#grown;
    const isLong = continueAsNewSuggested || historyLength >= budget.historyEvents;
    const isBusy = this.checks >= checksOfExecution || this.lookups >= lookupsOfExecution || this.hasSpentChangeWork;
    return isLong || isBusy || this.updates >= budget.updates;
  }
}

/** An upper limit of the events that lost attempts of one task leave. Each leaves three, and few attempts are kept. */
const eventsOfLostAttempts = 15;
const bytesOfLostAttempts = 20_000;
/** The numbers of events and bytes from which Temporal by default suggests to continue as new. */
const hintedEvents = 4_096;
const hintedBytes = 4_194_304;

function growth(): { continueAsNewSuggested: boolean; historyLength: number; isOutdated: boolean } {
  const { continueAsNewSuggested, historyLength, targetWorkerDeploymentVersionChanged: isOutdated } = workflowInfo();
  return { continueAsNewSuggested, historyLength, isOutdated };
}

function done(command: LedgerCommand): Receipt {
  const requestId = 'requestId' in command ? command.requestId : '';
  return { requestId, accepted: true, message: 'done' };
}

/**
 * The Merkle tree over all journal entries of the run (docs/audit.md). Continue-as-new carries its frontier. Its leaves
 * need the secret that is recorded with the run's policies: a run that ends before that has no tree.
 */
class JournalTree {
  #tree: TreeState = emptyTree;
  #leafOf: ((entry: JournalEntry) => string) | undefined;
  /** Entries that were added before the secret was known. */
  #early: JournalEntry[] = [];

  /** Takes the tree that the execution before this one carried. Call `begin` next. */
  restore(tree: TreeState): void {
    this.#tree = tree;
  }

  /** Begins with the secret that the run recorded. Repeating it is harmless. */
  begin(secret: string): void {
    if (this.#leafOf !== undefined) return;
    const { namespace, workflowId, firstExecutionRunId: firstRunId } = workflowInfo();
    const runDigest = runTag({ namespace, workflowId, firstRunId });
    const saltOf = saltsOf(secret);
    this.#leafOf = (entry) => committedLeaf(entry, runDigest, saltOf);
    for (const entry of this.#early.splice(0)) this.add(entry);
  }

  add(entry: JournalEntry): void {
    if (this.#leafOf === undefined) this.#early.push(entry);
    else this.#tree = withLeaf(this.#tree, this.#leafOf(entry));
  }

  get carried(): TreeState {
    return this.#tree;
  }

  /** Commits the run to all entries so far; undefined before `begin`. */
  get head(): JournalHead | undefined {
    return this.#leafOf && { size: this.#tree.size, root: rootOf(this.#tree) };
  }
}

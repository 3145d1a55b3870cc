/**
 * The gate: the workflow step that every tool call passes (I1). One object, made at the top of a workflow: it
 * registers its own handlers, keeps the ledger, arms one timer, and hands over a snapshot for continue-as-new.
 * Signal, update and timer all end in the same pure reducer, `core/ledger.ts`.
 */
import {
  ApplicationFailure,
  CancellationScope,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  upsertMemo,
  upsertSearchAttributes,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import { SearchAttributeType, defineSearchAttributeKey } from '@temporalio/common';
import type { ApprovalDetails, Caller, Permit } from '../contract.ts';
import { decideName, memoName, queryNames } from '../contract.ts';
import type { ApprovalRequest, OutcomeName, Ran, Receipt, Settlement } from '../core/approval.ts';
import { approvalIndex, approvalMemo } from '../core/approval-index.ts';
import { defaultAssessment } from '../core/assessment.ts';
import type { ParsedDecision } from '../core/decision.ts';
import { maxDecisions, parseDecision } from '../core/decision.ts';
import { callDigest } from '../core/digest.ts';
import type { JournalEntry } from '../core/journal-entry.ts';
import type { BookedRequest, Ledger, LedgerCommand, SettledRequest } from '../core/ledger.ts';
import { emptyLedger, findRequest, iso, reduce } from '../core/ledger.ts';
import type { Limits } from '../core/limits.ts';
import { limitsOf } from '../core/limits.ts';
import type { PolicyLayers } from '../core/policy.ts';
import type { Problem, ProblemCode } from '../core/problem.ts';
import type { RollOver } from '../core/run-config.ts';
import type { CompiledLayers } from '../core/ruling.ts';
import { compilePolicy, engine, evaluate } from '../core/ruling.ts';
import { sentences, settledSentence } from '../core/sentences.ts';
import type { JsonObject, ToolCall, ToolDefinition } from '../core/tool-call.ts';
import { isUndecodable } from '../core/undecodable.ts';
import { activation } from './activation.ts';
import { currentDetails } from './current-details.ts';
import { DeadlineWatch } from './deadline-watch.ts';

export interface GateOptions {
  agent: string;
  /** The policies as recorded in the run; never read from a file or the environment here (I12). */
  policies: PolicyLayers;
  caller?: Caller;
  metadata?: JsonObject;
  rollOver: RollOver;
}

/** What continue-as-new carries (I11). */
export interface GateSnapshot {
  ledger: Ledger;
  /** Journal entries that no payload has carried yet. */
  journal: JournalEntry[];
}

/** The gate's answer to one call. `answered`: it will not run, and `content` is what the model is told. */
export type Admission =
  | { kind: 'allowed' }
  | { kind: 'asked'; requestId: string }
  | { kind: 'answered'; content: string; outcome: OutcomeName };

const idsKey = defineSearchAttributeKey('ApprovalIds', SearchAttributeType.KEYWORD_LIST);
const tagsKey = defineSearchAttributeKey('ApprovalTags', SearchAttributeType.KEYWORD_LIST);
const dueKey = defineSearchAttributeKey('ApprovalDue', SearchAttributeType.DATETIME);

const decideSignal = defineSignal<[unknown, string?]>(decideName);
const decideUpdate = defineUpdate<Receipt | Receipt[], [unknown]>(decideName);
const approvalsQuery = defineQuery<ApprovalRequest[] | ApprovalDetails | null, [unknown?]>(queryNames.approvals);

interface Governed {
  options: GateOptions;
  layers: CompiledLayers;
  limits: Limits;
}

export class ApprovalGate {
  readonly #watch: DeadlineWatch;
  #ledger: Ledger;
  #journal: JournalEntry[];
  #governed: Governed | undefined;
  #updates = 0;
  /** The open requests as the index last showed them. */
  #indexed: BookedRequest[];

  /** Registers the handlers at once, before any policy is known; `govern` comes before the first call. */
  constructor(snapshot?: GateSnapshot) {
    if (!activation.installed) {
      throw ApplicationFailure.nonRetryable(
        'ApprovalGate needs a worker made by createWorker from countersign/worker',
        'internal',
      );
    }
    this.#ledger = snapshot?.ledger ?? emptyLedger(engine);
    this.#journal = snapshot?.journal ?? [];
    this.#indexed = this.#ledger.open;
    this.#watch = new DeadlineWatch({
      open: () => this.#ledger.open,
      decide: (decision, atMs) => this.#takeSignal(decision, atMs),
      expire: (requestId) => this.#apply({ kind: 'expire', atMs: Date.now(), requestId }),
    });
    this.#register();
    void CancellationScope.nonCancellable(() => this.#attend());
  }

  /** Puts the gate under its policies, once. */
  govern(options: GateOptions): void {
    const { ceiling, run } = options.policies;
    const layers = {
      ...(ceiling === undefined ? {} : { ceiling: compilePolicy(ceiling, 'ceiling') }),
      ...(run === undefined ? {} : { run: compilePolicy(run, 'run') }),
    };
    this.#governed = { options, layers, limits: limitsOf(options.policies) };
  }

  get ledger(): Ledger {
    return this.#ledger;
  }

  /** True while the gate itself has an activity running: the run must not continue as new then. */
  get busy(): boolean {
    return this.#watch.arbitrating;
  }

  /** True when this link has grown enough: schedule nothing new, and continue as new once nothing runs (I11). */
  get wantsRollOver(): boolean {
    const { continueAsNewSuggested, historyLength } = workflowInfo();
    const { historyEvents, updates } = this.#rules.options.rollOver;
    return continueAsNewSuggested || historyLength >= historyEvents || this.#updates >= updates;
  }

  /** Rules on one call and, for `ask`, opens its request. The call that is admitted here is the one that runs (I8). */
  admit(call: ToolCall, tool: ToolDefinition, contextSummary: string): Admission {
    const { callId, args } = call;
    const { name: toolName, risk, subject } = tool;
    const atMs = Date.now();
    const digest = digestOf(call, tool);
    if (typeof digest !== 'string') return this.refuse(callId, toolName, sentences.failed(digest.message));
    const ruling = evaluate(
      this.#rules.layers,
      { tool: toolName, args, risk, subject },
      { engine: this.#ledger.engine },
    );
    if (ruling.action === 'allow') {
      this.#apply({ kind: 'rule', atMs, callId, toolName, outcome: 'allowed', ruling, digest });
      return { kind: 'allowed' };
    }
    if (ruling.action === 'deny') {
      this.#apply({ kind: 'rule', atMs, callId, toolName, outcome: 'denied_by_policy', ruling, digest });
      return {
        kind: 'answered',
        content: sentences.deniedByPolicy(toolName, ruling.reason),
        outcome: 'denied_by_policy',
      };
    }
    if (this.#ledger.open.length >= this.#rules.limits.maxPending) {
      return this.refuse(callId, toolName, sentences.tooManyPending);
    }
    const { timeoutMs } = this.#rules.limits;
    const deadlineMs = timeoutMs === null ? null : atMs + timeoutMs;
    const request: ApprovalRequest = {
      requestId: uuid4().replaceAll('-', ''),
      workflowId: workflowInfo().workflowId,
      toolName,
      arguments: args,
      riskLevel: risk,
      assessment: defaultAssessment(risk),
      agentName: this.#rules.options.agent,
      callerUserId: this.#rules.options.caller?.userId ?? null,
      contextSummary: contextSummary.slice(0, 500),
      rule: ruling.rule,
      reason: ruling.reason ?? (ruling.rule === null ? `Risk default for ${risk}` : `Rule ${ruling.rule} asks`),
      requestedAt: iso(atMs),
      deadline: deadlineMs === null ? null : iso(deadlineMs),
      digest,
      lineage: [],
      metadata: this.#rules.options.metadata ?? {},
      reviewers: [],
      shown: 'all',
    };
    this.#apply({ kind: 'open', atMs, booked: { callId, deadlineMs, request }, ruling });
    return { kind: 'asked', requestId: request.requestId };
  }

  /** Settles a call that must not run and that no policy needs to see: unknown tool, bad arguments, a limit. */
  refuse(callId: string, toolName: string, content: string): Admission {
    this.#apply({
      kind: 'rule',
      atMs: Date.now(),
      callId,
      toolName,
      outcome: 'refused',
      reason: content.slice(0, 500),
    });
    return { kind: 'answered', content, outcome: 'refused' };
  }

  /** How an asked call was settled, or undefined while it is open. */
  settlement(requestId: string): Settlement | undefined {
    const found = findRequest(this.#ledger, requestId);
    return found !== undefined && 'settlement' in found ? found.settlement : undefined;
  }

  /** What the model is told of a request that was settled without the tool running. */
  sentence(settlement: Settlement): string {
    return settledSentence(settlement, this.#rules.limits.timeoutMs);
  }

  /** The proof for the tool activity that this call passed; journal entries ride along (design section 6). */
  permit(call: ToolCall, tool: ToolDefinition, requestId?: string): Permit {
    const { agent, caller } = this.#rules.options;
    return {
      workflowId: workflowInfo().workflowId,
      callId: call.callId,
      digest: callDigest({ tool: tool.name, args: call.args, definition: tool.definition }),
      outcome: requestId === undefined ? 'allowed' : 'approved',
      ...(requestId === undefined ? {} : { requestId }),
      definition: tool.definition,
      agent,
      ...(caller === undefined ? {} : { caller }),
      journal: this.takeJournal(),
    };
  }

  /** Records how an admitted call ended. */
  finished(callId: string, ran: Ran): void {
    this.#apply({ kind: 'ran', atMs: Date.now(), callId, ran });
  }

  /** Settles everything open as cancelled and clears the index: the run is ending. */
  cancelAll(reason: string): void {
    for (const { request } of this.#ledger.open) {
      this.#apply({ kind: 'cancel', atMs: Date.now(), requestId: request.requestId, reason });
    }
    this.#writeIndex();
  }

  /** The journal entries that no payload has carried yet; the caller writes them into the payload at hand. */
  takeJournal(): JournalEntry[] {
    const entries = this.#journal;
    this.#journal = [];
    return entries;
  }

  /** The next link's memo: continue-as-new does not carry what a link wrote there. */
  memo(): Record<string, unknown> {
    const kept = Object.entries(workflowInfo().memo ?? {}).filter(([, value]) => !isUndecodable(value));
    return { ...Object.fromEntries(kept), [memoName]: approvalMemo(this.#ledger, []).memo };
  }

  snapshot(): GateSnapshot {
    return { ledger: this.#ledger, journal: this.takeJournal() };
  }

  get #rules(): Governed {
    if (this.#governed !== undefined) return this.#governed;
    throw ApplicationFailure.nonRetryable('ApprovalGate: call govern() before the first call', 'internal');
  }

  #apply(command: LedgerCommand): Receipt | undefined {
    const { ledger, entries, receipt } = reduce(this.#ledger, command);
    this.#ledger = ledger;
    this.#journal.push(...entries);
    return receipt;
  }

  #register(): void {
    setHandler(decideSignal, (payload, eventId) => this.#onSignal(payload, eventId ?? ''));
    setHandler(decideUpdate, (payload) => this.#onUpdate(payload), { validator: (payload) => this.#validate(payload) });
    setHandler(approvalsQuery, (filter) => this.#onQuery(filter));
    // A signal under any other name would be buffered in silence: record it instead.
    setDefaultSignalHandler((_name, ...payloads) => {
      const undecodable = payloads.some(isUndecodable);
      const size = payloads.reduce<number>((sum, each) => sum + sizeOf(each), 0);
      this.#refuse(undecodable ? 'undecodable' : 'invalid_decision', size);
    });
  }

  /** Total: whatever arrives, the run goes on, and what changes nothing is counted (I4, I5). */
  #onSignal(payload: unknown, eventId: string): void {
    try {
      if (isUndecodable(payload)) return this.#refuse('undecodable', sizeOf(payload));
      const items: unknown[] = Array.isArray(payload) ? payload : [payload];
      if (items.length === 0 || items.length > maxDecisions) return this.#refuse('invalid_decision', sizeOf(payload));
      for (const item of items) {
        const parsed = parseDecision(item);
        if ('problem' in parsed) this.#refuse(parsed.problem.code, sizeOf(item));
        else if (!this.#watch.park(parsed.decision, eventId)) this.#takeSignal(parsed.decision, Date.now());
      }
    } catch {
      this.#refuse('internal', 0);
    }
  }

  #takeSignal(decision: ParsedDecision, atMs: number): void {
    const receipt = this.#apply({ kind: 'decide', atMs, decision });
    if (receipt?.code !== undefined) this.#refuse(receipt.code, sizeOf(decision), decision.requestId);
  }

  #refuse(code: ProblemCode, size: number, requestId?: string): void {
    const refused = { code, ...(requestId === undefined ? {} : { requestId }), size };
    this.#apply({ kind: 'refuse', atMs: Date.now(), refused });
  }

  /** Refuses before anything enters history. Validators do not run on replay and must change nothing. */
  #validate(payload: unknown): void {
    if (isUndecodable(payload)) throw failure('undecodable', `the decision could not be decoded: ${payload.why}`);
    if (Array.isArray(payload)) {
      if (payload.length > 0 && payload.length <= maxDecisions) return;
      throw failure('invalid_decision', `a list holds 1 to ${maxDecisions} decisions, not ${payload.length}`);
    }
    const receipt = this.#preview(payload);
    if (receipt.code !== undefined) throw failure(receipt.code, receipt.message, receipt);
  }

  #preview(payload: unknown): Receipt {
    const parsed = parseDecision(payload);
    if ('problem' in parsed) return { requestId: '', accepted: false, ...parsed.problem };
    return reduce(this.#ledger, { kind: 'decide', atMs: Date.now(), decision: parsed.decision }).receipt!;
  }

  #onUpdate(payload: unknown): Receipt | Receipt[] {
    this.#updates++;
    return Array.isArray(payload) ? payload.map((item) => this.#settleOne(item)) : this.#settleOne(payload);
  }

  #settleOne(payload: unknown): Receipt {
    const parsed = parseDecision(payload);
    const receipt: Receipt =
      'problem' in parsed
        ? { requestId: '', accepted: false, ...parsed.problem }
        : this.#apply({ kind: 'decide', atMs: Date.now(), decision: parsed.decision })!;
    if (receipt.code !== undefined) this.#refuse(receipt.code, sizeOf(payload), receipt.requestId || undefined);
    return receipt;
  }

  #onQuery(filter: unknown): ApprovalRequest[] | ApprovalDetails | null {
    const requestId =
      typeof filter === 'object' && filter !== null ? (filter as { requestId?: unknown }).requestId : undefined;
    if (requestId === undefined) return this.#ledger.open.map(({ request }) => request);
    const found = typeof requestId === 'string' ? findRequest(this.#ledger, requestId) : undefined;
    return found === undefined ? null : detailsOf(found);
  }

  /** Keeps index and timer as the ledger needs them, once for each activation in which it changed. */
  async #attend(): Promise<void> {
    for (;;) {
      await condition(() => this.#ledger.open !== this.#indexed || this.#watch.needsAttention);
      this.#watch.attend();
      if (this.#ledger.open !== this.#indexed) this.#writeIndex();
    }
  }

  #writeIndex(): void {
    if (this.#ledger.open === this.#indexed) return;
    this.#indexed = this.#ledger.open;
    const { ids, tags, dueMs } = approvalIndex(this.#ledger);
    upsertSearchAttributes([
      { key: idsKey, value: ids.length === 0 ? null : ids },
      { key: tagsKey, value: tags.length === 0 ? null : tags },
      { key: dueKey, value: dueMs === null ? null : new Date(dueMs) },
    ]);
    const { memo, rest } = approvalMemo(this.#ledger, this.takeJournal());
    this.#journal = rest;
    upsertMemo({ [memoName]: memo });
    setCurrentDetails(currentDetails(this.#ledger));
  }
}

function detailsOf(found: BookedRequest | SettledRequest): ApprovalDetails {
  return 'settlement' in found ? { ...found.request, settled: found.settlement } : found.request;
}

/** Arguments that have no canonical JSON cannot be approved: what would run could not be told. */
function digestOf({ args }: ToolCall, { name, definition }: ToolDefinition): string | Problem {
  try {
    return callDigest({ tool: name, args, definition });
  } catch (error) {
    return { code: 'arguments_invalid', message: error instanceof Error ? error.message : String(error) };
  }
}

function failure(code: ProblemCode, message: string, receipt?: Receipt): ApplicationFailure {
  return ApplicationFailure.create({
    message,
    type: code,
    nonRetryable: true,
    details: receipt === undefined ? [] : [receipt],
  });
}

/** Characters of a value's JSON: all that is kept of a refused payload (I4). */
function sizeOf(value: unknown): number {
  if (isUndecodable(value)) return value.size;
  return JSON.stringify(value)?.length ?? 0;
}

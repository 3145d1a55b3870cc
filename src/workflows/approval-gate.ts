/**
 * The gate: the workflow step that every tool call passes (I1). One object, made at the top of a workflow: it
 * registers its own handlers, keeps the book, arms one timer, and hands over a snapshot for continue-as-new.
 */
import {
  ApplicationFailure,
  CancellationScope,
  condition,
  defineQuery,
  setHandler,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import type { ApprovalDetails, Caller, Permit } from '../contract.ts';
import { queryNames } from '../contract.ts';
import type { ApprovalRequest, OutcomeName, Ran, Settlement } from '../core/approval.ts';
import { assessRecorded } from '../core/assess-recorded.ts';
import type { CompiledAssessRule } from '../core/assess-rule.ts';
import { compileAssessRules } from '../core/assess-rule.ts';
import type { Assessment } from '../core/assessment.ts';
import { callDigest } from '../core/digest.ts';
import type { JournalEntry } from '../core/journal-entry.ts';
import type { BookedRequest, Ledger, SettledRequest } from '../core/ledger.ts';
import { findRequest, iso } from '../core/ledger.ts';
import { limitsOf } from '../core/limits.ts';
import type { PolicyLayers } from '../core/policy.ts';
import type { Problem } from '../core/problem.ts';
import type { RollOver } from '../core/run-config.ts';
import type { CompiledLayers, Ruling } from '../core/ruling.ts';
import { compilePolicy, evaluate } from '../core/ruling.ts';
import { sentences, settledSentence } from '../core/sentences.ts';
import type { ShellSplit } from '../core/shell-parts.ts';
import { notSplit } from '../core/shell-parts.ts';
import type { JsonObject, ToolCall, ToolDefinition } from '../core/tool-call.ts';
import { activation } from './activation.ts';
import type { BookSnapshot } from './book.ts';
import { Book } from './book.ts';
import { DeadlineWatch } from './deadline-watch.ts';
import { openDecisionDoor } from './decision-door.ts';
import { IndexWriter } from './index-writer.ts';

export interface GateOptions {
  agent: string;
  /** The policies as recorded in the run; never read from a file or the environment here (I12). */
  policies: PolicyLayers;
  caller?: Caller;
  metadata?: JsonObject;
  rollOver: RollOver;
}

/** The gate's answer to one call. `answered`: it will not run, and `content` is what the model is told. */
export type Admission =
  | { kind: 'allowed' }
  | { kind: 'asked'; requestId: string }
  | { kind: 'answered'; content: string; outcome: OutcomeName };

interface Waiting {
  predicate: () => boolean;
  resolve: () => void;
}

/** What was found out about a call where its arguments were parsed, and recorded with it (design section 5). */
export interface CallFacts {
  /** The model's text beside the call, else the last user message. */
  contextSummary: string;
  /** Where the tool has a shell subject: its split. */
  shell?: ShellSplit & { argument: string };
  assessment?: Assessment;
}

interface Governed {
  options: GateOptions;
  layers: CompiledLayers;
  assessRules: CompiledAssessRule[];
}

const approvalsQuery = defineQuery<ApprovalRequest[] | ApprovalDetails | null, [unknown?]>(queryNames.approvals);

export class ApprovalGate {
  readonly #book: Book;
  readonly #watch: DeadlineWatch;
  readonly #index: IndexWriter;
  #governed: Governed | undefined;
  #waiting: Waiting[] = [];

  /** Registers the handlers at once, before any policy is known; `govern` comes before the first call. */
  constructor(snapshot?: BookSnapshot) {
    if (!activation.installed) {
      throw misused('ApprovalGate needs a worker made by createWorker from countersign/worker');
    }
    this.#book = new Book(snapshot);
    this.#index = new IndexWriter(this.#book);
    this.#watch = new DeadlineWatch(this.#book);
    openDecisionDoor(this.#book, this.#watch);
    setHandler(approvalsQuery, (filter) => this.#find(filter));
    void CancellationScope.nonCancellable(() => this.#attend());
  }

  /** Puts the gate under its policies, once. */
  govern(options: GateOptions): void {
    const { ceiling, run } = options.policies;
    const layers = {
      ...(ceiling === undefined ? {} : { ceiling: compilePolicy(ceiling, 'ceiling') }),
      ...(run === undefined ? {} : { run: compilePolicy(run, 'run') }),
    };
    this.#governed = { options, layers, assessRules: compileAssessRules(options.policies) };
  }

  get ledger(): Ledger {
    return this.#book.ledger;
  }

  /** True while the gate itself has an activity running: the run must not continue as new then. */
  get busy(): boolean {
    return this.#watch.arbitrating;
  }

  /** True when this link has grown enough: schedule nothing new, and continue as new once nothing runs (I11). */
  get wantsRollOver(): boolean {
    return this.#book.outgrew(this.#rules.options.rollOver);
  }

  /** Rules on one call and, for `ask`, opens its request. The call that is admitted here is the one that runs (I8). */
  admit(call: ToolCall, tool: ToolDefinition, facts: CallFacts): Admission {
    const { callId } = call;
    const { name: toolName } = tool;
    const digest = digestOf(call, tool);
    if (typeof digest !== 'string') return this.refuse(callId, toolName, sentences.failed(digest.message));
    const { ruling, assessment } = this.#rule(call, tool, facts, digest);
    const atMs = Date.now();
    if (ruling.action === 'ask') {
      const { timeoutMs, maxPending } = limitsOf(this.#rules.options.policies, ruling);
      if (this.ledger.open.length >= maxPending) return this.refuse(callId, toolName, sentences.tooManyPending);
      const deadlineMs = timeoutMs === null ? null : atMs + timeoutMs;
      const { contextSummary } = facts;
      const request = this.#request(call, tool, ruling, { digest, atMs, deadlineMs, contextSummary, assessment });
      this.#book.apply({ kind: 'open', atMs, booked: { callId, deadlineMs, request }, ruling });
      return { kind: 'asked', requestId: request.requestId };
    }
    const outcome = ruling.action === 'allow' ? 'allowed' : 'denied_by_policy';
    const { reversible } = assessment;
    this.#book.apply({ kind: 'rule', atMs, callId, toolName, outcome, ruling, digest, reversible });
    if (outcome === 'allowed') return { kind: 'allowed' };
    return { kind: 'answered', content: sentences.deniedByPolicy(toolName, ruling.reason), outcome };
  }

  /** Settles a call that must not run and that no policy needs to see: unknown tool, bad arguments, a limit. */
  refuse(callId: string, toolName: string, content: string): Admission {
    const reason = content.slice(0, 500);
    this.#book.apply({ kind: 'rule', atMs: Date.now(), callId, toolName, outcome: 'refused', reason });
    return { kind: 'answered', content, outcome: 'refused' };
  }

  /** How an asked call was settled, or undefined while it is open. */
  settlement(requestId: string): Settlement | undefined {
    const found = findRequest(this.ledger, requestId);
    return found !== undefined && 'settlement' in found ? found.settlement : undefined;
  }

  /** What the model is told of a request that was settled without the tool running. */
  sentence(requestId: string): string {
    const found = findRequest(this.ledger, requestId);
    if (found === undefined || !('settlement' in found)) throw misused(`request ${requestId} is not settled`);
    const { deadlineMs, request, settlement } = found;
    return settledSentence(settlement, deadlineMs === null ? null : deadlineMs - Date.parse(request.requestedAt));
  }

  /** The proof for the tool activity that this call passed; journal entries ride along (design section 6). */
  permit(call: ToolCall, tool: ToolDefinition, requestId?: string): Permit {
    const { agent, caller } = this.#rules.options;
    return {
      workflowId: workflowInfo().workflowId,
      callId: call.callId,
      digest: callDigest({ tool: tool.name, args: call.args, definition: tool.definition }),
      ...(requestId === undefined ? { outcome: 'allowed' } : { outcome: 'approved', requestId }),
      definition: tool.definition,
      agent,
      ...(caller === undefined ? {} : { caller }),
      journal: this.takeJournal(),
    };
  }

  /** Records how an admitted call ended. */
  finished(callId: string, ran: Ran): void {
    this.#book.apply({ kind: 'ran', atMs: Date.now(), callId, ran });
  }

  /** Settles everything open as cancelled, in the activation that cancelled the run; `writeLast` must follow. */
  cancelAll(reason: string): void {
    for (const { request } of this.ledger.open) {
      this.#book.apply({ kind: 'cancel', atMs: Date.now(), requestId: request.requestId, reason });
    }
    this.#book.takeBack();
  }

  /** Clears the index and writes down what is left, for a run that ends without a result or details of its failure. */
  writeLast(): void {
    this.#index.writeLast();
  }

  /** The journal entries that no payload has carried yet; the caller writes them into the payload at hand. */
  takeJournal(): JournalEntry[] {
    return this.#book.takeJournal();
  }

  /** What the next link's constructor takes, and its memo. */
  snapshot(): { gate: BookSnapshot; memo: Record<string, unknown> } {
    return { gate: { ledger: this.ledger, journal: this.takeJournal() }, memo: this.#index.memo() };
  }

  #rule(
    { args }: ToolCall,
    tool: ToolDefinition,
    facts: CallFacts,
    digest: string,
  ): { ruling: Ruling; assessment: Assessment } {
    const { layers, assessRules, options } = this.#rules;
    const { name, risk, subject } = tool;
    const call = { tool: name, args, risk, subject, ...shellOf(tool, facts) };
    const assessment = assessRecorded(call, assessRules, facts.assessment === undefined ? [] : [facts.assessment]);
    const { agent, caller, metadata } = options;
    const { engine, counts } = this.ledger;
    const context = { engine, agent, caller, metadata, counts, assessment, digest, atMs: Date.now() };
    return { ruling: evaluate(layers, call, context), assessment };
  }

  get #rules(): Governed {
    if (this.#governed !== undefined) return this.#governed;
    throw misused('ApprovalGate: call govern() before the first call');
  }

  /**
   * Waits until `predicate` holds, after timer and index have been seen to. What a run does next waits here and not at
   * a condition of its own: a worker that takes a run over may find two activations of the first one as one, in which
   * its jobs come in another order (`test/workflows/merged-activations.test.ts`), and the order of commands must be the
   * same (I12). Rejects when the scope it is called in is cancelled.
   */
  until(predicate: () => boolean): Promise<void> {
    const held = new Promise<void>((resolve) => this.#waiting.push({ predicate, resolve }));
    return Promise.race([held, CancellationScope.current().cancelRequested]);
  }

  /** The one place where the run wakes: timer first, then index, then whoever waits, in the order they came. */
  async #attend(): Promise<void> {
    const isHeld = ({ predicate }: Waiting): boolean => predicate();
    for (;;) {
      await condition(() => this.#index.stale || this.#watch.needsAttention || this.#waiting.some(isHeld));
      this.#watch.attend();
      this.#index.write();
      const held = this.#waiting.filter(isHeld);
      this.#waiting = this.#waiting.filter((each) => !held.includes(each));
      for (const { resolve } of held) resolve();
    }
  }

  #request(
    { args }: ToolCall,
    { name, risk }: ToolDefinition,
    ruling: Ruling,
    facts: {
      digest: string;
      atMs: number;
      deadlineMs: number | null;
      contextSummary: string;
      assessment: Assessment;
    },
  ): ApprovalRequest {
    const { agent, caller, metadata } = this.#rules.options;
    return {
      requestId: uuid4().replaceAll('-', ''),
      workflowId: workflowInfo().workflowId,
      toolName: name,
      arguments: args,
      riskLevel: risk,
      assessment: facts.assessment,
      agentName: agent,
      callerUserId: caller?.userId ?? null,
      contextSummary: facts.contextSummary.slice(0, 500),
      rule: ruling.rule,
      reason: ruling.reason ?? (ruling.rule === null ? `Risk default for ${risk}` : `Rule ${ruling.rule} asks`),
      requestedAt: iso(facts.atMs),
      deadline: facts.deadlineMs === null ? null : iso(facts.deadlineMs),
      digest: facts.digest,
      lineage: [],
      metadata: metadata ?? {},
      reviewers: [],
      shown: 'all',
    };
  }

  #find(filter: unknown): ApprovalRequest[] | ApprovalDetails | null {
    const requestId =
      typeof filter === 'object' && filter !== null && 'requestId' in filter ? filter.requestId : undefined;
    if (requestId === undefined) return this.ledger.open.map(({ request }) => request);
    const found = typeof requestId === 'string' ? findRequest(this.ledger, requestId) : undefined;
    return found === undefined ? null : detailsOf(found);
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

/** A split that is missing, or that is of another argument than the run recorded as the subject, splits nothing (I2). */
function shellOf({ subject, shellSubject }: ToolDefinition, { shell }: CallFacts): { shell?: ShellSplit } {
  if (shellSubject !== true) return {};
  return { shell: shell !== undefined && shell.argument === subject ? shell : notSplit };
}

function misused(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'internal');
}

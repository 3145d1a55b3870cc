import type { EvidenceCall } from '../../audit/evidence.ts';
import { checkedArguments } from '../../core/assess/argument-facts.ts';
import type { Assessment } from '../../core/assess/assessment.ts';
import { callDigest } from '../../core/base/digest.ts';
import { isObject } from '../../core/base/json.ts';
import { fits } from '../../core/base/shape.ts';
import { refusedBySecondGate, type Json, type JsonObject, type ToolDefinition } from '../../core/base/tool-call.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import type { ActivityEnd, ClaimedPermit, HistoryEvent } from '../../events/history-event.ts';
import type { CarriedPast } from '../../events/recorded-policies.ts';
import type { JournalEntry } from '../../core/ledger/journal-entry.ts';
import type { RequestRecord } from '../../core/ledger/ledger.ts';
import { continueArguments, continueAssessment, continueDefinition } from '../../core/policy/continue-request.ts';
import { type RunLimits, runMeasures } from '../../core/policy/policy.ts';
import { gatedArguments, renewedDefinition, type GatedDefinition } from '../../core/policy/gated-activity.ts';
import { notSplit, type ShellSplit } from '../../core/shell/parts.ts';
import type { ReadExecution } from '../history/history-chain.ts';

/** The arguments of a call, and the facts that the activity found when it parsed them. */
export interface EvidenceArguments {
  args?: JsonObject;
  shell?: ShellSplit & { argument: string };
  assessment?: Assessment;
}

/** A tool as the worker that refused to start it defines it, and the arguments as parsed by its schema. */
interface ChangedTool {
  definition: ToolDefinition;
  checked?: EvidenceArguments;
}

/** Finds the call of each journal entry in the history of a run. The entry has only the digest of its call. */
export class EvidenceCalls {
  #isAgentRun = false;
  /** The calls of each turn of the model, by the number of the turn. */
  readonly #turns = new Map<number, readonly EvidenceArguments[]>();
  /** Parsed arguments: of a reviewer's edit, or of a call that may have run. `written`: before parsing. */
  readonly #edits: { tool: unknown; written: unknown; parsed: EvidenceArguments; atMs: number }[] = [];
  /** The tools that changed after the ruling on a call and before its start. */
  readonly #changes: { atMs: number; permit: ClaimedPermit; change: ChangedTool }[] = [];
  /** The arguments with which the activities of admitted calls were started. `values` has them by position. */
  readonly #started: { activity: string; permit: ClaimedPermit; values: (Json | undefined)[] }[] = [];
  /** The calls of requests, for later entries about the same request. */
  readonly #asked = new Map<string, { call: EvidenceCall; digest: string }>();
  /** The requests that an execution took over from the one before, by id. */
  readonly #carried = new Map<string, RequestRecord>();

  /** `pasts` are the states that executions took over. Of their requests, only those with all arguments are of use. */
  constructor(executions: readonly ReadExecution[], pasts: readonly CarriedPast[]) {
    for (const event of executions.flatMap(({ events }) => events)) this.#take(event);
    for (const { gate } of pasts) {
      for (const record of [...gate.ledger.open, ...gate.ledger.settled]) {
        const { requestId, shown } = record.request;
        if (shown === 'all') this.#carried.set(requestId, record);
      }
    }
  }

  /** Keeps what an event tells about calls: model calls, edits, started tools, and tools that had changed. */
  #take({ what, at }: HistoryEvent): void {
    if (what?.kind === 'started') this.#isAgentRun = what.isAgentRun;
    if (what?.kind !== 'scheduled' && what?.kind !== 'ended') return;
    const { activity } = what;
    const end: ActivityEnd = what.kind === 'ended' ? what.end : { result: undefined };
    if (activity.kind === 'tool' && typeof activity.permit.digest === 'string') {
      const { name, permit, values } = activity;
      const read = values.map((each) => (isUndecodable(each) ? undefined : (each as Json | undefined)));
      if (what.kind === 'scheduled') this.#started.push({ activity: name, permit, values: read });
      const change = changeIn(end);
      if (change !== undefined) this.#changes.push({ atMs: Date.parse(at), permit, change });
    }
    const result = 'result' in end && isObject(end.result) && !isUndecodable(end.result) ? end.result : {};
    if (activity.kind === 'model' && 'calls' in result) {
      const { turn } = (isObject(activity.input) ? activity.input : {}) as { turn?: number };
      this.#turns.set(turn ?? NaN, result['calls'] as EvidenceArguments[]);
    } else if (activity.kind === 'edit' && fits(result, checkedArguments)) {
      const { tool, args: written } = activity.given;
      this.#edits.push({ tool, written, parsed: result, atMs: Date.parse(at) });
    }
  }

  /** Returns a call of the model by its id `TURN.INDEX`. */
  asked(callId: string): EvidenceArguments | undefined {
    const [turn, index] = callId.split('.').map(Number) as [number, number];
    return this.#turns.get(turn)?.[index - 1];
  }

  /** Returns the call of an entry, without arguments that no history keeps. Undefined if its tool is unknown. */
  of(entry: JournalEntry, tools: readonly ToolDefinition[], limits: RunLimits = {}): EvidenceCall | undefined {
    const { kind, requestId = '', digest } = entry;
    if (kind === 'ruling') return continueCall(entry, limits) ?? this.#new(entry, tools);
    const asked = this.#asked.get(requestId);
    if (kind === 'opened') {
      const found = continueCall(entry, limits) ?? this.#opened(entry, tools);
      if (found === undefined || digest === undefined) return undefined;
      // For later entries: if an edited call was not assessed, the assessment of the first arguments stays.
      const before = entry.by === 'edit' ? this.#asked.get(entry.byId ?? '')?.call.assessed : undefined;
      const later = found.assessed === undefined && before !== undefined ? { ...found, assessed: before } : found;
      this.#asked.set(requestId, { call: later, digest });
      return found;
    }
    if (asked === undefined) return undefined;
    const isOther = kind === 'settled' && digest !== undefined && digest !== asked.digest;
    return isOther ? this.#edited(asked.call, digest) : asked.call;
  }

  /** Returns the call of a request that an execution took over; undefined if its arguments do not fit its digest. */
  ofRecord({ request, ruled }: RequestRecord): EvidenceCall | undefined {
    const { toolName: tool, arguments: args, riskLevel: risk, digest } = request;
    const { definition, subject, shell, beside, assessment } = ruled;
    if (digestOf(tool, args, definition) !== digest) return undefined;
    const call = withoutUndefined({ tool, args, risk, definition, subject, shell, beside, assessed: assessment });
    this.#asked.set(request.requestId, { call, digest });
    return call;
  }

  /** Finds the call of a new request: as a reviewer edited it or as the gate got it, else as it was carried over. */
  #opened(entry: JournalEntry, tools: readonly ToolDefinition[]): EvidenceCall | undefined {
    const { by, byId, digest = '', requestId = '' } = entry;
    const before = by === 'edit' ? this.#asked.get(byId ?? '') : undefined;
    const found = before === undefined ? this.#new(entry, tools) : this.#edited(before.call, digest);
    const record = this.#carried.get(requestId);
    return found?.args !== undefined || record === undefined ? found : (this.ofRecord(record) ?? found);
  }

  /** Finds the definition and the arguments whose digest is that of the entry. */
  #new(entry: JournalEntry, tools: readonly ToolDefinition[]): EvidenceCall | undefined {
    const { toolName = '', digest = '' } = entry;
    const definitions = this.#definitions(toolName, tools, Date.parse(entry.at));
    for (const definition of definitions) {
      for (const facts of this.#given(entry, definition)) {
        if (digestOf(toolName, facts.args, definition.definition) === digest) return callOf(definition, facts);
      }
    }
    // A call of a guarded activity has no assessment, so policies may decide on it without its arguments.
    const newest = this.#isAgentRun ? undefined : definitions[0];
    return newest === undefined ? undefined : callOf(newest, {});
  }

  /** Returns every definition of a tool up to a time, the newest first. A changed one keeps the greater risk. */
  #definitions(name: string, tools: readonly ToolDefinition[], atMs: number): ToolDefinition[] {
    const known = tools.filter((tool) => tool.name === name);
    for (const { atMs: sinceMs, permit, change } of this.#changes) {
      const { definition } = change;
      if (definition.name !== name || sinceMs > atMs) continue;
      const admitted = known.findLast((each) => each.definition === permit.definition) ?? known.at(-1);
      known.push(admitted === undefined ? definition : renewedDefinition(definition, admitted));
    }
    return known.toReversed();
  }

  /** Returns the arguments that a call may have. `TURN.INDEX.N` is the id of call `TURN.INDEX` in its Nth request. */
  #given({ callId = '', by, at }: JournalEntry, definition: ToolDefinition): EvidenceArguments[] {
    if (!this.#isAgentRun) return this.#passed(callId, definition);
    if (by === 'unknown') return this.#sent(callId).map((sent) => this.#lookedAt(definition, sent, Date.parse(at)));
    const [turn, index, again] = callId.split('.');
    if (again === undefined) {
      const call = this.asked(callId);
      return call?.args === undefined ? [] : [{ ...call, args: call.args }];
    }
    // A worker that refused to start the call may have parsed its arguments again. Otherwise take those of the start.
    const earlier = again === '2' ? `${turn}.${index}` : `${turn}.${index}.${Number(again) - 1}`;
    return this.#changes.flatMap(({ permit, change: { checked } }) => {
      if (permit.callId !== earlier) return [];
      return checked === undefined ? this.#sent(earlier) : [checked];
    });
  }

  #sent(callId: string): EvidenceArguments[] {
    return this.#started.flatMap(({ permit, values: [args] }) => {
      return permit.callId === callId && isObject(args) ? [{ args }] : [];
    });
  }

  /** Adds the newest facts about the arguments of a call that may have run, if an activity has parsed them. */
  #lookedAt({ name, definition }: ToolDefinition, sent: EvidenceArguments, untilMs: number): EvidenceArguments {
    const digest = digestOf(name, sent.args, definition);
    const found = this.#edits.findLast(({ tool, written, atMs }) => {
      const isSame = isObject(written) && digestOf(name, written as JsonObject, definition) === digest;
      return tool === name && atMs <= untilMs && isSame;
    });
    return { ...found?.parsed, ...sent };
  }

  /** Returns the arguments with which a guarded activity was started, or was refused because it had changed. */
  #passed(callId: string, definition: GatedDefinition): EvidenceArguments[] {
    const first = callId.split('.', 2).join('.');
    return this.#started.flatMap(({ activity, permit, values }) => {
      if (activity !== definition.name || permit.callId.split('.', 2).join('.') !== first) return [];
      const read = gatedArguments(definition, values);
      return 'args' in read ? [{ args: read.args }] : [];
    });
  }

  /** Returns a call with the arguments of a reviewer's edit, as an activity validated them; undefined without any. */
  #edited(before: EvidenceCall, digest: string): EvidenceCall | undefined {
    const { tool, definition, subject, shell: splitBefore } = before;
    const edit = this.#edits.find((each) => {
      return each.tool === tool && digestOf(tool, each.parsed.args, definition) === digest;
    });
    if (edit === undefined) return undefined;
    const { args, shell, assessment: assessed } = edit.parsed;
    const isOfSubject = shell !== undefined && (subject === undefined || shell.argument === subject);
    const split = isOfSubject ? shell : splitBefore === undefined ? undefined : notSplit;
    return withoutUndefined({ ...before, args, shell: split, assessed });
  }
}

/** Returns the call of a request to continue beyond a limit. Its arguments follow from the limits themselves. */
function continueCall({ toolName, digest }: JournalEntry, limits: RunLimits): EvidenceCall | undefined {
  if (toolName !== continueDefinition.name) return undefined;
  const amounts = runMeasures.flatMap((measure) => {
    const { ask, end } = limits[measure] ?? {};
    // A limit that would end the run asks instead if the cost is unknown.
    return [ask, end].flatMap((amount) => (amount === undefined ? [] : [{ measure, amount }]));
  });
  const args = amounts.map(continueArguments).find((each) => {
    return digestOf(toolName, each, continueDefinition.definition) === digest;
  });
  return args && callOf(continueDefinition, { args, assessment: continueAssessment });
}

/** Returns the changed tool that a worker refused to start. Never reads it from an error that the tool threw. */
function changeIn(end: ActivityEnd): ChangedTool | undefined {
  const [by, change] = 'failure' in end ? (end.failure.details ?? []) : [];
  const { definition } = isObject(change) ? change : {};
  return by === refusedBySecondGate && definition !== undefined ? (change as ChangedTool) : undefined;
}

function callOf(tool: ToolDefinition, { args, shell, assessment: assessed }: EvidenceArguments): EvidenceCall {
  const { name, risk, definition, subject, shellSubject, beside } = tool;
  const split: ShellSplit | undefined =
    shellSubject !== true ? undefined : shell !== undefined && shell.argument === subject ? shell : notSplit;
  return withoutUndefined({ tool: name, args, risk, definition, subject, shell: split, beside, assessed });
}

/** Returns the digest of a call; undefined without arguments, or if they have no canonical JSON. */
function digestOf(tool: string, args: JsonObject | undefined, definition: string): string | undefined {
  if (args === undefined) return undefined;
  try {
    return callDigest({ tool, args, definition });
  } catch {
    return undefined;
  }
}

function withoutUndefined<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Value;
}

/** What the history of a run says about its rulings: policies, calls of the model, arguments of activities. */
import type { EvidenceContext } from '../core/audit/evidence.ts';
import { refusedBySecondGate } from '../core/base/tool-failure.ts';
import { isObject } from '../core/base/is-object.ts';
import type { Json, JsonObject, ToolDefinition } from '../core/base/tool-call.ts';
import { isUndecodable } from '../core/base/undecodable.ts';
import type { ActivityEnd, ClaimedPermit, Fact, Started } from '../core/events/history-event.ts';
import { RecordedPolicies } from '../core/events/recorded-policies.ts';
import type { ShellSplit } from '../core/shell/parts.ts';
import type { Assessment } from '../core/assess/assessment.ts';
import type { ReadExecution } from './history-chain.ts';

/** Arguments, and what an activity found out when it parsed them. */
export interface ParsedArguments {
  args?: JsonObject;
  shell?: ShellSplit & { argument: string };
  assessment?: Assessment;
}

/** A tool as the worker that refused to start it defines it, and the arguments parsed by its schema. */
interface ChangedTool {
  definition: ToolDefinition;
  checked?: ParsedArguments;
}

export interface HistoryFacts {
  isAgentRun: boolean;
  policies: RecordedPolicies;
  /** Caller and metadata, from the time of each execution on. */
  contexts: { sinceMs: number; context: EvidenceContext }[];
  /** The calls of each turn of the model. */
  turns: Map<number, readonly ParsedArguments[]>;
  edits: { tool: string; parsed: ParsedArguments }[];
  /** Tools that had changed when a call was to start. */
  changes: { atMs: number; permit: ClaimedPermit; change: ChangedTool }[];
  /** What was passed to activities behind the gate. `values`: positional, for a guarded activity. */
  started: { activity: string; permit: ClaimedPermit; values: (Json | undefined)[] }[];
}

/** Reads the facts from the executions of a run, oldest first. */
export function historyFacts(executions: readonly ReadExecution[]): HistoryFacts {
  const facts: HistoryFacts = {
    isAgentRun: false,
    policies: new RecordedPolicies(),
    contexts: [],
    turns: new Map(),
    edits: [],
    changes: [],
    started: [],
  };
  for (const { what, at } of executions.flatMap(({ events }) => events)) {
    facts.policies.take(what);
    take(facts, what, Date.parse(at));
  }
  return facts;
}

function take(facts: HistoryFacts, what: Fact | undefined, atMs: number): void {
  if (what?.kind === 'started') {
    facts.isAgentRun = what.isAgentRun;
    facts.contexts.push({ sinceMs: atMs, context: contextOf(what) });
  } else if (what?.kind === 'ended') {
    takeEnd(facts, what, atMs);
  } else if (what?.kind === 'scheduled') {
    const { activity } = what;
    if (activity.kind === 'tool' && isWhole(activity.permit)) {
      const values = activity.values.map((each) => (isUndecodable(each) ? undefined : (each as Json | undefined)));
      facts.started.push({ activity: activity.name, permit: activity.permit, values });
    } else if ((activity.kind === 'config' || activity.kind === 'verified') && isObject(activity.context)) {
      const [present] = facts.contexts.slice(-1);
      if (present !== undefined) present.context = activity.context;
    }
  }
}

function takeEnd(facts: HistoryFacts, { activity, end }: Extract<Fact, { kind: 'ended' }>, atMs: number): void {
  if (activity.kind === 'tool') {
    const change = changeIn(end);
    if (change !== undefined && isWhole(activity.permit)) facts.changes.push({ atMs, permit: activity.permit, change });
  } else if ('result' in end && isObject(end.result)) {
    const { result } = end;
    if (activity.kind === 'model') {
      const { turn } = (activity.input ?? {}) as { turn: number };
      facts.turns.set(turn, result['calls'] as ParsedArguments[]);
    } else if (activity.kind === 'edit' && 'args' in result) {
      facts.edits.push({ tool: activity.tool as string, parsed: result });
    }
  }
}

/** The change of a tool for which a worker refused to start it. A tool's own failure cannot pass for that. */
function changeIn(end: ActivityEnd): ChangedTool | undefined {
  const [by, change] = 'failure' in end ? (end.failure.details ?? []) : [];
  const { definition } = isObject(change) ? change : {};
  return by === refusedBySecondGate && definition !== undefined ? (change as ChangedTool) : undefined;
}

function contextOf({ isAgentRun, input }: Started): EvidenceContext {
  if (!isAgentRun || !isObject(input) || isUndecodable(input)) return { unknown: ['caller', 'metadata'] };
  const { caller, metadata } = input;
  return {
    ...(caller !== undefined && { caller: caller as NonNullable<EvidenceContext['caller']> }),
    ...(metadata !== undefined && { metadata: metadata as JsonObject }),
  };
}

function isWhole({ digest }: ClaimedPermit): boolean {
  return typeof digest === 'string';
}

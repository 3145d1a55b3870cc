import type { Assessment } from '../core/assess/assessment.ts';
import type { CallRedaction } from './read-payloads.ts';
import type { Json, JsonObject } from '../core/base/tool-call.ts';

/** What is known of a run and of the calls of its turn, for the events that name it. */
export interface RunFacts {
  readonly workflowId: string;
  /** True once a policy of the run has said that reviewers see no arguments. */
  hidesArguments: boolean;
  /** True if the run redacts what reviewers see of the calls of this turn. */
  redacts: boolean;
  /** True if a policy came after the calls of this turn were redacted: it may hide more of them. */
  mayHideMore: boolean;
  callerUserId: string | null;
  metadata: JsonObject;
  lineage: string[];
  /** The calls of this turn, by call id. */
  readonly calls: Map<string, KnownCall>;
  /** The model's text with the calls of this turn, else the last text of the user. */
  contextSummary: string;
}

/** A call that the model asked for. */
export interface KnownCall {
  callId: string;
  toolName: string;
  arguments: Json;
  assessment?: Assessment;
  redaction?: CallRedaction;
  /** The arguments that ran, if a reviewer changed them. */
  ran?: Json;
  isAnswered: boolean;
}

/** The facts of a run of which nothing is known yet. */
export function noFacts(workflowId: string): RunFacts {
  return {
    workflowId,
    hidesArguments: false,
    redacts: false,
    mayHideMore: false,
    callerUserId: null,
    metadata: {},
    lineage: [],
    calls: new Map(),
    contextSummary: '',
  };
}

import type { Assessment } from '../core/assess/assessment.ts';
import type { CallRedaction } from './read-payloads.ts';
import {
  definitionChangedType,
  previewChangedType,
  leftInMidCallTypes,
  payloadNotKeptType,
  payloadUnreadType,
  resultWithheldType,
  secondGateTypes,
  toolFailedType,
  type Json,
  type JsonObject,
} from '../core/base/tool-call.ts';
import type { Ran } from '../core/ledger/approval.ts';
import { sentences } from '../core/ledger/sentences.ts';
import { isUndecodable } from '../core/base/undecodable.ts';
import { type ActivityEnd, type PlainFailure, textOf } from './history-event.ts';

/** What is known of a run and of the calls of its present turn. The events of later history events need it. */
export interface RunFacts {
  readonly workflowId: string;
  /** True once a policy of the run hides arguments from reviewers. */
  hidesArguments: boolean;
  /** True if the run redacts the calls of this turn for reviewers. */
  redacts: boolean;
  /** True if policies have changed since the calls of this turn were redacted, and may now hide more. */
  mayHideMore: boolean;
  callerUserId: string | null;
  metadata: JsonObject;
  lineage: string[];
  readonly calls: Map<string, KnownCall>;
  /** The model's text in this turn; if it wrote none, the user's last text. */
  contextSummary: string;
}

export interface KnownCall {
  callId: string;
  toolName: string;
  arguments: Json;
  assessment?: Assessment;
  redaction?: CallRedaction;
  /** The arguments with which the call ran, if a reviewer changed them. */
  ran?: Json;
  /** True if the call was started once and its outcome was unknown. */
  mayHaveRun?: true;
  isAnswered: boolean;
}

export function noFacts(workflowId: string): RunFacts {
  const flags = { hidesArguments: false, redacts: false, mayHideMore: false };
  const start = { callerUserId: null, metadata: {}, lineage: [], contextSummary: '' };
  return { workflowId, ...flags, ...start, calls: new Map() };
}

/** How a call of a tool ended: the text for the model, and whether the tool ran. */
export interface RecordedToolEnd {
  content: string;
  isError: boolean;
  ran: Ran;
  /** True if a check of the tool's results withholds this one. */
  withheld?: true;
  /** The id of an earlier equal call whose result the model gets again. */
  resultOf?: string;
}

/** Converts the end of a tool's activity as `run-tool.ts` does. Undefined if the run may start the tool again. */
export function toolEnd(end: ActivityEnd): RecordedToolEnd | undefined {
  if ('failure' in end) return endOfFailure(end.failure);
  if (isUndecodable(end.result)) return end.result.unread ? undefined : unknown;
  return { content: textOf(end.result), isError: false, ran: 'yes' };
}

const unknown: RecordedToolEnd = { content: sentences.unknownOutcome, isError: true, ran: 'unknown' };

/** Returns how a failed activity ended; undefined for a failure after which the run may start the tool again. */
function endOfFailure({ kind, type = '', message }: PlainFailure): RecordedToolEnd | undefined {
  const failed = (why: string, ran: Ran): RecordedToolEnd => ({ content: sentences.failed(why), isError: true, ran });
  if (kind === 'schedule_to_start') return failed('the tool was not started in time', 'no');
  if (kind === 'other' || leftInMidCallTypes.includes(type)) return unknown;
  if ([payloadUnreadType, definitionChangedType, previewChangedType].includes(type)) return undefined;
  if (type === payloadNotKeptType) return { content: sentences.resultNotGiven(message), isError: false, ran: 'yes' };
  if (type === resultWithheldType) {
    return { content: sentences.resultWithheld(message), isError: false, ran: 'yes', withheld: true };
  }
  if (notStarted.includes(type)) return failed(message, 'no');
  return failed(message, type === toolFailedType ? 'yes' : 'unknown');
}

const notStarted: readonly string[] = [...secondGateTypes, 'NotFoundError'];

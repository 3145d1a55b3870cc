import type { Assessment } from '../core/assess/assessment.ts';
import type { JsonObject, Risk } from '../core/base/tool-call.ts';
import { DefinitionError } from './definition-error.ts';

/** The argument of a custom assessor: a copy, so that no change affects the call that is shown, hashed and executed. */
export interface AssessorCall {
  /** The tool's name. */
  tool: string;
  args: JsonObject;
  risk: Risk;
  /** The name of the calling agent. */
  agent: string;
  /** Aborted after 10 seconds, or when the run is cancelled. */
  signal: AbortSignal;
}

/**
 * A function on the worker that assesses how severe a call would be. It returns undefined if it has nothing to add. It
 * is called once for each call, when the model's answer is parsed, and its result is recorded in the run. It can raise
 * a severity but never lower one. If it throws, returns something else, or takes over 10 seconds, the severity becomes
 * high. Its `reasons` are shown even if arguments are redacted: put values into `affectedResources`. If reviewers may
 * not see arguments at all (`include_arguments: false`), they see only the severity.
 */
export type Assessor = (
  call: AssessorCall,
) => Partial<Assessment> | undefined | void | Promise<Partial<Assessment> | undefined | void>;

/** Throws a `DefinitionError` unless every item of the list is a function. */
export function checkAssessors(assessors: unknown): void {
  if (!Array.isArray(assessors) || !assessors.every((assessor) => typeof assessor === 'function')) {
    throw new DefinitionError('createWorker: assessors must be a list of functions');
  }
}

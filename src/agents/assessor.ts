import type { Assessment } from '../core/assess/assessment.ts';
import type { JsonObject, Risk } from '../core/base/tool-call.ts';
import { DefinitionError } from './definition-error.ts';

/** What an assessor of one's own gets: a copy, so that nothing it does changes what is shown, hashed and run (I8). */
export interface AssessorCall {
  tool: string;
  args: JsonObject;
  risk: Risk;
  agent: string;
  /** Aborted when its time is over, and when the run is cancelled. */
  signal: AbortSignal;
}

/**
 * A function on the worker that says how bad a call would be, or undefined where it has nothing to say. It is asked once
 * for each call, where the model's answer is parsed, and what it says is recorded in the run. It can raise a severity
 * and never lower one. One that throws, gives something else, or takes over 10 seconds makes the call high.
 * What it puts in `reasons` is shown where arguments are redacted: values belong in `affectedResources`. Where reviewers
 * are not shown arguments at all (`include_arguments: false`), they see of all this the severity alone.
 */
export type Assessor = (
  call: AssessorCall,
) => Partial<Assessment> | undefined | void | Promise<Partial<Assessment> | undefined | void>;

/** Throws a `DefinitionError` where something in the list is no function. */
export function checkAssessors(assessors: unknown): void {
  if (!Array.isArray(assessors) || !assessors.every((assessor) => typeof assessor === 'function')) {
    throw new DefinitionError('createWorker: assessors must be a list of functions');
  }
}

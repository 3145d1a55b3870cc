import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { JsonObject, Risk, Severity } from '../core/base/tool-call.ts';
import type { AdvisorAnswer } from '../core/policy/advice.ts';
import { checkOptions, DefinitionError } from './check-options.ts';
import { checkModel } from './define-agent.ts';
import type { Assessment } from '../core/assess/assessment.ts';

export type { AdvisorAnswer } from '../core/policy/advice.ts';

/** A call that rules ask about, as an advisor receives it. A model wrote `args` and `contextSummary`: trust neither. */
export interface AdvisedCall {
  /** The tool's name. */
  tool: string;
  /** A copy of the arguments as the tool would receive them, without redaction. */
  args: JsonObject;
  risk: Risk;
  /** By the assessment so far. */
  severity: Severity;
  /** The name of the calling agent. */
  agent: string;
  /** The caller that started the run. Absent: unknown to the run. */
  caller?: string;
  /** Id of the rule that asks; null if a risk default or a mode does. */
  rule: string | null;
  /** Why it asks. */
  reason: string;
  /** The model's text beside the call, else the last message of the user. */
  contextSummary: string;
}

/**
 * A function on the worker that is consulted about a call; undefined means `{ answer: 'ask' }`. `signal` is aborted
 * when its time is over or the call is abandoned. If it throws, returns something else or takes too long, reviewers are
 * asked.
 */
export type AdvisorFunction = (
  call: AdvisedCall,
  context: { signal: AbortSignal },
) => AdvisorAnswer | undefined | void | Promise<AdvisorAnswer | undefined | void>;

/** A model that is consulted. It receives the instructions, the schema of its answer, and the call as JSON. */
export interface ModelAdvisor {
  /** Any model that implements the interface of `@ai-sdk/provider`, version 4. */
  model: LanguageModelV4;
  /** The criteria for its answer. */
  instructions: string;
}

/** The `advisor` of a policy (docs/advisors.md). */
export type Advisor = AdvisorFunction | ModelAdvisor;

/** Throws a `DefinitionError` unless each is a function, or a model with instructions, with a name of 64 characters. */
export function checkAdvisors(advisors: unknown): void {
  if (typeof advisors !== 'object' || advisors === null || Array.isArray(advisors)) {
    throw new DefinitionError('createWorker: advisors must be an object: functions or models by name');
  }
  for (const [name, advisor] of Object.entries(advisors)) {
    const place = `advisor '${name}'`;
    if (name === '' || name.length > 64) throw new DefinitionError(`${place}: a name has 1 to 64 characters`);
    if (typeof advisor === 'function') continue;
    checkOptions(place, advisor, ['model', 'instructions'], 'an advisor is a function, or { model, instructions }');
    const { model, instructions } = advisor as Record<string, unknown>;
    if (typeof instructions !== 'string') throw new DefinitionError(`${place}: instructions must be text`);
    checkModel(place, model);
  }
}

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
 * A function on the worker that assesses how severe a call would be; undefined adds nothing. It is called once for each
 * call, and its result is recorded. It can raise a severity but never lower one. If it throws, returns something else,
 * or takes over 10 seconds, the severity becomes high. Its `reasons` are shown even if arguments are redacted: put
 * values into `affectedResources`. With `include_arguments: false`, reviewers see only the severity.
 */
export type Assessor = (
  call: AssessorCall,
) => Partial<Assessment> | undefined | void | Promise<Partial<Assessment> | undefined | void>;

export function checkAssessors(assessors: unknown): void {
  if (!Array.isArray(assessors) || !assessors.every((assessor) => typeof assessor === 'function')) {
    throw new DefinitionError('createWorker: assessors must be a list of functions');
  }
}

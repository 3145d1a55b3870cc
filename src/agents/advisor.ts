import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { JsonObject, Risk, Severity } from '../core/base/tool-call.ts';
import type { AdvisorAnswer } from '../core/policy/advice.ts';
import { checkOptions, DefinitionError } from './check-options.ts';
import { checkModel } from './define-agent.ts';
import type { Assessment } from '../core/assess/assessment.ts';

export type { AdvisorAnswer } from '../core/policy/advice.ts';

/** A call about which a policy would ask, as an advisor receives it. A model wrote `args` and `contextSummary`. */
export interface AdvisedCall {
  tool: string;
  /** A copy of the arguments as the tool would receive them, without redaction. */
  args: JsonObject;
  risk: Risk;
  /** The severity of the call, as it was assessed before the advisor is consulted. */
  severity: Severity;
  /** The name of the calling agent. */
  agent: string;
  /** The id of the run's user. Absent if the run was started without one. */
  caller?: string;
  /** The id of the rule that asks; null if a risk default or a mode asks. */
  rule: string | null;
  /** Why the policy asks. */
  reason: string;
  /** The text that the model wrote beside the call; without one, the last message of the user. */
  contextSummary: string;
}

/**
 * A function on the worker that advises on a call; undefined leaves it to reviewers. `signal` aborts when the time is
 * over or the call is abandoned. If the function throws, is late or returns something else, reviewers are asked.
 */
export type AdvisorFunction = (
  call: AdvisedCall,
  context: { signal: AbortSignal },
) => AdvisorAnswer | undefined | void | Promise<AdvisorAnswer | undefined | void>;

/** A model as advisor. It receives the instructions, the schema of its answer, and the call as JSON. */
export interface ModelAdvisor {
  /** Any model that implements the interface of `@ai-sdk/provider`, version 4. */
  model: LanguageModelV4;
  /** The criteria by which the model decides. */
  instructions: string;
}

/** Looks at calls before reviewers are asked (docs/advisors.md). The option `advisor` of a policy names it. */
export type Advisor = AdvisorFunction | ModelAdvisor;

/** Throws a `DefinitionError` for an advisor that is neither a function nor a model, or a name over 64 characters. */
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

/** The argument of an `Assessor`: a copy of the call, so that a change of it has no effect. */
export interface AssessorCall {
  tool: string;
  args: JsonObject;
  risk: Risk;
  /** The name of the calling agent. */
  agent: string;
  /** Aborted after 10 seconds, or when the run is cancelled. */
  signal: AbortSignal;
}

/**
 * A function on the worker that assesses how severe a call would be. It runs once for each call, and its result is
 * recorded. Undefined adds nothing; a result can raise a severity but never lower it. If it throws, returns something
 * else, or takes over 10 seconds, the severity becomes high. Reviewers see `reasons` even if arguments are redacted, so
 * values belong in `affectedResources`. With `include_arguments: false`, they see only the severity.
 */
export type Assessor = (
  call: AssessorCall,
) => Partial<Assessment> | undefined | void | Promise<Partial<Assessment> | undefined | void>;

export function checkAssessors(assessors: unknown): void {
  if (!Array.isArray(assessors) || !assessors.every((assessor) => typeof assessor === 'function')) {
    throw new DefinitionError('createWorker: assessors must be a list of functions');
  }
}

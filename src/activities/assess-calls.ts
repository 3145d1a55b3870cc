import { z } from 'zod';
import type { Assessor, AssessorCall } from '../agents/advisor.ts';
import type { Tool } from '../agents/definitions.ts';
import { assessBuiltIn } from '../assess/assess.ts';
import { joinAssessments, wantsApproval, type Assessment } from '../core/assess/assessment.ts';
import { severities } from '../core/base/tool-call.ts';
import { aborted } from '../text/aborted.ts';
import type { ModelCall } from './model-turn.ts';

export interface AssessCallsOptions {
  toolNamed: (name: string) => Tool | undefined;
  assessors: readonly Assessor[];
  agent: string;
  /** Aborted when the activity is cancelled. No assessor is called after that. */
  signal: AbortSignal;
  /** The time limit of one assessor, in milliseconds. Default 10,000. */
  timeoutMs?: number;
}

const answerShape = z
  .strictObject({
    severity: z.enum(severities),
    reasons: z.array(z.string()),
    affectedResources: z.array(z.string()),
    reversible: z.boolean(),
    recommendations: z.array(z.string()),
    requiresApproval: z.boolean(),
  })
  .partial();

/**
 * Assesses each call that can run, by the built-in assessors and by those of the worker, and adds the joined assessment
 * to the call. History records the assessment, so a replay with a later version does not change it (I12).
 */
export function assessCalls(calls: readonly ModelCall[], options: AssessCallsOptions): Promise<ModelCall[]> {
  return Promise.all(calls.map((call) => assessCall(call, options)));
}

/** Returns the call with its joined assessment; unchanged if the call cannot run, or if no assessor assesses it. */
async function assessCall(call: ModelCall, options: AssessCallsOptions): Promise<ModelCall> {
  const tool = options.toolNamed(call.tool);
  if (tool === undefined || call.args === undefined) return call;
  const { name, risk, subject } = tool;
  const { args, shell } = call;
  const builtIn = assessBuiltIn({ tool: name, args, risk, subject, shell });
  const own = await Promise.all(
    options.assessors.map((assessor, index) =>
      ask(assessor, assessor.name || `#${index + 1}`, { tool: name, args, risk, agent: options.agent }, options),
    ),
  );
  const all = [builtIn, ...own].filter((assessment) => assessment !== undefined);
  return all.length === 0 ? call : { ...call, assessment: joinAssessments(all) };
}

/** Asks for one assessor's assessment, if it has any. If it fails or has another form, returns the strict `failed`. */
async function ask(
  assessor: Assessor,
  name: string,
  call: Omit<AssessorCall, 'signal'>,
  { signal, timeoutMs = 10_000 }: AssessCallsOptions,
): Promise<Assessment | undefined> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const answering = Promise.resolve().then(() =>
      assessor({ ...call, args: structuredClone(call.args), signal: limit }),
    );
    const answer = await Promise.race([answering, aborted(limit)]);
    if (answer === undefined || answer === null) return undefined;
    const parsed = answerShape.safeParse(answer);
    return parsed.success ? complete(parsed.data) : failed(`assessor ${name} gave no assessment`);
  } catch (error) {
    signal.throwIfAborted();
    // Use only the error's type: its message may have values that must not enter history (I13).
    return failed(
      limit.aborted
        ? `assessor ${name} took longer than ${timeoutMs} ms`
        : `assessor ${name} failed: ${error instanceof Error ? error.name : typeof error}`,
    );
  }
}

/** Completes an assessor's answer with neutral values for the members that it lacks. */
function complete({ severity, ...rest }: z.infer<typeof answerShape>): Assessment {
  // These texts are the author's own and may quote arguments, so they are hidden where arguments are.
  const fromWorker = [...(rest.reasons ?? []), ...(rest.recommendations ?? [])];
  return {
    severity: severity ?? 'safe',
    reasons: rest.reasons ?? [],
    affectedResources: rest.affectedResources ?? [],
    reversible: rest.reversible ?? true,
    recommendations: rest.recommendations ?? [],
    requiresApproval: rest.requiresApproval ?? (severity !== undefined && wantsApproval(severity)),
    ...(fromWorker.length > 0 && { fromWorker }),
  };
}

/** Returns the assessment for a failed assessor: `high` and not reversible, because the call may do harm (I2). */
function failed(reason: string): Assessment {
  return { ...complete({ severity: 'high', reversible: false }), reasons: [reason] };
}

/**
 * The request that asks whether a run goes on beyond a limit. It has the form of a call of a tool that no agent has,
 * because no tool's name contains a colon. No allow rule, mode or grant lets it pass (layer-answer.ts, ruling.ts).
 */
import type { Assessment } from '../assess/assessment.ts';
import { continueTool, type JsonObject, type ToolDefinition } from '../base/tool-call.ts';
import { definitionDigest } from '../base/digest.ts';
import { amountText, type ReachedLimit } from './run-limits.ts';

const described = {
  name: continueTool,
  description: 'Lets the run go on beyond a limit, for as much again.',
  schema: {
    type: 'object',
    properties: { limit: { type: 'string' }, more: { type: 'string' } },
    required: ['limit', 'more'],
    additionalProperties: false,
  },
} satisfies Partial<ToolDefinition>;

/** The risk is `read_only`, because the run only goes on, and each further call passes the gate itself. */
export const continueDefinition: ToolDefinition = {
  ...described,
  risk: 'read_only',
  show: ['limit', 'more'],
  idempotent: true,
  heartbeatTimeoutMs: null,
  timeoutMs: 0,
  definition: definitionDigest(described),
};

/** The severity is medium, so that the request is never approved without an answer, whatever `on_timeout` says. */
export const continueAssessment: Assessment = {
  severity: 'medium',
  requiresApproval: true,
  reversible: true,
  affectedResources: [],
  recommendations: [],
  reasons: ['the run has reached a limit'],
};

/** The arguments follow from the limit alone, so that an audit can compute them from the policies. */
export function continueArguments({ measure, amount }: Omit<ReachedLimit, 'asks'>): JsonObject {
  return { limit: measure === 'timeMs' ? 'time' : measure, more: amountText(measure, amount) };
}

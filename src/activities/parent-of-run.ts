import { z } from 'zod';
import { modes } from '../core/policy/modes.ts';
import { maxNesting } from '../core/policy/nesting.ts';
import { actions } from '../core/policy/action.ts';
import { severities } from '../core/base/tool-call.ts';

const texts = z.record(z.string(), z.string());
const duration = z.number().nonnegative();
const count = z.number().int().nonnegative();
const names = z.array(z.string());

/**
 * A policy in its normal form, as a run records it. Keys that this version does not know are kept: a run of a newer
 * version may have written them. Known keys are checked for their type, so that no policy makes a ruling throw (I5).
 */
const recordedPolicy = z.looseObject({
  version: z.literal(1),
  mode: z.enum(modes).optional(),
  rules: z.array(
    z.looseObject({
      id: z.string().optional(),
      agent: z.string().optional(),
      layer: z.literal('agent').optional(),
      pattern: z.string(),
      args: texts.optional(),
      when: z.string().optional(),
      action: z.enum(actions),
      reason: z.string().optional(),
      ask: z
        .looseObject({
          reviewers: names,
          quorum: count,
          oneOfEach: names,
          veto: z.boolean(),
          verified: z.boolean(),
          allowSelf: z.boolean(),
          timeoutMs: duration.nullable(),
          warnBeforeMs: duration,
          remindMs: duration.positive(),
          escalate: z.array(z.looseObject({ afterMs: duration, to: names })),
          onTimeout: z.enum(['deny', 'allow']),
          always: z.enum(['call', 'arguments', 'tool']).or(z.literal(false)),
        })
        .partial()
        .optional(),
    }),
  ),
  riskDefaults: z.partialRecord(z.enum(['read_only', 'write', 'destructive']), z.enum(actions)),
  approval: z
    .looseObject({
      timeoutMs: duration.nullable(),
      maxTimeoutMs: duration.nullable(),
      minRemindMs: duration.positive(),
      onTimeout: z.enum(['deny', 'allow']),
      maxPending: count,
      maxRetriesAfterDeny: count,
      maxIrreversiblePerRun: count,
      includeArguments: z.boolean(),
      show: z.literal(false).or(z.record(z.string(), names)),
      redact: z.boolean(),
      batch: z.enum(['parallel', 'sequential']),
      deniedAs: z.enum(['result', 'error']),
    })
    .partial(),
  assess: z
    .array(
      z.looseObject({
        id: z.string().optional(),
        pattern: z.string(),
        args: texts.optional(),
        severity: z.enum(severities),
        reason: z.string().optional(),
        affected: names.optional(),
        reversible: z.boolean().optional(),
        recommend: z.string().optional(),
        requiresApproval: z.boolean().optional(),
      }),
    )
    .optional(),
  directory: z.looseObject({ people: z.record(z.string(), z.looseObject({ groups: names, keys: names })) }).optional(),
  redact: z.looseObject({ patterns: z.array(z.looseObject({ name: z.string(), pattern: z.string() })) }).optional(),
});

// Each run above adds one policy, and so does each ceiling of a worker that was replaced meanwhile.
const inherited = z.array(recordedPolicy).max(2 * maxNesting + 2);

/** `RunInput.parent`. */
export const parentOfRun = z.strictObject({
  lineage: z.array(z.string().min(1).max(1_000)).min(1).max(maxNesting),
  policies: inherited,
});

/** The message that a run sends to its nested runs when its policies have changed. */
export const changedParents = z.strictObject({ policies: inherited });

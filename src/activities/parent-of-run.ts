import { z } from 'zod';
import type { AssessRule } from '../core/assess/assessment.ts';
import type { Person } from '../core/people/directory.ts';
import { actions, modes } from '../core/policy/modes.ts';
import { maxNesting, unreadableParent } from '../core/policy/nesting.ts';
import type {
  AdvisorSettings,
  ApprovalSettings,
  AskSettings,
  Policy,
  RedactSettings,
  RunLimit,
  RunLimits,
} from '../core/policy/policy.ts';
import type { RunSideRule } from '../core/policy/run-side.ts';
import { recordedMembers } from '../policy-file/normal-form.ts';
import { advisorShape, approvalShape, askShape, assessRuleShape, ruleShape } from '../policy-file/shape.ts';
import { recordedAtMs, recordedEvents } from './recorded-events.ts';

const count = z.number().int().nonnegative();
const names = z.array(z.string());

/** A shape for every member of a type. TypeScript reports a new member of the type that has no shape here. */
type Members<Type> = Record<keyof Type, z.ZodType>;

const advisor = recordedMembers(advisorShape) satisfies Members<AdvisorSettings>;
const ask = recordedMembers(askShape) satisfies Members<AskSettings>;
const approval = recordedMembers(approvalShape) satisfies Members<ApprovalSettings>;
const assess = recordedMembers(assessRuleShape) satisfies Members<AssessRule>;
const { examples: _, ...ruleMembers } = recordedMembers(ruleShape);
const rule = {
  ...ruleMembers,
  ask: z.looseObject(ask).optional(),
  agent: z.string().optional(),
  layer: z.literal('agent').optional(),
} satisfies Members<RunSideRule>;

const redact = {
  kinds: names.optional(),
  patterns: z.array(z.looseObject({ name: z.string(), pattern: z.string() })),
  also: names.optional(),
} satisfies Members<RedactSettings>;

const limit = z.looseObject({ ask: count.optional(), end: count.optional() } satisfies Members<RunLimit>).optional();
const cost = z.number().min(0).optional();
const costLimit = z.looseObject({ ask: cost, end: cost } satisfies Members<RunLimit>).optional();
const limits = {
  turns: limit,
  calls: limit,
  tokens: limit,
  timeMs: limit,
  cost: costLimit,
} satisfies Members<RunLimits>;

const person = {
  groups: names,
  keys: names,
  // A run reads these members only from the ceiling.
  name: z.unknown().optional(),
  also: z.unknown().optional(),
  away: z.unknown().optional(),
} satisfies Members<Person>;

/**
 * A policy in its normal form. The types of known members are checked, so that no policy makes a ruling throw (I5).
 * Unknown members stay, because a run of a newer version may have written them.
 */
const recordedPolicy = z.looseObject({
  version: z.literal(1),
  mode: z.enum(modes).optional(),
  rules: z.array(z.looseObject(rule)),
  riskDefaults: z.partialRecord(z.enum(['read_only', 'write', 'destructive']), z.enum(actions)),
  approval: z.looseObject(approval),
  limits: z.looseObject(limits).optional(),
  assess: z.array(z.looseObject(assess)).optional(),
  redact: z.looseObject(redact).optional(),
  directory: z.looseObject({ people: z.record(z.string(), z.looseObject(person)) }).optional(),
  advisor: z.looseObject(advisor).optional(),
  // A run reads these members only from the ceiling.
  reviewerKeys: z.unknown().optional(),
  revoked: z.unknown().optional(),
  prices: z.unknown().optional(),
} satisfies Members<Policy>) as unknown as z.ZodType<Policy>;

// Each run of the lineage adds its policy and, if its worker had another ceiling, also that ceiling.
const inherited = z.array(recordedPolicy).max(2 * maxNesting + 2);

export const parentOfRun = z.strictObject({
  lineage: z.array(z.string().min(1).max(1_000)).min(1).max(maxNesting),
  policies: inherited,
});

export const changedParents = z.strictObject({ policies: inherited });

export interface ReadParentsInput {
  /** The execution whose history holds the signal's event. */
  runId: string;
  eventId: string;
  /** The run above, as the server named it when this run was started. */
  parent: { workflowId: string; runId: string };
  message: unknown;
}

/** Returns the policies that now bind the calling run, outermost first, and when the server recorded the signal. */
export type ReadParents = (
  input: ReadParentsInput,
) => Promise<{ policies: Policy[]; atMs: number } | { isForged: true }>;

/**
 * The activity `countersign.readParents`, which returns the policies in signal `parentsChanged` if the calling run sent
 * it. Any client can send this signal, so the activity reads the sender from the event that the server recorded.
 */
export const readParents: ReadParents = async ({ runId, eventId, parent, message }) => {
  const event = (await recordedEvents(runId, [eventId])).get(eventId);
  const sender = event?.workflowExecutionSignaledEventAttributes?.externalWorkflowExecution;
  if (event === undefined || sender?.workflowId !== parent.workflowId || sender.runId !== parent.runId) {
    return { isForged: true };
  }
  const { success, data } = changedParents.safeParse(message);
  return { policies: success ? data.policies : [unreadableParent], atMs: recordedAtMs(event) };
};

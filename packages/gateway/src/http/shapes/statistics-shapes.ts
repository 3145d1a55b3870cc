import { z } from '@hono/zod-openapi';

const count = z.int().nonnegative();
const share = z.object({ count, of: count }).openapi('Share');
const milliseconds = z.number().nullable();

const covered = z
  .object({ since: z.string(), at: z.string(), runs: count, unread: count, more: z.boolean() })
  .openapi('Covered');

const ruleRow = z
  .object({
    rule: z.string().nullable(),
    layer: z.string(),
    policy: z.string().optional(),
    agent: z.string().optional(),
    allowed: count,
    deniedByPolicy: count,
    answeredBefore: count,
    asked: count,
    approved: count,
    denied: count,
    responded: count,
    expired: count,
    cancelled: count,
    superseded: count,
    open: count,
    approvalRate: share,
    medianMs: milliseconds,
    underThreeSeconds: share,
    expiredShare: share,
  })
  .openapi('RuleStatistics');

const reviewerRow = z
  .object({
    reviewerId: z.string().nullable(),
    reviewerName: z.string().optional(),
    answers: count,
    approvalRate: share,
    medianMs: milliseconds,
    underThreeSeconds: share,
    glanced: share,
    inBatches: share,
    verified: share,
  })
  .openapi('ReviewerStatistics');

const agentRow = z
  .object({
    agent: z.string(),
    runs: count,
    others: count,
    inputTokens: count,
    outputTokens: count,
    costs: z.array(z.object({ currency: z.string(), amount: z.number() })),
    unpriced: count,
  })
  .openapi('AgentUsage');

const recordedPolicy = z.object({ digest: z.string(), firstAt: z.string(), lastAt: z.string(), runs: count });

/** The answer of `GET /statistics`. docs/statistics.md explains each figure. */
export const statisticsShape = z
  .object({
    covered,
    rules: z.array(ruleRow),
    reviewers: z.array(reviewerRow),
    agents: z.array(agentRow),
    left: z.object({ rules: count, reviewers: count, agents: count }),
  })
  .openapi('Statistics');

/** The answer of `GET /policy`. */
export const presentPolicyShape = z
  .object({
    covered,
    present: recordedPolicy
      .partial({ firstAt: true, lastAt: true })
      .extend({
        policy: z.any(),
        rules: z.array(
          z.object({ id: z.string(), place: z.string().optional(), rule: z.any(), statistics: ruleRow.optional() }),
        ),
      })
      .optional(),
    others: z.array(recordedPolicy),
    withoutPolicy: count,
  })
  .openapi('PresentPolicy');

export const decidedList = z
  .object({
    covered,
    requests: z.array(
      z.object({
        workflowId: z.string(),
        requestId: z.string(),
        toolName: z.string(),
        agent: z.string().optional(),
        outcome: z.string(),
        reviewers: z.array(z.string()),
        mine: z.boolean(),
        reason: z.string().optional(),
        edited: z.literal(true).optional(),
        openedAt: z.string(),
        settledAt: z.string(),
        tookMs: count,
        ran: z.string().optional(),
      }),
    ),
    matching: count,
    tools: z.array(z.string()),
  })
  .openapi('DecidedList');

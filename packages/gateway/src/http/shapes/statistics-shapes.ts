import { z } from '@hono/zod-openapi';
import type {
  AgentUsage,
  DecidedRequest,
  RecordedPolicy,
  ReviewerStatistics,
  RuleStatistics,
  Share,
} from 'countersign/audit';
import type { Covered, DecidedList, PresentPolicy, Statistics } from '../inbox/api.ts';
import { shapeOf } from './response-shapes.ts';

const count = z.int().nonnegative();
const share = shapeOf<Share>()({ count, of: count }).openapi('Share');
const milliseconds = z.number().nullable();

const covered = shapeOf<Covered>()({
  since: z.string(),
  at: z.string(),
  runs: count,
  unread: count,
  more: z.boolean(),
}).openapi('Covered');

const ruleRow = shapeOf<RuleStatistics>()({
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
}).openapi('RuleStatistics');

const reviewerRow = shapeOf<ReviewerStatistics>()({
  reviewerId: z.string().nullable(),
  reviewerName: z.string().optional(),
  answers: count,
  approvalRate: share,
  medianMs: milliseconds,
  underThreeSeconds: share,
  glanced: share,
  inBatches: share,
  verified: share,
}).openapi('ReviewerStatistics');

const agentRow = shapeOf<AgentUsage>()({
  agent: z.string(),
  runs: count,
  others: count,
  inputTokens: count,
  outputTokens: count,
  costs: z.array(shapeOf<AgentUsage['costs'][number]>()({ currency: z.string(), amount: z.number() })),
  unpriced: count,
}).openapi('AgentUsage');

const recordedPolicy = shapeOf<RecordedPolicy>()({
  digest: z.string(),
  firstAt: z.string(),
  lastAt: z.string(),
  runs: count,
});

/** The schema of the response of `GET /statistics`. docs/statistics.md explains each figure. */
export const statisticsShape = shapeOf<Statistics>()({
  covered,
  rules: z.array(ruleRow),
  reviewers: z.array(reviewerRow),
  agents: z.array(agentRow),
  left: shapeOf<Statistics['left']>()({ rules: count, reviewers: count, agents: count }),
}).openapi('Statistics');

type Present = NonNullable<PresentPolicy['present']>;
const presentPolicy = shapeOf<Present>()({
  ...recordedPolicy.partial({ firstAt: true, lastAt: true }).shape,
  policy: z.any(),
  rules: z.array(
    shapeOf<Present['rules'][number]>()({
      id: z.string(),
      place: z.string().optional(),
      rule: z.any(),
      statistics: ruleRow.optional(),
    }),
  ),
});

export const presentPolicyShape = shapeOf<PresentPolicy>()({
  covered,
  present: presentPolicy.optional(),
  others: z.array(recordedPolicy),
  withoutPolicy: count,
}).openapi('PresentPolicy');

const decidedRequest = shapeOf<DecidedRequest>()({
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
});

export const decidedList = shapeOf<DecidedList>()({
  covered,
  requests: z.array(decidedRequest),
  matching: count,
  tools: z.array(z.string()),
}).openapi('DecidedList');

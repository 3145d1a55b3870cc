/** The responses of routes, for the OpenAPI document: api.ts has the types. */
import { z } from '@hono/zod-openapi';
import { problemCodes } from 'countersign/base';
import { grantScope } from './input-shapes.ts';

/** A response of JSON. */
export const json = (schema: z.ZodType, description: string) => ({
  description,
  content: { 'application/json': { schema } },
});

/** A response of text. */
export const text = (type: string, description: string) => ({
  description,
  content: { [type]: { schema: z.string() } },
});

/** The responses of the routes that stop a chat. */
export const stopped = { 204: { description: 'Nothing more starts, or nothing ran.' } };

/** A page. */
export const page = (description: string) => text('text/html', description);

const anyObject = z.record(z.string(), z.unknown());

export const receipt = z
  .looseObject({
    requestId: z.string(),
    accepted: z.boolean(),
    outcome: z.string().optional(),
    votes: z.object({ have: z.int(), need: z.int() }).optional(),
    grantId: z.string().optional(),
    settledBy: z.string().optional(),
    successor: z.string().optional(),
    recorded: z.boolean().optional(),
    code: z.enum(problemCodes).optional(),
    message: z.string(),
  })
  .openapi('Receipt');
const standingDelegation = z
  .looseObject({
    by: z.string(),
    to: z.string(),
    untilAt: z.string(),
    workflowId: z.string(),
    startedAt: z.string(),
    delegated: z.int(),
    left: z.array(z.object({ requestId: z.string(), workflowId: z.string(), message: z.string() })),
  })
  .openapi('StandingDelegation');
export const delegatedAll = z
  .object({ receipts: z.array(receipt), silentRuns: z.int(), standing: standingDelegation.optional() })
  .openapi('DelegatedAll');
export const delegationList = z.object({ standing: z.array(standingDelegation) }).openapi('Delegations');
export const receipts = z.object({ receipts: z.array(receipt) }).openapi('Receipts');

const row = z
  .looseObject({
    requestId: z.string(),
    workflowId: z.string(),
    toolName: z.string(),
    riskLevel: z.string(),
    agentName: z.string(),
    callerUserId: z.string().nullable(),
    rule: z.string().nullable(),
    reason: z.string(),
    requestedAt: z.string(),
    deadline: z.string().nullable(),
    digest: z.string(),
    severity: z.string(),
    shown: z.enum(['all', 'part']),
    argumentNames: z.array(z.string()),
    sentence: z.string().optional(),
    reviewers: z.array(z.string()).optional(),
    approvers: z.array(z.string()).optional(),
    cannotBeApproved: z.string().optional(),
    callerName: z.string().optional(),
    undelivered: z.literal(true).optional(),
  })
  .openapi('ApprovalSummary');
const waitsFor = z.enum(['you', 'others', 'anyone', 'unknown']);
const inboxRow = row.extend({ sentence: z.string(), waitsFor }).openapi('InboxRow');
export const inboxPage = z
  .object({
    approvals: z.array(inboxRow),
    more: z.int(),
    next: z.string().optional(),
    unread: z.array(z.object({ workflowId: z.string(), requestIds: z.array(z.string()), message: z.string() })),
  })
  .openapi('InboxPage');

const approvalRequest = z
  .looseObject({
    requestId: z.string(),
    workflowId: z.string(),
    toolName: z.string(),
    arguments: anyObject,
    riskLevel: z.string(),
    assessment: z.looseObject({ severity: z.string(), reasons: z.array(z.string()) }),
    agentName: z.string(),
    callerUserId: z.string().nullable(),
    contextSummary: z.string(),
    rule: z.string().nullable(),
    reason: z.string(),
    requestedAt: z.string(),
    deadline: z.string().nullable(),
    digest: z.string(),
    lineage: z.array(z.string()),
    metadata: anyObject,
    reviewers: z.array(z.string()),
    shown: z.enum(['all', 'part']),
  })
  .openapi('ApprovalRequest');
export const requestView = z
  .object({
    request: approvalRequest,
    card: z.looseObject({ version: z.int() }),
    cardDigest: z.string(),
    waitsFor,
    scopes: z.array(grantScope).optional(),
    undelivered: z.literal(true).optional(),
    heldUntil: z.string().optional(),
  })
  .openapi('RequestView');
export const matchList = z
  .object({
    covers: z.boolean(),
    matched: z.array(
      z.object({
        workflowId: z.string(),
        callId: z.string(),
        toolName: z.string(),
        at: z.string(),
        outcome: z.string(),
      }),
    ),
    looked: z.int(),
  })
  .openapi('Matches');

const listedRun = z
  .looseObject({
    workflowId: z.string(),
    workflowType: z.string(),
    status: z.string(),
    agent: z.string().optional(),
    open: z.int(),
    startedAt: z.string(),
    closedAt: z.string().optional(),
  })
  .openapi('ListedRun');
export const runList = z.object({ runs: z.array(listedRun), more: z.boolean() }).openapi('RunList');
export const startedRun = z.object({ workflowId: z.string() }).openapi('StartedRun');
export const runView = z
  .looseObject({
    workflowId: z.string(),
    workflowType: z.string(),
    status: z.string(),
    startedAt: z.string(),
    open: z.array(row),
    more: z.int(),
    outcomes: z.array(z.looseObject({ callId: z.string(), toolName: z.string(), outcome: z.string() })),
    takesMessages: z.literal(true).optional(),
  })
  .openapi('RunView');
export const runJournal = z
  .looseObject({ entries: z.array(z.looseObject({ seq: z.int(), kind: z.string(), at: z.string() })) })
  .openapi('RunJournal');
export const grantList = z
  .object({ grants: z.array(z.looseObject({ grantId: z.string(), tool: z.string(), approved: z.boolean() })) })
  .openapi('GrantList');

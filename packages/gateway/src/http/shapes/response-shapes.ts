/** The schemas of responses for the OpenAPI document. The types are in `inbox/api.ts` and `countersign/client`. */
import { z } from '@hono/zod-openapi';
import { problemCodes } from 'countersign/base';
import type { ApprovalDetails, ApprovalSummary, ListedRun, Receipt, StandingDelegation } from 'countersign/client';
import type {
  AgentList,
  ApprovalView,
  Delegations,
  FoundRequests,
  InboxPage,
  InboxRow,
  Matches,
  Receipts,
  RequestPeople,
  RunGrants,
  RunJournal,
  RunList,
  ShownRun,
  StartedRun,
} from '../inbox/api.ts';
import { tabs } from '../inbox/open-view.ts';
import { grantScope } from './input-shapes.ts';

export const json = (schema: z.ZodType, description: string) => ({
  description,
  content: { 'application/json': { schema } },
});

export const text = (type: string, description: string) => ({
  description,
  content: { [type]: { schema: z.string() } },
});

export const stopped = { 204: { description: 'Nothing more starts, or nothing ran.' } };

export const page = (description: string) => text('text/html', description);

const anyObject = z.record(z.string(), z.unknown());
const texts = z.array(z.string());
const optionalText = z.string().optional();

/** Makes the schema of a type. A schema that lacks a member of its type does not compile. */
export function shapeOf<Type extends object>() {
  return <Members extends Record<keyof Type, z.ZodType>>(members: Members) => z.looseObject(members);
}

export const receipt = shapeOf<Receipt>()({
  requestId: z.string(),
  accepted: z.boolean(),
  outcome: optionalText,
  votes: z.object({ have: z.int(), need: z.int() }).optional(),
  grantId: optionalText,
  settled: z.array(z.object({ requestId: z.string(), outcome: z.string() })).optional(),
  settledBy: optionalText,
  successor: optionalText,
  recorded: z.literal(true).optional(),
  code: z.enum(problemCodes).optional(),
  message: z.string(),
}).openapi('Receipt');
const standingDelegation = shapeOf<StandingDelegation>()({
  by: z.string(),
  to: z.string(),
  reason: optionalText,
  untilAt: z.string(),
  workflowId: z.string(),
  startedAt: z.string(),
  delegated: z.int(),
  left: z.array(z.object({ requestId: z.string(), workflowId: z.string(), message: z.string() })),
}).openapi('StandingDelegation');
export const delegatedAll = z
  .object({ receipts: z.array(receipt), silentRuns: z.int(), standing: standingDelegation.optional() })
  .openapi('DelegatedAll');
export const delegationList = shapeOf<Delegations>()({ standing: z.array(standingDelegation) }).openapi('Delegations');
export const receipts = shapeOf<Receipts>()({ receipts: z.array(receipt) }).openapi('Receipts');

const shown = z.enum(['all', 'part']);
const summary = {
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
  shownArguments: z.record(z.string(), z.string()).optional(),
  notShown: texts.optional(),
  sentence: optionalText,
  approvers: texts.optional(),
  escalated: z.array(z.object({ at: z.string(), to: texts })).optional(),
  cannotBeApproved: optionalText,
  argumentBytes: z.int().optional(),
  shown,
};
const row = shapeOf<ApprovalSummary>()({
  ...summary,
  reviewers: texts.optional(),
  callerName: optionalText,
  argumentNames: texts,
  severity: z.string(),
  lineage: texts.optional(),
  undelivered: z.literal(true).optional(),
}).openapi('ApprovalSummary');
const waitsFor = z.enum(['you', 'others', 'anyone', 'unknown']);
const inboxRow = shapeOf<InboxRow>()({ ...row.shape, sentence: z.string(), waitsFor }).openapi('InboxRow');
const unread = z.array(z.object({ workflowId: z.string(), requestIds: texts, message: z.string() }));
export const inboxPage = shapeOf<InboxPage>()({
  approvals: z.array(inboxRow),
  more: z.int(),
  next: optionalText,
  unread,
}).openapi('InboxPage');
export const foundRequests = shapeOf<FoundRequests>()({
  tab: z.enum(tabs),
  rows: z.array(inboxRow),
  matching: z.int(),
  unsearched: z.int(),
  counts: z.object({ mine: z.int(), anyone: z.int(), others: z.int() }),
  tools: texts,
  agents: texts,
  more: z.int(),
  unread,
}).openapi('FoundRequests');

const approvalRequest = shapeOf<ApprovalDetails>()({
  ...summary,
  arguments: anyObject,
  assessment: z.looseObject({ severity: z.string(), reasons: texts }),
  contextSummary: z.string(),
  rulePlace: optionalText,
  lineage: texts,
  replaces: z
    .object({
      requestId: optionalText,
      by: z.enum(['edit', 'definition', 'preview', 'unknown']),
      changes: z.array(z.string()).optional(),
    })
    .optional(),
  metadata: anyObject,
  advice: z.array(anyObject).optional(),
  reviewers: texts,
  redacted: texts.optional(),
  argumentNames: texts.optional(),
  settled: anyObject.optional(),
  votes: z.array(anyObject).optional(),
  approvals: z.object({ have: z.int(), need: z.int() }).optional(),
  people: z.record(z.string(), z.object({ name: optionalText, also: texts.optional() })).optional(),
  channels: texts.optional(),
  delegations: z.array(z.looseObject({ from: z.string(), to: z.string() })).optional(),
  always: anyObject.optional(),
  schema: anyObject.optional(),
  preview: anyObject.optional(),
  userMessages: z.object({ count: z.int(), last: texts }).optional(),
  ranBefore: anyObject.optional(),
  deniedBefore: anyObject.optional(),
  accounts: z.array(z.object({ argument: z.string(), before: anyObject.nullable() })).optional(),
}).openapi('ApprovalRequest');
export const requestView = shapeOf<ApprovalView>()({
  request: approvalRequest,
  card: z.looseObject({ version: z.int() }),
  cardDigest: z.string(),
  waitsFor,
  scopes: z.array(grantScope).optional(),
  undelivered: z.literal(true).optional(),
  heldUntil: optionalText,
}).openapi('RequestView');
export const requestPeople = shapeOf<RequestPeople>()({
  people: z.array(z.object({ id: z.string(), name: optionalText, groups: texts })),
  isComplete: z.boolean(),
}).openapi('RequestPeople');
export const matchList = shapeOf<Matches>()({
  covers: z.boolean(),
  matched: z.array(
    z.object({ workflowId: z.string(), callId: z.string(), toolName: z.string(), at: z.string(), outcome: z.string() }),
  ),
  looked: z.int(),
}).openapi('Matches');

const listedRun = shapeOf<ListedRun>()({
  workflowId: z.string(),
  workflowType: z.string(),
  status: z.string(),
  agent: optionalText,
  callerUserId: optionalText,
  task: optionalText,
  lineage: texts.optional(),
  open: z.int(),
  startedAt: z.string(),
  closedAt: optionalText,
}).openapi('ListedRun');
export const runList = shapeOf<RunList>()({ runs: z.array(listedRun), more: z.boolean() }).openapi('RunList');
export const agentList = shapeOf<AgentList>()({ agents: z.array(z.string()), complete: z.boolean() }).openapi(
  'AgentList',
);
export const startedRun = shapeOf<StartedRun>()({ workflowId: z.string() }).openapi('StartedRun');
export const runView = shapeOf<ShownRun>()({
  ...listedRun.shape,
  taskQueue: z.string(),
  open: z.array(row),
  more: z.int(),
  unread: anyObject.optional(),
  deliveries: z.array(anyObject).optional(),
  deliveriesNote: optionalText,
  outcomes: z.array(z.looseObject({ callId: z.string(), toolName: z.string(), outcome: z.string() })),
  retrying: z.array(anyObject).optional(),
  run: anyObject.optional(),
  result: anyObject.optional(),
  returned: z.unknown().optional(),
  failure: anyObject.optional(),
  note: optionalText,
  takesMessages: z.literal(true).optional(),
}).openapi('RunView');
export const runJournal = shapeOf<RunJournal>()({
  entries: z.array(z.looseObject({ seq: z.int(), kind: z.string(), at: z.string() })),
  missing: optionalText,
  unread: z.int().optional(),
}).openapi('RunJournal');
export const grantList = shapeOf<RunGrants>()({
  grants: z.array(z.looseObject({ grantId: z.string(), tool: z.string(), approved: z.boolean() })),
}).openapi('GrantList');

import type { TestedChannel } from 'countersign/adapter';
import type { DecisionSummary } from 'countersign/audit';
import type {
  UnreadRun,
  ListedRun,
  RunView,
  ApprovalDetails,
  Grant,
  RunResult,
  PolicyResult,
  Receipt,
  RunEvent,
  ApprovalSummary,
} from 'countersign/client';

type AnyMember<Printed> = Printed extends unknown ? keyof Printed : never;

type Words<Line extends string> = Line extends `${infer Word} ${infer Rest}` ? Word | Words<Rest> : Line;

type Difference<One, Other> = Exclude<One, Other> | Exclude<Other, One>;

/** Accepts any line if the lines name exactly these members. Otherwise the error shows which names are wrong. */
type Exactly<Member, Line extends string> = [Difference<Member, Words<Line>>] extends [never]
  ? unknown
  : { wrong: Difference<Member, Words<Line>> };

/** Lists all fields of `Printed`, or does not compile. Two calls, because one with a type argument infers no `Line`. */
function fields<Printed>() {
  return <Line extends string>(...lines: (Line & Exactly<AnyMember<Printed>, Line>)[]): readonly string[] =>
    lines.flatMap((line) => line.split(' '));
}

/** The fields that `--json FIELDS` can select, for each type of value that a command prints. */
export const jsonFields = {
  testedChannel: fields<TestedChannel>()('channel ok message'),
  /** `change` occurs only with --watch; `requestIds` and `message` only for a run whose requests cannot be read. */
  request: fields<ApprovalSummary & UnreadRun & { change: string }>()(
    'change requestId workflowId toolName sentence riskLevel severity agentName callerUserId callerName rule',
    'reason requestedAt deadline digest reviewers approvers escalated cannotBeApproved argumentNames',
    'argumentBytes shown shownArguments notShown lineage undelivered requestIds message',
  ),
  /** Without a worker, only the fields of `request`, above, are printed. */
  details: fields<ApprovalDetails & ApprovalSummary>()(
    'requestId workflowId toolName arguments argumentNames argumentBytes shown shownArguments schema preview',
    'ranBefore deniedBefore accounts userMessages sentence notShown redacted riskLevel severity assessment',
    'agentName callerUserId contextSummary rule rulePlace reason requestedAt deadline digest lineage',
    'undelivered replaces metadata advice reviewers approvals approvers escalated people callerName',
    'cannotBeApproved votes delegations always channels settled',
  ),
  grant: fields<Grant>()(
    'grantId tool approved scope reason expiresAtMs usesLeft by hidden redacted definition denials requestId',
    'grantedAt',
  ),
  run: fields<RunView>()(
    'workflowId workflowType status taskQueue startedAt closedAt open more unread deliveries deliveriesNote',
    'run outcomes retrying result returned failure note',
  ),
  listedRun: fields<ListedRun>()(
    'workflowId workflowType status agent callerUserId task lineage open startedAt closedAt',
  ),
  /** `workflowId`, `workflowType` and `outcome` occur with several runs, `requestId` and `accepted` with one. */
  policyChange: fields<PolicyResult | Omit<Receipt, 'votes' | 'grantId' | 'successor' | 'settledBy'>>()(
    'workflowId workflowType requestId accepted recorded outcome message code settled',
  ),
  summary: fields<DecisionSummary>()(
    'since at runs unread more asked approved denied responded expired expiredAllowed cancelled superseded',
    'allowed deniedByPolicy answeredBefore medianMs longestMs tools reviewers agents severe severeCount open',
    'openCount',
  ),
  event: fields<RunEvent>()(
    'type id workflowId at item requestId callId toolName sentence arguments argumentNames argumentBytes',
    'shown redacted shownArguments notShown riskLevel assessment agentName callerUserId contextSummary rule',
    'rulePlace requestedAt deadline digest lineage replaces metadata advice reviewers decision reason',
    'reviewerId reviewerName ran identity grantId by byId status output finish structuredOutput usage',
    'nestedUsage cost outcomes failure message turn offset delta hidden',
  ),
  result: fields<Omit<RunResult, 'journal' | 'journalHead'> & { workflowId: string }>()(
    'workflowId status output finish structuredOutput usage nestedUsage cost outcomes',
  ),
};

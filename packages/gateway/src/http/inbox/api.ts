/** The types of responses and bodies that `countersign/client` does not have. The inbox imports them. */
import type { DecidedRequest, DecisionStatistics, RuleStatistics, PlacedRule, RecordedPolicy } from 'countersign/audit';
import type { Problem } from 'countersign/base';
import type { Card } from 'countersign/card';
import type {
  ApprovalDetails,
  ApprovalSummary,
  Decision,
  Grant,
  JournalEntry,
  Receipt,
  RequestedScope,
  Viewed,
  UnreadRun,
  ListedRun,
  RecordedEvent,
  RunView,
  StandingDelegation,
} from 'countersign/client';
import type { Policy } from 'countersign/policy';
import type { Role } from '../identity/principal.ts';

/** The response of `GET /me`: who the sender is, and the settings of the gateway that the inbox needs. */
export interface Me {
  id: string;
  /** The display name, from the identity provider. */
  name?: string;
  roles: Role[];
  groups: string[];
  via: 'local' | 'token' | 'jwt' | 'session';
  /** A key of the sign-in. Tabs of a browser share an event stream only if they have the same key. */
  sessionKey: string;
  /** True: the gateway signs this person's decisions, so their name counts as verified. */
  signs: boolean;
  /** How long the inbox waits, so that an approval can be undone, before it sends the approval, in milliseconds. */
  undoMs: number;
  /** The key with which this browser can subscribe to web push. Absent: it cannot subscribe. */
  pushKey?: string;
  /** The address of the namespace in Temporal's UI, such as `http://127.0.0.1:8233/namespaces/default`. */
  temporalUi?: string;
}

/** Whose approval would count: that of the reader (`you`), of `anyone`, or only of other people (`others`). */
export type WaitsFor = 'you' | 'others' | 'anyone' | 'unknown';

/** A row of the inbox. It comes from Temporal's visibility, without a query of the run. */
export interface InboxRow extends ApprovalSummary {
  /**
   * One sentence about the call, in which escapes make invisible characters visible. It is the tool's own sentence if
   * reviewers may read all arguments. Otherwise it names the tool, and the arguments that they may read.
   */
  sentence: string;
  /** `unknown`: the row does not have all reviewers, so only the run can say. */
  waitsFor: WaitsFor;
}

/** The response of `GET /approvals`, and the data of the event `snapshot`. */
export interface InboxPage {
  approvals: InboxRow[];
  more: number;
  next?: string;
  unread: UnreadRun[];
}

/** The tabs of the inbox, by whose approval would count: that of the reader, of anyone, or only of other people. */
export type Tab = 'mine' | 'anyone' | 'others';

/** The open requests of one tab. */
export interface OpenView {
  tab: Tab;
  /** The first matching requests, up to a limit. */
  rows: InboxRow[];
  /** The number of matching requests, including those beyond `rows`. */
  matching: number;
  /** The number of further requests that may match, because the list has only some of their arguments. */
  unsearched: number;
  /** The number of all open requests of each tab, whatever the query. */
  counts: Record<Tab, number>;
  /** The names of the tools of all open requests, in alphabetical order. */
  tools: string[];
  /** The names of the agents of all open requests, in alphabetical order. */
  agents: string[];
}

/** The response of `GET /approvals/search`. */
export interface FoundRequests extends OpenView {
  /** The number of open requests that the gateway did not search, because there are too many or it cannot list them. */
  more: number;
  unread: UnreadRun[];
}

/** The events of `GET /approvals/events`, by name. Each stream begins with `snapshot`, also after a reconnection. */
export interface InboxEvents {
  snapshot: InboxPage;
  /** A request was opened, or its row has changed. */
  changed: InboxRow;
  /** A request is no longer open. */
  gone: { requestId: string; workflowId: string };
  /** The gateway sends this every 15 seconds, so a stream that is silent for longer is broken. */
  heartbeat: Record<string, never>;
  /** The gateway cannot read Temporal now. The stream continues as soon as it can. */
  trouble: Problem;
}

/** The response of `GET /approvals/{requestId}`. */
export interface ApprovalView {
  request: ApprovalDetails;
  card: Card;
  /** The digest of `card`, which a decision sends as `viewed.card`. */
  cardDigest: string;
  waitsFor: WaitsFor;
  /** The scopes of an approval that covers later calls, too, the narrowest first. Absent: none is possible. */
  scopes?: RequestedScope[];
  /** True: no channel could deliver the request yet. Absent: a channel has delivered it, or that is not known. */
  undelivered?: true;
  /** The time, in ISO 8601, until which channels delay the request, for quiet hours or to send several together. */
  heldUntil?: string;
}

/** The response of `GET /approvals/{requestId}/people`: who can be made a reviewer of the request. */
export interface RequestPeople {
  people: { id: string; name?: string; groups: string[] }[];
  /** True: the gateway and the policies of the run know no further people. */
  isComplete: boolean;
}

/** The response of `POST /approvals/{requestId}/matches`: the past calls that a scope would have covered. */
export interface Matches {
  /** False: the scope does not cover the call of the request itself, so an approval with this scope is refused. */
  covers: boolean;
  matched: { workflowId: string; callId: string; toolName: string; at: string; outcome: string }[];
  /** The number of past calls that were compared. */
  looked: number;
}

/** The response of `POST /approvals/decide`. */
export interface Receipts {
  receipts: Receipt[];
}

/** The response of `GET /delegations`: the sender's delegations of all their requests, each until a date. */
export interface Delegations {
  standing: StandingDelegation[];
}

/** The response of `GET /runs/{id}/journal`. */
export interface RunJournal {
  entries: JournalEntry[];
  /** The run id of the newest execution that retention has removed. Its entries, and all earlier ones, are lost. */
  missing?: string;
  /** The number of payloads that the gateway cannot decode. */
  unread?: number;
}

/** The response of `POST /runs`. */
export interface StartedRun {
  workflowId: string;
}

/** The response of `GET /runs`. */
export interface RunList {
  /** The newest first. */
  runs: ListedRun[];
  /** True: further runs match the filters, or the gateway did not compare all runs. */
  more: boolean;
}

/** The response of `GET /agents`. */
export interface AgentList {
  agents: string[];
  /** True: these are all agents of the worker. False: these are the agents of the newest runs. */
  complete: boolean;
}

/** The response of `GET /runs/{id}/grants`. */
export interface RunGrants {
  grants: Grant[];
}

/** The body of `POST /approve/{requestId}`. The header `Idempotency-Key` can replace `decisionId`. */
export type DecisionBody = Omit<Decision, 'requestId' | 'reviewerId' | 'reviewerName' | 'signature' | 'viewed'> & {
  viewed?: Omit<Viewed, 'batch'>;
};

/** The body of `POST /approvals/decide`: one answer to the listed requests, of which there are at most 200. */
export type BatchBody = Pick<Decision, 'approved' | 'reason' | 'decisionId'> & {
  requests: { requestId: string; digest: string; workflowId: string }[];
  viewed?: Omit<Viewed, 'batch' | 'card' | 'preview'>;
};

/** The body of `POST /approvals/{requestId}/matches`. */
export interface MatchesBody {
  scope: RequestedScope;
}

/** The response of `GET /runs/{id}`. */
export interface ShownRun extends RunView, Pick<ListedRun, 'agent' | 'callerUserId' | 'task' | 'lineage'> {
  /** True: the sender can send the run further messages, with `POST /runs/{id}/messages`. */
  takesMessages?: true;
}

/** The runs from which figures were counted. */
export interface Covered {
  /** The beginning of the counted time, in ISO 8601. Earlier calls and requests are not counted. */
  since: string;
  /** The time of the count, in ISO 8601. */
  at: string;
  /** The number of runs that were read. */
  runs: number;
  /** The number of runs that could not be read, or not in time. */
  unread: number;
  /** True: there are further runs. The open runs, and those that ended last, are counted. */
  more: boolean;
}

/** The response of `GET /decided`. */
export interface DecidedList {
  covered: Covered;
  /** The matching requests, the newest first; at most 500. */
  requests: DecidedRequest[];
  /** The number of matching requests, including those beyond `requests`. */
  matching: number;
  /** The tools of all settled requests, whatever the query. */
  tools: string[];
}

/** The response of `GET /statistics`. */
export interface Statistics extends DecisionStatistics {
  covered: Covered;
}

/** The response of `GET /policy`: the operator's policy, from the worker beside the gateway or from the newest run. */
export interface PresentPolicy {
  covered: Covered;
  /**
   * The present policy of the operator. Absent: there is no run, or the newest run has no such policy. `firstAt` and
   * `lastAt` are absent if no run has recorded the policy yet.
   */
  present?: Pick<RecordedPolicy, 'digest' | 'runs'> &
    Partial<RecordedPolicy> & { policy: Policy; rules: (PlacedRule & { statistics?: RuleStatistics })[] };
  others: RecordedPolicy[];
  withoutPolicy: number;
}

/**
 * The response of `GET /runs/{id}/events` with `follow=false` or `Accept: application/json`: the events so far. Without
 * them, the response is a stream of events, named by the `type` of a `RunEvent`, or `heartbeat`, `trouble` or `end`.
 */
export interface RunEvents {
  events: RecordedEvent[];
  /** The parameter `after` that continues this list. Absent: there are no further events yet. */
  next?: string;
}

/** The response of `POST /approvals/{requestId}/links`. */
export interface MadeLink {
  url: string;
  expiresAt: string;
}

/** The JSON of responses and bodies that `countersign/client` has no types for. The inbox imports these types. */
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

/** `GET /me`: who the sender is, and what the inbox has to know of the gateway. */
export interface Me {
  id: string;
  /** What people call them, as the identity provider says. */
  name?: string;
  roles: Role[];
  groups: string[];
  via: 'local' | 'token' | 'jwt' | 'session';
  /** Another one for each sign-in of a browser. Its pages share an event stream only within it. */
  sessionKey: string;
  /** True: the gateway signs the decisions of this person, so that they count as verified. */
  signs: boolean;
  /** How long the inbox holds an approval back, in milliseconds. */
  undoMs: number;
  /** The key by which this browser can subscribe to web push. Absent: it cannot. */
  pushKey?: string;
  /** Temporal's UI of the namespace, such as `http://127.0.0.1:8233/namespaces/default`. */
  temporalUi?: string;
}

/** `you`: the sender's approval would count; `anyone`: anyone's would; `others`: only that of other people. */
export type WaitsFor = 'you' | 'others' | 'anyone' | 'unknown';

/** A row of the inbox, from the index: no run was asked for it. */
export interface InboxRow extends ApprovalSummary {
  /**
   * One sentence about the call, made visible: the tool's own where `show` lets all arguments be read, else one made of
   * its name and of the arguments that are shown, or their names.
   */
  sentence: string;
  /** `unknown`: the row does not say it. */
  waitsFor: WaitsFor;
}

/** `GET /approvals`, and the data of event `snapshot`. */
export interface InboxPage {
  approvals: InboxRow[];
  more: number;
  next?: string;
  unread: UnreadRun[];
}

/** `mine`: the reader's approval would count; `anyone`: anyone's would; `others`: only that of other people. */
export type Tab = 'mine' | 'anyone' | 'others';

/** The open requests of one tab. */
export interface OpenView {
  tab: Tab;
  /** The first of the requests that match. */
  rows: InboxRow[];
  /** How many match, including those beyond `rows`. */
  matching: number;
  /** How many others have arguments that the list does not hold, so that the text may occur there. */
  unsearched: number;
  /** All open requests, whatever the query. */
  counts: Record<Tab, number>;
  /** The names that open requests have, in order. */
  tools: string[];
  agents: string[];
}

/** `GET /approvals/search`. */
export interface FoundRequests extends OpenView {
  /** The number of open requests that were not searched, because there are too many or they cannot be listed. */
  more: number;
  unread: UnreadRun[];
}

/** The events of `GET /approvals/events`. Each stream begins with `snapshot`, also one that is opened again. */
export interface InboxEvents {
  snapshot: InboxPage;
  /** A request was opened, or its row has changed. */
  changed: InboxRow;
  /** A request is not open any more. */
  gone: { requestId: string; workflowId: string };
  /** Comes every 15 seconds; a stream that is silent for longer is dead. */
  heartbeat: Record<string, never>;
  /** The server cannot be read now; the stream goes on when it can. */
  trouble: Problem;
}

/** `GET /approvals/{requestId}`. */
export interface ApprovalView {
  request: ApprovalDetails;
  card: Card;
  /** For `viewed.card` of a decision. */
  cardDigest: string;
  waitsFor: WaitsFor;
  /** The scopes that an "always" may have, the narrowest first. Absent: it is not offered. */
  scopes?: RequestedScope[];
  /** True: no channel could deliver the request yet. Absent: one could, or it is not known. */
  undelivered?: true;
  /** ISO 8601: until then its channels hold the request, for quiet hours or to collect others. Absent: they do not. */
  heldUntil?: string;
}

/** `GET /approvals/{requestId}/people`: the people to whom a seat of the request can be given. */
export interface RequestPeople {
  people: { id: string; name?: string; groups: string[] }[];
  /** True: the gateway and the policies of the run know no other people. */
  isComplete: boolean;
}

/** `POST /approvals/{requestId}/matches`: the past calls that a scope would have covered. */
export interface Matches {
  /** False: the scope does not cover the call that waits, so an "always" with it is refused. */
  covers: boolean;
  matched: { workflowId: string; callId: string; toolName: string; at: string; outcome: string }[];
  /** The number of past calls that were looked at. */
  looked: number;
}

/** `POST /approvals/decide`. */
export interface Receipts {
  receipts: Receipt[];
}

/** `GET /delegations`: what the sender has delegated until a date. */
export interface Delegations {
  standing: StandingDelegation[];
}

/** `GET /runs/{id}/journal`. */
export interface RunJournal {
  entries: JournalEntry[];
  /** The newest execution that retention has removed: the entries before it are gone. */
  missing?: string;
  /** The number of payloads that the gateway cannot decode. */
  unread?: number;
}

/** `POST /runs`. */
export interface StartedRun {
  workflowId: string;
}

/** `GET /runs`. */
export interface RunList {
  /** The newest first. */
  runs: ListedRun[];
  /** True: there are others that fit, or that were not looked at. */
  more: boolean;
}

/** `GET /agents`. */
export interface AgentList {
  agents: string[];
  /** True: the worker has no others. False: these are the agents of the newest runs. */
  complete: boolean;
}

/** `GET /runs/{id}/grants`. */
export interface RunGrants {
  grants: Grant[];
}

/** The body of `POST /approve/{requestId}`. `Idempotency-Key` is a `decisionId`, too. */
export type DecisionBody = Pick<
  Decision,
  'approved' | 'always' | 'reason' | 'modifiedArguments' | 'response' | 'digest' | 'decisionId'
> & { viewed?: Omit<Viewed, 'batch'> };

/** The body of `POST /approvals/decide`: one answer to exactly these requests, at most 200. */
export type BatchBody = Pick<Decision, 'approved' | 'reason' | 'decisionId'> & {
  requests: { requestId: string; digest: string; workflowId: string }[];
  viewed?: Omit<Viewed, 'batch' | 'card' | 'preview'>;
};

/** The body of `POST /approvals/{requestId}/matches`. */
export interface MatchesBody {
  scope: RequestedScope;
}

/** `GET /runs/{id}`. */
export interface ShownRun extends RunView, Pick<ListedRun, 'agent' | 'callerUserId' | 'task' | 'lineage'> {
  /** True: the sender of this request can say more to the run, with `POST /runs/{id}/messages`. */
  takesMessages?: true;
}

/** The runs from which figures were counted. */
export interface Covered {
  /** ISO 8601: calls ruled on and requests opened before this instant are not counted. */
  since: string;
  /** ISO 8601: when they were counted. */
  at: string;
  /** The number of runs that were read. */
  runs: number;
  /** Runs that were found and could not be read, or not in time. */
  unread: number;
  /** True: there are further runs. Open runs and those that ended last are counted. */
  more: boolean;
}

/** `GET /decided`. */
export interface DecidedList {
  covered: Covered;
  /** The newest first; at most 500. */
  requests: DecidedRequest[];
  /** How many there are. */
  matching: number;
  /** The tools of all settled requests, whatever the query. */
  tools: string[];
}

/** `GET /statistics`. */
export interface Statistics extends DecisionStatistics {
  covered: Covered;
}

/** `GET /policy`: the operator's policy, as the newest run recorded it, or as the worker beside the gateway has it. */
export interface PresentPolicy {
  covered: Covered;
  /**
   * Absent: no policy of the operator binds the newest run, or there is no run. Without `firstAt` and `lastAt`, no run
   * has recorded it yet.
   */
  present?: Pick<RecordedPolicy, 'digest' | 'runs'> &
    Partial<RecordedPolicy> & { policy: Policy; rules: (PlacedRule & { statistics?: RuleStatistics })[] };
  others: RecordedPolicy[];
  withoutPolicy: number;
}

/**
 * `GET /runs/{id}/events` with `follow=false` or `Accept: application/json`: what has happened so far. As server-sent
 * events, each `RunEvent` is an event of its `type`; `heartbeat`, `trouble` (a `Problem`) and `end` come beside them.
 */
export interface RunEvents {
  events: RecordedEvent[];
  /** The `after` of the next list. Absent: nothing more has happened yet. */
  next?: string;
}

/** `POST /approvals/{requestId}/links`. */
export interface MadeLink {
  url: string;
  expiresAt: string;
}

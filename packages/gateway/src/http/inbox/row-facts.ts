import { queryRun, queryNames, inParallel, isSamePerson, isOneOf, personKeyIn, seatsOf } from 'countersign/adapter';
import { isProblemError, isObject } from 'countersign/base';
import { cardOf, wholeText } from 'countersign/card';
import type { Session, ApprovalDetails, ApprovalSummary, CountersignClient } from 'countersign/client';
import type { InboxRow, WaitsFor } from './api.ts';
import type { Principal } from '../identity/principal.ts';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a row of the inbox shows of a request beside its summary. */
export interface RowFacts {
  sentence: string;
  reviewers: string[];
  delegations: { from: string; to: string }[];
  /** The people whose approval would count. Absent: the run does not say. */
  approvers?: string[];
  /** No further votes can approve it. */
  cannotBeApproved?: true;
  /** The names and ids of these people, by the operator's directory. */
  people?: Record<string, { name?: string; also: string[] }>;
}

const mostRequests = 50;
const mostNames = 200;
/** A gate writes far shorter ones. The limits bound what another workflow can make the gateway keep. */
const longestName = 500;
const longestSentence = 4_000;

/** Asks a run about its open requests. Empty if the run does not answer in time. */
export async function askRowFacts(
  session: Session,
  workflowId: string,
  timeoutMs: number,
): Promise<Map<string, RowFacts>> {
  try {
    return readRowFacts(await queryRun<unknown>(session, workflowId, queryNames.approvals, [], timeoutMs), workflowId);
  } catch (error) {
    if (isProblemError(error)) return new Map();
    throw error;
  }
}

/** The row as this person sees it; without facts, as the index has it. */
export function inboxRow(row: ApprovalSummary, facts: RowFacts | undefined, principal: Principal): InboxRow {
  if (facts === undefined) return { ...row, waitsFor: 'unknown' };
  const { sentence, reviewers, cannotBeApproved, people } = facts;
  return {
    ...row,
    sentence,
    reviewers,
    ...(cannotBeApproved && { cannotBeApproved }),
    ...(people !== undefined && { people }),
    waitsFor: waitsFor(principal, facts),
  };
}

/** The key of a row. It includes the workflow, because any workflow can list a request under another one's id. */
export function rowKey({ workflowId, requestId }: Pick<ApprovalSummary, 'workflowId' | 'requestId'>): string {
  return `${requestId} ${workflowId}`;
}

/** Reads the answer of query `approvals`, by request id. Any workflow may answer anything: malformed requests are left out. */
export function readRowFacts(answer: unknown, workflowId: string): Map<string, RowFacts> {
  const requests = Array.isArray(answer) ? answer.slice(0, mostRequests) : [];
  const facts = new Map<string, RowFacts>();
  for (const request of requests as unknown[]) {
    if (!isObject(request) || request['workflowId'] !== workflowId) continue;
    const { requestId, reviewers, delegations = [], approvers, people, cannotBeApproved } = request;
    if (typeof requestId !== 'string' || !isNames(reviewers) || !isDelegations(delegations)) continue;
    const sentence = sentenceOf(request);
    if (sentence === undefined) continue;
    // Copied, so that no other member of a workflow's objects is kept.
    facts.set(requestId, {
      sentence,
      reviewers,
      delegations: delegations.map(({ from, to }) => ({ from, to })),
      ...(isNames(approvers) && { approvers }),
      ...(typeof cannotBeApproved === 'string' && { cannotBeApproved: true }),
      ...(isObject(people) && { people: idsOf(people) }),
    });
  }
  return facts;
}

/** The sentence of its card, with a note if it is cut: what is invisible is made visible. Undefined if it is no request. */
function sentenceOf(request: object): string | undefined {
  try {
    const text = wholeText(cardOf(request as ApprovalDetails).sentence);
    return text.length > longestSentence ? undefined : text;
  } catch {
    return undefined;
  }
}

function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.length <= mostNames && value.every(isName);
}

function idsOf(people: object): RowFacts['people'] {
  const named = Object.entries(people).slice(0, mostNames) as [string, unknown][];
  return Object.fromEntries(
    named.flatMap(([id, person]) => {
      const { name, also = [] } = isObject(person) ? person : { also: null };
      return isName(id) && isNames(also) ? [[id, { also, ...(isName(name) && { name }) }] as const] : [];
    }),
  );
}

function isDelegations(value: unknown): value is RowFacts['delegations'] {
  return (
    Array.isArray(value) &&
    value.length <= mostNames &&
    value.every((each) => isObject(each) && isName(each['from']) && isName(each['to']))
  );
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= longestName;
}

/** How long the answer of a run is reused, in milliseconds. */
const keptMs = 15_000;
const runsAtOnce = 8;
const mostKept = 5_000;

/** The facts of rows that only their runs know, for lists. They are cached, so that a list does not wake its runs each time. */
export class InboxRows {
  readonly #client: CountersignClient;
  readonly #facts = new Map<string, { untilMs: number; facts: Map<string, RowFacts> }>();
  readonly #asked = new Map<string, Promise<void>>();

  constructor(client: CountersignClient) {
    this.#client = client;
  }

  /**
   * The rows as this person sees them. A page waits half of the client's `glanceTimeoutMs` for the runs, and a run has
   * all of it to answer: a row whose run is late has no facts yet, and the next page has them.
   */
  async of(rows: readonly ApprovalSummary[], principal: Principal): Promise<InboxRow[]> {
    const stale = [...new Set(rows.filter((row) => !this.#knows(row)).map(({ workflowId }) => workflowId))];
    const { glanceTimeoutMs } = this.#client.session.limits;
    if (stale.length > 0) {
      const over = new AbortController();
      const asking = inParallel(stale, runsAtOnce, (workflowId) =>
        over.signal.aborted ? Promise.resolve() : this.#ask(workflowId),
      );
      await Promise.race([asking, sleep(glanceTimeoutMs / 2, undefined, { ref: false })]);
      over.abort();
    }
    return rows.map((row) => inboxRow(row, this.#facts.get(row.workflowId)?.facts.get(row.requestId), principal));
  }

  /** True if the run was asked a moment ago, and knew the request then or did not answer. */
  #knows({ workflowId, requestId }: ApprovalSummary): boolean {
    const kept = this.#facts.get(workflowId);
    if (kept === undefined || kept.untilMs < Date.now()) return false;
    return kept.facts.size === 0 || kept.facts.has(requestId);
  }

  /** Asks a run once, however many pages want it. Never throws. */
  #ask(workflowId: string): Promise<void> {
    const running = this.#asked.get(workflowId);
    if (running !== undefined) return running;
    const asking = this.#read(workflowId).finally(() => this.#asked.delete(workflowId));
    this.#asked.set(workflowId, asking);
    return asking;
  }

  async #read(workflowId: string): Promise<void> {
    const { session } = this.#client;
    const facts = await askRowFacts(session, workflowId, session.limits.glanceTimeoutMs);
    this.#facts.delete(workflowId);
    this.#facts.set(workflowId, { untilMs: Date.now() + keptMs, facts });
    // Evict the oldest first.
    for (const oldest of this.#facts.keys()) {
      if (this.#facts.size <= mostKept) break;
      this.#facts.delete(oldest);
    }
  }
}

/**
 * Whether a request waits for this person. The run says whose approval would count; where it does not (an older worker, or too
 * many people), the names and the groups of the credential are a guess.
 */
export function waitsFor(
  { id, groups }: Pick<Principal, 'id' | 'groups'>,
  {
    reviewers,
    delegations = [],
    approvers,
    people,
  }: Pick<ApprovalDetails, 'reviewers' | 'delegations' | 'approvers' | 'people'>,
): WaitsFor {
  const keyOf = personKeyIn({ people });
  if (approvers !== undefined) return isOneOf(undefined, id, approvers, keyOf) ? 'you' : 'others';
  const seats = seatsOf(delegations, id, keyOf);
  if (reviewers.length === 0) return seats.length === 0 ? 'others' : 'anyone';
  const own = { people: { [id]: { groups, keys: [] } } };
  return seats.some(([owner]) => isOneOf(own, owner, reviewers, keyOf)) ? 'you' : 'others';
}

/** As `waitsFor`, of one request with its votes: nothing waits for somebody who has voted. */
export function waitsForOne(principal: Principal, request: ApprovalDetails): WaitsFor {
  const { settled, votes = [] } = request;
  const hasVoted = votes.some(({ reviewerId }) => isSamePerson(reviewerId, principal.id, personKeyIn(request)));
  return settled !== undefined || hasVoted ? 'others' : waitsFor(principal, request);
}

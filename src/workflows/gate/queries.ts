import type { Delegation } from '../../core/people/delegation.ts';
import { defineQuery, setHandler } from '@temporalio/workflow';
import { type ApprovalDetails, type RunPolicies, queryNames } from '../../contract.ts';
import type { ApprovalRequest, UserMessages } from '../../core/ledger/approval.ts';
import { byteLength, shortened } from '../../core/base/text.ts';
import type { JsonObject } from '../../core/base/tool-call.ts';
import { namesIn, personOf } from '../../core/people/directory.ts';
import { cannotBeApproved } from '../../core/people/cannot-be-approved.ts';
import { approversOf, tally } from '../../core/people/entitlement.ts';
import type { Grant } from '../../core/policy/grants.ts';
import { limitsOf } from '../../core/policy/limits.ts';
import { policyDigest } from '../../core/policy/policy.ts';
import { type RequestRecord, type SettledRequest, requestOf } from '../../core/ledger/ledger.ts';
import { deniedTools } from '../../core/ledger/denials.ts';
import { earlierAccountsOf } from '../../core/ledger/earlier-accounts.ts';
import { earlierRunOf } from '../../core/ledger/earlier-run.ts';
import { escalatedBy } from '../../core/ledger/escalation.ts';
import { alwaysTermsOf } from '../../core/ledger/make-grant.ts';
import { shownGrant, shownParts, shownPreview, listed } from '../../core/ledger/hidden-arguments.ts';
import { lastPanelOf, panelOf, personKeyOfRun } from '../../core/ledger/panel.ts';
import { clock } from '../sandbox/clock.ts';
import type { ActivePolicies } from '../state/active-policies.ts';
import type { UserMessageHandler } from '../messages/user-message.ts';
import type { GateState } from '../state/gate-state.ts';
import { redactSummary } from '../state/record-request.ts';
import type { Previews } from './previews.ts';

const approvalsQuery = defineQuery<ApprovalRequest[] | ApprovalDetails | (ApprovalDetails | null)[] | null, [unknown?]>(
  queryNames.approvals,
);
const grantsQuery = defineQuery<Grant[]>(queryNames.grants);
/** The most bytes of a schema in an answer. A larger one is left out, because a part could pass for the whole. */
const maxSchemaBytes = 32_000;
/** The most bytes of an answer with several full requests. The first request may exceed it alone. */
const maxAnswerBytes = 1_000_000;

const policyQuery = defineQuery<RunPolicies | null>(queryNames.policy);

/** The query's argument. `requestId`: one full request. `requestIds`: several. Neither: the list of open ones. */
interface Filter {
  requestId?: unknown;
  requestIds?: unknown;
}

/** Answers queries about a run: open requests, full requests, grants, and policies once `active` returns them. */
export function answerQueries(
  state: GateState,
  previews: Previews,
  active: () => ActivePolicies | undefined,
  session: Pick<UserMessageHandler, 'unheard'> | undefined,
): void {
  // Answer with the grants and the names of their givers, then with the tools that are denied for good.
  setHandler(grantsQuery, () => {
    state.requirePast();
    const { ledger, showsArguments } = state;
    const { policies } = active() ?? {};
    const denied = policies === undefined ? [] : deniedTools(ledger, limitsOf(policies));
    const { ceiling } = state.directories;
    const keyOf = personKeyOfRun({ ceiling });
    const withNames = (grant: Grant): Grant => {
      const by = grant.by?.map((each) => {
        const name = each.reviewerId === undefined ? undefined : personOf(ceiling, each.reviewerId, keyOf)?.name;
        return name === undefined ? each : { ...each, reviewerName: name };
      });
      return by === undefined ? grant : { ...grant, by };
    };
    return [...ledger.grants.map((grant) => shownGrant(withNames(grant), showsArguments)), ...denied];
  });
  setHandler(policyQuery, () => {
    state.requirePast();
    const now = active();
    if (now === undefined) return null;
    const { policies, change } = now;
    return { digest: policyDigest(policies), engine: state.ledger.engine, ...policies, ...(change && { change }) };
  });
  setHandler(approvalsQuery, (filter) => {
    state.requirePast();
    const { requestId, requestIds } = (typeof filter === 'object' && filter !== null ? filter : {}) as Filter;
    if (Array.isArray(requestIds)) return several(requestIds);
    if (requestId === undefined) return state.ledger.open.map((record) => listed(view(record)));
    return full(requestId);
  });

  function full(requestId: unknown): ApprovalDetails | null {
    const found = typeof requestId === 'string' ? requestOf(state.ledger, requestId) : undefined;
    if (found === undefined) return null;
    const details = view(found);
    return { ...details, ...extras(found, details) };
  }

  /** Returns one entry for each id, in this order: at least one, and no more than fit into `maxAnswerBytes`. */
  function several(requestIds: readonly unknown[]): (ApprovalDetails | null)[] {
    const answer: (ApprovalDetails | null)[] = [];
    let bytes = 0;
    for (const requestId of requestIds) {
      const details = full(requestId);
      bytes += byteLength(JSON.stringify(details));
      if (bytes > maxAnswerBytes && answer.length > 0) break;
      answer.push(details);
    }
    return answer;
  }

  /** Returns what a full request has beyond its row in the list. A settled request gets only its schema. */
  function extras(
    found: RequestRecord | SettledRequest,
    { shown, redacted, settled }: ApprovalDetails,
  ): Partial<ApprovalDetails> {
    const { request, ruled, deniedBefore } = found;
    const schema = active()?.options.schemaOf?.(request.toolName, ruled.definition);
    const hides = !state.showsArguments || found.hidden === true;
    const preview = 'settlement' in found || hides ? undefined : shownPreview(found, previews.of(found));
    const isAllShown = settled === undefined && shown === 'all' && redacted === undefined;
    const always = isAllShown ? alwaysTermsOf(found) : undefined;
    const ranBefore = settled === undefined ? earlierRunOf(state.ledger, found) : undefined;
    const accounts = settled === undefined && !hides ? earlierAccountsOf(state.ledger, found) : [];
    // Workflows cannot apply a policy's own patterns. If a policy has some, hide the texts of the user's messages.
    const ownPatterns = (active()?.redaction?.patterns.length ?? 0) > 0;
    const unheard = settled === undefined ? (session?.unheard ?? []) : [];
    return {
      ...(unheard.length > 0 && { userMessages: shownMessages(found, unheard, hides || ownPatterns) }),
      ...(ranBefore !== undefined && { ranBefore }),
      ...(settled === undefined && deniedBefore !== undefined && { deniedBefore }),
      ...(accounts.length > 0 && { accounts }),
      ...(always !== undefined && { always }),
      ...(isSmall(schema) && { schema }),
      ...(preview !== undefined && { preview }),
    };
  }

  /** Returns a request as reviewers see it, with its votes, people and channels. */
  function view(found: RequestRecord | SettledRequest): ApprovalDetails {
    const { delegations } = found;
    const { request, votes, settled } = shownParts(found, !state.showsArguments || found.hidden === true);
    const shown: ApprovalDetails = {
      ...request,
      ...(votes.length > 0 && { votes }),
      ...(delegations.length > 0 && { delegations: delegations.map(shownDelegation) }),
    };
    const peopleOf = (approvers: readonly string[] = []): Pick<ApprovalDetails, 'people'> => {
      const given = delegations.flatMap(({ from, to }) => [from, to]);
      const voters = [...votes, ...(settled === undefined ? [] : [settled])].map(({ reviewerId }) => reviewerId);
      const ids = [request.callerUserId, ...request.reviewers, ...given, ...voters, ...approvers];
      const { ceiling } = state.directories;
      const people = namesIn(ceiling?.people, ids, personKeyOfRun({ ceiling }));
      return people === undefined ? {} : { people };
    };
    if (settled !== undefined) return { ...shown, settled, ...peopleOf() };
    const channels = active()?.channelsOf(found) ?? [];
    const panel = panelOf(found, state.directories, clock.nowMs);
    const { have, need } = tally(panel, found.votes);
    const approvers = approversOf(panel, found.votes);
    const counting = approvers === undefined ? {} : { approvers };
    const why = cannotBeApproved(lastPanelOf(found, state.directories), found.votes);
    const escalated = escalatedBy(found, clock.nowMs);
    return {
      ...shown,
      approvals: { have, need },
      ...counting,
      ...(escalated.length > 0 && { escalated }),
      ...(why !== undefined && { cannotBeApproved: why }),
      ...peopleOf(approvers),
      ...(channels.length > 0 && { channels }),
    };
  }
}

const mostMessages = 10;
const longestMessage = 500;

/** Returns the messages that the model has not received, as reviewers see them. `hides`: only their number. */
function shownMessages(
  { request, redaction }: RequestRecord,
  unheard: readonly string[],
  hides: boolean,
): UserMessages {
  const last = hides ? [] : unheard.slice(-mostMessages);
  const shown = (text: string): string =>
    redaction === undefined ? text : redactSummary(text, request.arguments, redaction);
  return { count: unheard.length, last: last.map((each) => shortened(shown(each), longestMessage)) };
}

function isSmall(schema: JsonObject | undefined): schema is JsonObject {
  return schema !== undefined && byteLength(JSON.stringify(schema)) <= maxSchemaBytes;
}

/** A delegation without the key that signed it. The journal leaves this key out, too. */
function shownDelegation({ from, to, by }: Delegation): Delegation {
  return { from, to, ...(by !== undefined && { by }) };
}

import { defineQuery, setHandler } from '@temporalio/workflow';
import type { ApprovalDetails, RunPolicies } from '../../contract.ts';
import { queryNames } from '../../contract.ts';
import type { ApprovalRequest } from '../../core/ledger/approval.ts';
import { tally } from '../../core/people/entitlement.ts';
import type { Grant } from '../../core/policy/grants.ts';
import { policyDigest } from '../../core/policy/policy-digest.ts';
import type { PolicyLayers } from '../../core/policy/policy.ts';
import type { RequestRecord, SettledRequest } from '../../core/ledger/ledger.ts';
import { requestOf } from '../../core/ledger/ledger.ts';
import { hideInRequest, hideInSettlement, hideInVote, shownGrant } from '../../core/ledger/hidden-arguments.ts';
import { listed } from '../../core/ledger/listed-request.ts';
import { panelOf } from '../../core/ledger/panel.ts';
import type { GateState } from '../state/gate-state.ts';

const approvalsQuery = defineQuery<ApprovalRequest[] | ApprovalDetails | null, [unknown?]>(queryNames.approvals);
const grantsQuery = defineQuery<Grant[]>(queryNames.grants);
const policyQuery = defineQuery<RunPolicies | null>(queryNames.policy);

/**
 * Answers queries about a run: its open requests, one full request, its grants, its policies (undefined until they are
 * known).
 */
export function answerQueries(state: GateState, policies: () => PolicyLayers | undefined): void {
  setHandler(grantsQuery, () => {
    state.requirePast();
    const { grants } = state.ledger;
    return grants.map((grant) => shownGrant(grant, state.showsArguments));
  });
  setHandler(policyQuery, () => {
    state.requirePast();
    const layers = policies();
    return layers === undefined ? null : { digest: policyDigest(layers), engine: state.ledger.engine, ...layers };
  });
  setHandler(approvalsQuery, (filter) => {
    state.requirePast();
    const { requestId } = (typeof filter === 'object' && filter !== null ? filter : {}) as { requestId?: unknown };
    if (requestId === undefined) return state.ledger.open.map((record) => listed(view(record)));
    const found = typeof requestId === 'string' ? requestOf(state.ledger, requestId) : undefined;
    return found === undefined ? null : view(found);
  });

  function view(found: RequestRecord | SettledRequest): ApprovalDetails {
    const { request, votes, delegations } = found;
    const hides = !state.showsArguments || found.hidden === true;
    const shown: ApprovalDetails = {
      ...(hides ? hideInRequest(request) : request),
      ...(votes.length > 0 && { votes: hides ? votes.map(hideInVote) : votes }),
      ...(delegations.length > 0 && { delegations }),
    };
    if ('settlement' in found) {
      return { ...shown, settled: hides ? hideInSettlement(found.settlement) : found.settlement };
    }
    const { have, need } = tally(panelOf(found, state.directories, Date.now()), found.votes);
    return { ...shown, approvals: { have, need } };
  }
}

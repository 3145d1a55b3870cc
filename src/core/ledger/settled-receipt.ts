import { personOf } from '../people/directory.ts';
import { shownPerson } from '../people/shown-person.ts';
import type { Receipt, Settlement } from './approval.ts';
import type { Directories, Ledger } from './ledger-state.ts';
import { personKeyOfRun } from './panel.ts';

/** The receipt for a message about a request that is not open: it is unknown, or settled already. */
export function notOpenReceipt(
  { settled, past, engine }: Ledger,
  requestId: string,
  directories: Pick<Directories, 'ceiling'>,
): Receipt {
  const found = settled.find(({ request }) => request.requestId === requestId)?.settlement;
  const outcome = found?.outcome ?? past.find((each) => each.requestId === requestId)?.outcome;
  if (outcome !== undefined) {
    const keyOf = personKeyOfRun(directories, engine);
    const shown: typeof shownPerson = (id, name) =>
      shownPerson(id, personOf(directories.ceiling, id, keyOf)?.name ?? name);
    return settledReceipt(requestId, { ...found, outcome }, shown);
  }
  return { requestId, accepted: false, code: 'unknown_request', message: `this run has no request ${requestId}` };
}

/** The receipt for a message about a request that was settled before: how, and by whom (I3). */
export function settledReceipt(
  requestId: string,
  { outcome, reviewerId: settledBy, reviewerName }: Pick<Settlement, 'outcome' | 'reviewerId' | 'reviewerName'>,
  shown: typeof shownPerson = shownPerson,
): Receipt {
  const by = settledBy === undefined ? '' : ` by ${shown(settledBy, reviewerName)}`;
  return {
    requestId,
    accepted: false,
    outcome,
    settledBy,
    code: outcome === 'expired' ? 'expired' : outcome === 'cancelled' ? 'run_closed' : 'already_settled',
    message: `request ${requestId} was already settled${by}: ${outcome}`,
  };
}

/** The receipt for a vote that does not settle its request yet. */
export function votedReceipt(requestId: string, votes: { have: number; need: number }): Receipt {
  const message = `request ${requestId}: recorded, ${votes.have} of ${votes.need} approvals`;
  return { requestId, accepted: true, votes, message };
}

import { randomUUID } from 'node:crypto';
import type { Decision, Receipt } from '../../contract.ts';
import { type ParsedDecision, maxDecisions, parseDecision } from '../../core/messages/decision.ts';
import type { Session } from '../server/connect.ts';
import type { RequestOptions } from './control-run.ts';
import { acceptedReceipt, deliver, refusal, refusalFor } from './deliver.ts';
import { findRequest, malformedRequestId } from './find-request.ts';
import { decisionRoute } from './look-at-decision.ts';
import { repeatUnknown } from './repeat-unknown.ts';
import { signDecision } from './sign-message.ts';

type Keyed = ParsedDecision & { decisionId: string };

/**
 * Sends one decision and returns its receipt; throws a refusal as a `ProblemError` with its code. `recorded` in a
 * receipt means: recorded durably, but not applied yet, because no worker answered in time.
 */
export async function decideOne(session: Session, decision: Decision, options: RequestOptions = {}): Promise<Receipt> {
  const [receipt] = await decideMany(session, [decision], options);
  return acceptedReceipt(receipt);
}

/**
 * Sends decisions, all for one run in one update, and returns their receipts in order. A decision that is refused, or
 * whose run is not found, gets a receipt with a code and does not affect others. Throws only if nothing can be sent.
 */
export async function decideMany(
  session: Session,
  decisions: Decision[],
  options: RequestOptions = {},
): Promise<Receipt[]> {
  const placed = await Promise.all(decisions.map((decision) => place(session, decision, options)));
  const receipts: Receipt[] = [];
  const groups = new Map<string, { index: number; decision: Keyed }[]>();
  // Group only after all are placed: of two decisions for one request, the first in the list must stay the first.
  for (const [index, found] of placed.entries()) {
    if ('refused' in found) receipts[index] = found.refused;
    else groups.set(found.workflowId, [...(groups.get(found.workflowId) ?? []), { index, decision: found.decision }]);
  }
  for (const [workflowId, all] of groups) {
    for (let from = 0; from < all.length; from += maxDecisions) {
      const group = all.slice(from, from + maxDecisions);
      const send = (some: Keyed[], isAgain?: boolean): Promise<Receipt[]> =>
        deliver(session, workflowId, decisionRoute, some, { timeoutMs: options.timeoutMs, isAgain });
      const wanted = group.map(({ decision }) => decision);
      // Without a run id the request was found in the index, so the run has finished the task that opened the request.
      const answers =
        options.workflowId === undefined ? await send(wanted) : await repeatUnknown(session, workflowId, wanted, send);
      for (const [at, { index }] of group.entries()) receipts[index] = answers[at] as Receipt;
    }
  }
  return receipts;
}

/** The run that a decision is for, and the decision with an id; or a refusal if it cannot be sent anywhere. */
async function place(
  session: Session,
  source: Decision,
  { workflowId: knownRun, sign }: RequestOptions,
): Promise<{ workflowId: string; decision: Keyed } | { refused: Receipt }> {
  const parsed = parseDecision(source);
  if ('problem' in parsed) {
    const malformed = typeof source?.requestId === 'string' ? malformedRequestId(source.requestId) : undefined;
    return { refused: refusal(source, malformed ?? parsed.problem) };
  }
  if (parsed.decision.signature !== undefined && parsed.decision.decisionId === undefined) {
    const message = `a signed decision needs a 'decisionId' of its own: none can be added without breaking the signature`;
    return { refused: refusal(source, { code: 'invalid_decision', message }) };
  }
  const decision = { ...parsed.decision, decisionId: parsed.decision.decisionId ?? randomUUID() };
  try {
    const workflowId = knownRun ?? (await findRequest(session, decision.requestId));
    if (sign === undefined) return { workflowId, decision };
    const { namespace } = session;
    return { workflowId, decision: { ...decision, ...signDecision(decision, { ...sign, workflowId, namespace }) } };
  } catch (error) {
    return { refused: refusalFor(decision, error) };
  }
}

import { randomUUID } from 'node:crypto';
import { type Decision, type Receipt, decideName } from '../contract.ts';
import { type ParsedDecision, maxDecisions, parseDecision } from '../core/decision.ts';
import { type Problem, ProblemError, isProblemError, isTransient } from '../core/problem.ts';
import type { Session } from './connect.ts';
import type { RequestOptions } from './control-run.ts';
import { decideBySignal } from './decide-by-signal.ts';
import { findRequest, malformedRequestId } from './find-request.ts';
import { repeatUnknown } from './repeat-unknown.ts';
import { sendByUpdate, unreadable } from './send-by-update.ts';
import { signDecision } from './sign-message.ts';

type Keyed = ParsedDecision & { decisionId: string };

/**
 * Sends one decision and returns its receipt; a refusal is thrown as a `ProblemError` with its code.
 * `recorded` in a receipt says: recorded durably, and not yet applied, because no worker answered in time.
 */
export async function decideOne(session: Session, decision: Decision, options: RequestOptions = {}): Promise<Receipt> {
  const [receipt] = await decideMany(session, [decision], options);
  if (receipt === undefined) throw new ProblemError({ code: 'internal', message: 'The run gave no receipt.' });
  if (receipt.code !== undefined && !receipt.accepted) {
    throw new ProblemError({ code: receipt.code, message: receipt.message });
  }
  return receipt;
}

/**
 * Sends decisions, one update for all of one run, and returns their receipts in order. What is refused, or cannot be
 * found, gives a receipt with a code and hurts no other. Throws only where nothing at all can be sent.
 */
export async function decideMany(
  session: Session,
  decisions: Decision[],
  options: RequestOptions = {},
): Promise<Receipt[]> {
  const placed = await Promise.all(decisions.map((decision) => place(session, decision, options)));
  const receipts: Receipt[] = [];
  const groups = new Map<string, { index: number; decision: Keyed }[]>();
  // Grouped only once all are placed: of two decisions for one request, the first in the list must stay the first.
  for (const [index, found] of placed.entries()) {
    if ('refused' in found) receipts[index] = found.refused;
    else groups.set(found.workflowId, [...(groups.get(found.workflowId) ?? []), { index, decision: found.decision }]);
  }
  for (const [workflowId, all] of groups) {
    for (let from = 0; from < all.length; from += maxDecisions) {
      const group = all.slice(from, from + maxDecisions);
      const send = (some: Keyed[], isAgain?: boolean): Promise<Receipt[]> =>
        decideInRun(session, workflowId, some, options, isAgain);
      const wanted = group.map(({ decision }) => decision);
      // Without a run's id the request was found in the index, so that the run has finished the task that asked.
      const answers =
        options.workflowId === undefined ? await send(wanted) : await repeatUnknown(session, workflowId, wanted, send);
      for (const [at, { index }] of group.entries()) receipts[index] = answers[at] as Receipt;
    }
  }
  return receipts;
}

/** The run that a decision is for, and the decision under an id of its own; or why it can go nowhere. */
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

/** What is refused for the moment only is sent once more: the refusal may be an earlier one, which the server repeats. */
async function decideInRun(
  session: Session,
  workflowId: string,
  decisions: Keyed[],
  options: RequestOptions,
  isAgain = false,
): Promise<Receipt[]> {
  const receipts = await askRun(session, workflowId, decisions, options, isAgain);
  const again = isAgain ? [] : decisions.filter((_decision, index) => isTransient(receipts[index]?.code));
  if (again.length === 0) return receipts;
  const answers = await askRun(session, workflowId, again, options, true);
  return receipts.map((receipt, index) => answers[again.indexOf(decisions[index]!)] ?? receipt);
}

async function askRun(
  session: Session,
  workflowId: string,
  decisions: Keyed[],
  options: RequestOptions,
  isAgain: boolean,
): Promise<Receipt[]> {
  try {
    const payload = decisions.length === 1 ? decisions[0] : decisions;
    const sent = { workflowId, name: decideName, payload, isAgain };
    const answered = await sendByUpdate(session, sent, options.timeoutMs ?? 5_000);
    if (!('answer' in answered)) return await decideBySignal(session, workflowId, decisions, answered);
    const receipts = [answered.answer].flat();
    if (receipts.length !== decisions.length) throw unreadable(workflowId);
    return receipts;
  } catch (error) {
    return decisions.map((decision) => refusalFor(decision, error));
  }
}

function refusalFor(decision: Keyed, error: unknown): Receipt {
  if (!isProblemError(error) || error.code === 'server_unreachable') throw error;
  return refusal(decision, error);
}

function refusal(decision: unknown, { code, message }: Problem): Receipt {
  const { requestId } = (decision ?? {}) as { requestId?: unknown };
  return { requestId: typeof requestId === 'string' ? requestId : '', accepted: false, code, message };
}

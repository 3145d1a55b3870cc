import { isOneOf, isSamePerson, personKeyIn } from 'countersign/adapter';
import { instantText, shownPerson, visibleText, type Problem, isProblemError } from 'countersign/base';
import { cardDigest, cardOf, renderHtml, escapeHtml } from 'countersign/card';
import type { ApprovalDetails } from 'countersign/client';
import { htmlResponse, wantsHtml, problemStatus, problemOf } from '../responses.ts';

/** The page of a link: a request, and a form that answers it. It has no script, and opening it decides nothing. */
export function questionPage(request: ApprovalDetails, link: string, reviewer: string): Response {
  const card = cardOf(request, { nowMs: Date.now() });
  const { approvers, callerUserId } = request;
  const keyOf = personKeyIn(request);
  // The caller of a run may approve its calls only if the run lists them among the approvers, or lists no approvers.
  const isOwnRun = isSamePerson(callerUserId, reviewer, keyOf);
  const canApprove = !isOwnRun || approvers === undefined || isOneOf(undefined, reviewer, approvers, keyOf);
  const approve = canApprove
    ? `\n<button class="plain" name="answer" value="approve">Approve this one call</button>`
    : '';
  const why = canApprove ? '' : ' You started this run, so another reviewer has to approve.';
  // The hidden fields say what the page has shown. The run refuses an approval if the user has written since.
  const form = `<form class="card" method="post" action="/links/${encodeURIComponent(link)}">
<input type="hidden" name="card" value="${cardDigest(card)}">
<input type="hidden" name="userMessages" value="${request.userMessages?.count ?? 0}">
<p>You answer as <bdi>${visibleHtml(reviewer)}</bdi>. The link works once.${why}</p>
<label>Reason, which the model reads (optional) <textarea name="reason" maxlength="2000" rows="2"></textarea></label>
<div class="answers"><button name="answer" value="deny">Deny</button>${approve}</div>
</form>`;
  return htmlResponse(card.sentence.text, `${renderHtml(card)}\n${form}`);
}

export function answeredPage(heading: string, sentence: string, request?: ApprovalDetails, status = 200): Response {
  const card = request === undefined ? '' : `\n${renderHtml(cardOf(request, { nowMs: Date.now() }))}`;
  return htmlResponse(heading, `${notice(heading, sentence, 'status')}${card}`, status);
}

export const tooLate = 409;

/** The page for a link that was used, or, as `tooLate`, whose request others settled; undefined if neither is so. */
export function earlierPage(request: ApprovalDetails, reviewer: string, decisionId: string): Response | undefined {
  const vote = request.votes?.find((each) => each.decisionId === decisionId);
  const { settled } = request;
  if (settled !== undefined) {
    const who = settled.reviewerId === undefined ? '' : ` by ${shownPerson(settled.reviewerId, settled.reviewerName)}`;
    // The link of this page gave the deciding answer, or one of the votes before it.
    const isOurs = settled.decisionId === decisionId || vote !== undefined;
    const sentence = `The request was settled on ${instantText(settled.settledAt)}: ${settled.outcome}${who}.`;
    return answeredPage(
      isOurs ? 'You have answered' : 'The request is settled',
      sentence,
      request,
      isOurs ? 200 : tooLate,
    );
  }
  if (vote === undefined) return undefined;
  const sentence = `${reviewer} has ${vote.approved ? 'approved' : 'denied'} this by this link; others have yet to answer.`;
  return answeredPage('You have answered', sentence, request);
}

export function linkProblemPage({ code, message }: Problem, heading = 'No answer was given'): Response {
  // The message of such a problem would not help: people who read a mail cannot start a worker.
  const isBusy = code === 'no_worker' || code === 'server_unreachable';
  const sentence = isBusy ? 'It does not work at the moment: try again in a minute.' : message;
  return htmlResponse(heading, notice(heading, sentence, 'alert'), problemStatus[code]);
}

function notice(heading: string, sentence: string, role: 'status' | 'alert'): string {
  return `<main class="card"><h1>${escapeHtml(heading)}</h1><p role="${role}">${visibleHtml(sentence)}</p></main>`;
}

function visibleHtml(text: string): string {
  return escapeHtml(visibleText(text));
}

/** Calls `answerWith`. If it throws a `ProblemError`, a browser gets a page that shows it. Other errors are thrown. */
export async function asPage(
  request: Request,
  answerWith: () => Promise<Response>,
  heading?: string,
): Promise<Response> {
  try {
    return await answerWith();
  } catch (error) {
    if (!isProblemError(error) || !wantsHtml(request)) throw error;
    return linkProblemPage(problemOf(error), heading);
  }
}

import { isProblemError } from 'countersign/base';
import { wantsHtml } from '../responses/html-response.ts';
import { problemOf } from '../responses/problem-response.ts';
import { linkProblemPage } from './link-page.ts';

/** Answers a browser with a page also if that is a refusal. */
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

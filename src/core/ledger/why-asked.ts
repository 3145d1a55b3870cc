/** Why a request was opened and who is asked, in the words that reviewers and the journal get. */
import type { Risk } from '../base/tool-call.ts';
import { reviewersAt, type AskTerms } from '../policy/ask-terms.ts';
import type { Ruling } from '../policy/ruling.ts';

/** The reason that reviewers read; the rule's own reason if it gives one. */
export function whyAsked({ rule, reason }: Ruling, risk: Risk): string {
  return reason ?? (rule === null ? `Risk default for ${risk}` : `Rule ${rule} asks`);
}

/** Everybody who is asked once the request has been open for `waitedMs`. */
export function reviewersOf({ requirements }: AskTerms, waitedMs: number): string[] {
  return [...new Set(requirements.flatMap((each) => [...reviewersAt(each, waitedMs), ...each.oneOfEach]))];
}

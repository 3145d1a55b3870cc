/** The views for reviewers where the policy says `redact`: placeholders stand for what they may not see. */
import type { Assessment } from '../assess/assessment.ts';
import { redactText } from '../redact/find-sensitive.ts';
import { withoutHidden } from '../redact/join-redactions.ts';
import { redactedArguments, redactedNames } from '../redact/redact-arguments.ts';
import { redactSecrets } from '../redact/redact-secrets.ts';
import type { Redaction } from '../redact/redaction.ts';
import type { RequestedScope } from '../messages/decision.ts';
import type { ApprovalRequest, Settlement } from './approval.ts';
import { hideGlobs } from './hidden-arguments.ts';
import type { RequestRecord } from './ledger-state.ts';

/** The request as reviewers see it. The texts beside the arguments do not repeat what is hidden of these. */
export function redactInRequest<Request extends ApprovalRequest>(request: Request, redaction: Redaction): Request {
  const { arguments: args, contextSummary, sentence } = request;
  const { kinds, values } = redaction;
  const shown = (text: string): string => withoutHidden(text, args, values);
  const names = redactedNames(values);
  return {
    ...request,
    arguments: redactedArguments(args, values),
    assessment: redactInAssessment(request.assessment, shown),
    contextSummary: redactText(shown(contextSummary), kinds),
    ...(sentence !== undefined && { sentence: redactSecrets(shown(sentence)) }),
    ...(names.length > 0 && { redacted: names }),
  };
}

/** The arguments that ran, if a reviewer changed them. `edited`: what reviewers do not see of these. */
export function redactInSettlement(settlement: Settlement, edited: Redaction | undefined): Settlement {
  const { edited: ran } = settlement;
  if (ran === undefined || edited === undefined) return settlement;
  return { ...settlement, edited: { ...ran, arguments: redactedArguments(ran.arguments, edited.values) } };
}

export function redactInVote<Vote extends { always?: boolean | RequestedScope }>(vote: Vote, names: string[]): Vote {
  const { always } = vote;
  return typeof always === 'object' ? { ...vote, always: hideGlobs(always, names) } : vote;
}

/** The arguments of a request in which something is hidden, as asked or as edited. */
export function hiddenNames({ redaction, editedRedaction }: RequestRecord): string[] {
  return [...new Set([redaction, editedRedaction].flatMap((each) => redactedNames(each?.values ?? [])))];
}

function redactInAssessment(assessment: Assessment, shown: (text: string) => string): Assessment {
  const redacted = (texts: string[]): string[] => texts.map((text) => redactSecrets(shown(text)));
  const { reasons, affectedResources, recommendations, fromWorker } = assessment;
  return {
    ...assessment,
    reasons: redacted(reasons),
    affectedResources: redacted(affectedResources),
    recommendations: redacted(recommendations),
    ...(fromWorker !== undefined && { fromWorker: redacted(fromWorker) }),
  };
}

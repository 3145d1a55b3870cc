import type { RunCompleteEvent } from 'countersign/client';

/** Why a run could not begin, by code. Its own words are hidden where no policy says what people may see. */
const sentences: Partial<Record<string, string>> = {
  agent_unknown: 'No worker of this task queue has an agent of that name. Names of agents distinguish capitals.',
  policy_invalid: 'The policy of the run, or of its agent, is not valid.',
  arguments_invalid: 'The input of the run is not valid.',
};

/** Why a run ended as it did. */
export function failureText({ failure, output }: Pick<RunCompleteEvent, 'failure' | 'output'>): string {
  if (failure === undefined) return output;
  const isHidden = /^\s*(?:\[[A-Z_]+\]\s*)*$/.test(failure.message);
  const sentence = sentences[failure.code ?? ''];
  if (isHidden) return sentence ?? (failure.code === undefined ? failure.message : `Code ${failure.code}.`);
  return failure.message;
}

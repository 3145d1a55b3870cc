import { escapeText } from 'countersign/base';
import { editText } from 'countersign/card';
import type { ApprovalResultEvent, CallOutcome, CountersignClient } from 'countersign/client';

/**
 * What a reviewer changed in a call, such as `amount 89 → 50`. Undefined: nothing, or the run does not say so any more.
 */
export async function editOf(
  client: CountersignClient,
  { decision, requestId, workflowId }: Pick<ApprovalResultEvent, 'decision' | 'requestId' | 'workflowId'>,
): Promise<string | undefined> {
  if (decision !== 'approved') return undefined;
  const request = await client.approvals.get(requestId, { workflowId }).catch(() => undefined);
  const edited = request?.settled?.edited;
  return edited === undefined ? undefined : editText(request!.arguments, edited.arguments);
}

/** The edits among the calls of a run, by request; empty texts for those that the run does not tell any more. */
export async function editsOf(
  client: CountersignClient,
  workflowId: string,
  outcomes: readonly CallOutcome[],
): Promise<ReadonlyMap<string, string>> {
  const edits = new Map<string, string>();
  if (!outcomes.some(({ outcome }) => outcome === 'approved')) return edits;
  const { entries } = await client.journal(workflowId);
  const asked = new Map(entries.filter(({ kind }) => kind === 'opened').map((each) => [each.requestId, each.digest]));
  for (const { kind, outcome, requestId = '', digest } of entries) {
    if (kind !== 'settled' || outcome !== 'approved' || asked.get(requestId) === digest) continue;
    edits.set(requestId, (await editOf(client, { decision: 'approved', requestId, workflowId })) ?? '');
  }
  return edits;
}

/** `approved with an edit: amount 89 → 50`, escaped. */
export function editedText(edit: string | undefined): string {
  return `approved with an edit${edit === undefined || edit === '' ? '' : `: ${escapeText(edit)}`}`;
}

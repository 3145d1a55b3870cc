import { setTimeout as sleep } from 'node:timers/promises';
import { userInfo } from 'node:os';
import { isProblemError } from 'countersign/base';
import type { ApprovalSummary } from 'countersign/client';
import type { AskPerson, Tell } from './ask-person.ts';
import type { Stage } from './start-stage.ts';

export interface SettleOptions {
  stage: Stage;
  tell: Tell;
  /** Undefined: approve without asking. */
  askPerson: AskPerson | undefined;
}

/**
 * Shows one open request with its full arguments, gets the decision and sends it. Another reviewer may decide first.
 */
export async function settleRequest({ requestId, workflowId }: ApprovalSummary, options: SettleOptions): Promise<void> {
  const { stage, tell, askPerson } = options;
  const { client, address } = stage;
  const details = await client.approvals.get(requestId, { workflowId });
  const { toolName: tool, arguments: args, contextSummary: context, digest } = details;
  const commands = askPerson === undefined ? [] : [command(address, 'approve', requestId)];
  const url = `${stage.inboxUrl}requests/${encodeURIComponent(workflowId)}/${requestId}`;
  tell({ event: 'asking', requestId, tool, args, context, digest, ...(askPerson && { url }), commands });
  const answer =
    askPerson === undefined ? ({ approved: true } as const) : await raceWithOthers(stage, details, askPerson);
  if (answer === undefined) {
    const { settled } = await client.approvals.get(requestId, { workflowId });
    const by = settled?.reviewerId === undefined ? '' : ` by ${settled.reviewerId}`;
    tell({ event: 'elsewhere', requestId, message: `${settled?.outcome ?? 'settled'}${by}, elsewhere` });
    return;
  }
  if (answer === 'nobody') tell({ event: 'nobody', requestId });
  const by = askPerson === undefined ? '--yes' : answer === 'nobody' ? 'the demo' : systemUser();
  const decision = answer === 'nobody' ? { approved: false, reason: 'No answer: the input ended' } : answer;
  try {
    const { message } = await client.decide({ requestId, ...decision, digest, reviewerId: by }, { workflowId });
    tell({ event: 'decided', requestId, approved: decision.approved, by, message });
  } catch (error) {
    if (!isProblemError(error) || !['expired', 'already_settled', 'run_closed'].includes(error.code)) throw error;
    tell({ event: 'elsewhere', requestId, message: error.message });
  }
}

/** A countersign command for another terminal, as typed in a clone of the repository. */
export function command(address: string, ...words: string[]): string {
  return ['npm run countersign --', ...words, '--address', address].join(' ');
}

/** The person's answer, or undefined if the request was settled elsewhere meanwhile. */
async function raceWithOthers(
  { client }: Stage,
  { requestId, workflowId }: { requestId: string; workflowId: string },
  askPerson: AskPerson,
): Promise<Awaited<ReturnType<AskPerson>> | undefined> {
  const done = new AbortController();
  const elsewhere = async (): Promise<undefined> => {
    for (;;) {
      await sleep(1_000, undefined, { signal: done.signal });
      const { approvals } = await client.approvals.list({ workflowId });
      if (!approvals.some((row) => row.requestId === requestId)) return undefined;
    }
  };
  const settled = elsewhere();
  const asked = askPerson(done.signal);
  for (const each of [settled, asked]) each.catch(() => undefined); // the slower one is aborted
  try {
    return await Promise.race([asked, settled]);
  } finally {
    done.abort(new Error('settled'));
  }
}

/** The system user's name; a user without a name, as in some containers, is 'you'. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return 'you';
  }
}

import type { CountersignClient } from '../../../src/client/countersign-client.ts';
import type { ApprovalDetails } from '../../../src/contract.ts';
import { isProblemError } from '../../../src/core/base/problem.ts';
import { eventually } from '../../support/eventually.ts';

/** A request as its run has it, however long a busy worker takes to answer: the client waits five seconds. */
export function approvalOf(
  { approvals }: CountersignClient,
  requestId: string,
  options: { workflowId?: string } = {},
): Promise<ApprovalDetails> {
  return eventually('the run answers', () =>
    approvals.get(requestId, options).catch((error: unknown) => {
      if (isProblemError(error) && error.code === 'no_worker') return undefined;
      throw error;
    }),
  );
}

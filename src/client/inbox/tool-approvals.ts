import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ApprovalDetails } from '../../contract.ts';
import { ProblemError } from '../../core/base/problem.ts';
import type { JsonObject } from '../../core/base/tool-call.ts';
import type { ApprovalFilter, ApprovalList } from './list-approvals.ts';

/** The inbox. */
export interface Approvals {
  /** Lists the open requests of all runs, earliest deadline first. Needs no worker. */
  list(filter?: ApprovalFilter): Promise<ApprovalList>;
  /** Returns one request, open or settled. `workflowId` saves a search. Throws `unknown_request`, `no_worker`. */
  get(requestId: string, options?: { workflowId?: string }): Promise<ApprovalDetails>;
}

/** The members of a tool that typed approvals need; `defineTool` returns such an object. */
export interface ToolLike {
  readonly name: string;
  readonly input: StandardSchemaV1<unknown, object>;
}

/** A request about one tool. If all arguments are shown, they have the tool's type; secrets in them may be replaced. */
export type ToolApproval<T extends ToolLike> = Omit<ApprovalDetails, 'arguments' | 'shown'> &
  ({ shown: 'all'; arguments: StandardSchemaV1.InferOutput<T['input']> } | { shown: 'part'; arguments: JsonObject });

/** The requests about one tool. */
export interface ToolApprovals<T extends ToolLike> {
  /** Lists the open requests about this tool, as `approvals.list`. */
  list(filter?: Omit<ApprovalFilter, 'tool'>): Promise<ApprovalList>;
  /** Returns a request, as `approvals.get`. Throws `unknown_request` if it is about another tool. */
  get(requestId: string, options?: { workflowId?: string }): Promise<ToolApproval<T>>;
}

/** Makes the inbox callable: `approvals(tool)` has only the requests about that tool. */
export function approvalsOf(all: Approvals): Approvals & (<T extends ToolLike>(tool?: T | string) => ToolApprovals<T>) {
  const forTool = <T extends ToolLike>(tool?: T | string): ToolApprovals<T> => {
    const name = typeof tool === 'object' ? tool.name : tool;
    return {
      list: (filter) => all.list({ ...filter, ...(name !== undefined && { tool: name }) }),
      get: async (requestId, options) => {
        const details = await all.get(requestId, options);
        if (name === undefined || details.toolName === name) return details;
        const message = `Request ${requestId} is about tool '${details.toolName}', not '${name}'.`;
        throw new ProblemError({ code: 'unknown_request', message });
      },
    };
  };
  return Object.assign(forTool, all);
}

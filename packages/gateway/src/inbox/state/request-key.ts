/** What identifies a request. One run cannot speak for the request of another, so both ids count. */
export interface RequestIds {
  workflowId: string;
  requestId: string;
}

/** Identifies a request in a set. */
export function requestKey({ workflowId, requestId }: RequestIds): string {
  return `${workflowId}\n${requestId}`;
}

export function isSameRequest(one: RequestIds, other: RequestIds): boolean {
  return one.requestId === other.requestId && one.workflowId === other.workflowId;
}

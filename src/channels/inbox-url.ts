import type { ChannelRequest } from './channel.ts';

/** The request in the inbox of the gateway at `origin`. Whoever opens it signs in there. */
export function inboxUrl(origin: string, { workflowId, requestId }: Pick<ChannelRequest, 'workflowId' | 'requestId'>) {
  return `${origin}/inbox/requests/${encodeURIComponent(workflowId)}/${encodeURIComponent(requestId)}`;
}

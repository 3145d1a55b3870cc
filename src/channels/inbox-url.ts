import type { ChannelRequest } from './channel.ts';

type Place = Pick<ChannelRequest, 'workflowId'> & Partial<Pick<ChannelRequest, 'requestId'>>;

/** The request in the inbox of the gateway at `origin`, or its run. Whoever opens it signs in there. */
export function inboxUrl(origin: string, { workflowId, requestId }: Place): string {
  const run = encodeURIComponent(workflowId);
  return `${origin}/inbox/${requestId === undefined ? `runs/${run}` : `requests/${run}/${encodeURIComponent(requestId)}`}`;
}

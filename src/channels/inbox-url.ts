import type { ChannelRequest } from './channel.ts';

type Place = Pick<ChannelRequest, 'workflowId'> & Partial<Pick<ChannelRequest, 'requestId'>>;

/** The request in the inbox of the gateway at `origin`, or its run. Whoever opens it signs in there. */
export function inboxUrl(origin: string, { workflowId, requestId }: Place): string {
  const run = asPart(workflowId);
  return `${origin}/inbox/${requestId === undefined ? `runs/${run}` : `requests/${run}/${asPart(requestId)}`}`;
}

/** Half a surrogate pair has no place in an address. */
function asPart(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

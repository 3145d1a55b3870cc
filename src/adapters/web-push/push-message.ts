import { createHash } from 'node:crypto';
import type { ChannelRequest, ChannelStep } from '../../channels/channel.ts';
import { byReviewer, outcomeTitle } from '../../channels/caller-notice.ts';
import { inboxUrl } from '../../channels/answer-link.ts';
import type { Settlement } from '../../contract.ts';
import { byteLength } from '../../core/base/text.ts';
import { shownName } from '../../text/visible-text.ts';

export interface PushMessage {
  title: string;
  body: string;
  /** A notification replaces an earlier one with the same tag. */
  tag: string;
  url: string;
  /** An id that every attempt to send this message has, and no other message. */
  key: string;
  /** The deadline of the request (ISO 8601). The browser adds it to the body in its own time zone. */
  until?: string;
  /** True if the browser shows the message without sound or vibration. */
  silent?: boolean;
}

export interface Delivery {
  /** How long the push service keeps the message for an offline browser, in seconds. */
  ttl: number;
  urgency: 'normal' | 'high';
  /** The message replaces an undelivered one with the same topic, of at most 32 characters. */
  topic: string;
}

/** The most bytes of a URL: push services accept messages of 4,096 bytes, encryption and padding included. */
const mostBytes = 3_000;
const daySeconds = 24 * 3_600;
/** The longest `ttl` that push services accept. */
const longestSeconds = 28 * daySeconds;

const titles = {
  asked: 'A call waits for a decision',
  reminded: 'A call still waits for a decision',
  warned: 'A call is about to expire',
  escalated: 'A call waits for you, too',
  user_wrote: 'The user has written since a call was asked about',
} as const satisfies Record<ChannelStep['kind'], string>;

/** Builds a message about an open request. It contains no argument, because others can see a lock screen. */
export function askingMessage(
  request: ChannelRequest,
  { kind }: ChannelStep,
  { origin, key }: { origin: string; key: string },
): PushMessage {
  const { agentName, toolName, assessment, deadline } = request;
  const what = `${shownName(agentName)} wants to call ${shownName(toolName)} · severity ${shownName(assessment.severity)}`;
  const end = deadline === null ? { body: `${what} · no deadline` } : { body: what, until: shownName(deadline) };
  return { title: titles[kind], ...end, ...common(request, origin, key) };
}

/** Builds a message about a settled request. It replaces the notification that asks for an answer. */
export function settledMessage(
  request: ChannelRequest,
  settlement: Settlement,
  { origin, key }: { origin: string; key: string },
): PushMessage {
  const title = `Settled: ${shownName(settlement.outcome)}${byReviewer(request, settlement, shownName)}`;
  const body = `${shownName(request.agentName)} wanted to call ${shownName(request.toolName)}`;
  return { title, body, ...common(request, origin, key), silent: true };
}

/** Builds a message to the caller of the run. It links to the run, and contains no argument and no reason. */
export function callerMessage(
  request: ChannelRequest,
  settlement: Settlement | undefined,
  { origin, key }: { origin: string; key: string },
): PushMessage {
  const { agentName, toolName, deadline, requestId, workflowId } = request;
  const asks = settlement === undefined ? 'waits for a decision before it calls' : 'asked to call';
  const isBounded = settlement === undefined && deadline !== null;
  return {
    title: settlement === undefined ? 'Waiting for a decision' : outcomeTitle(request, settlement),
    body: `${shownName(agentName)} ${asks} ${shownName(toolName)}`,
    ...(isBounded && { until: shownName(deadline) }),
    ...common(request, origin, key),
    url: boundedUrl(inboxUrl(origin, { workflowId }), origin),
    tag: `countersign-caller-${requestId}`,
  };
}

/**
 * How a push service delivers a message. It keeps the message until the request's deadline, or for a day if there is no
 * deadline or the message reports a settlement. Only open requests of high or critical severity are urgent.
 */
export function deliveryOf(
  { workflowId, requestId, deadline, assessment: { severity } }: ChannelRequest,
  isSettled: boolean,
): Delivery {
  const leftSeconds = deadline === null || isSettled ? daySeconds : (Date.parse(deadline) - Date.now()) / 1_000;
  const isUrgent = !isSettled && (severity === 'high' || severity === 'critical');
  return {
    ttl: Math.min(Math.max(Math.ceil(leftSeconds), 0), longestSeconds),
    urgency: isUrgent ? 'high' : 'normal',
    topic: createHash('sha256')
      .update(JSON.stringify([workflowId, requestId]))
      .digest('base64url')
      .slice(0, 32),
  };
}

/** The members that all messages about a request have. `callerMessage` overrides `tag` and `url`. */
function common(request: ChannelRequest, origin: string, key: string): Pick<PushMessage, 'tag' | 'url' | 'key'> {
  const url = inboxUrl(origin, request);
  return {
    tag: `countersign-${request.requestId}`,
    url: boundedUrl(url, origin),
    key: createHash('sha256').update(key).digest('base64url').slice(0, 16),
  };
}

/** Returns the URL, or that of the inbox if the URL is too long. */
function boundedUrl(url: string, origin: string): string {
  return byteLength(url) > mostBytes ? `${origin}/inbox/` : url;
}

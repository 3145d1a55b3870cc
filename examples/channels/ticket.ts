/**
 * A channel of your own, for a tracker in which a request is a ticket: `notify` opens it, `resolve` reads what became of it, and
 * `settled` closes it if the request was settled elsewhere.
 *
 *   TRACKER_URL=http://127.0.0.1:8080 countersign worker examples/channels/ticket.ts
 *   countersign run shop --input 'My lamp came broken'
 *
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Channel, ChannelAnswer, ChannelRequest, NotifyContext, ResolveContext } from 'countersign/channels';
import { policy, shop } from './shop.ts';

interface Ticket {
  id: string;
  state: 'open' | 'approved' | 'rejected' | 'closed';
  assignee?: string;
  comment?: string;
}

class TicketChannel implements Channel {
  /** The tracker may be away for a while: `resolve` is called again. */
  readonly retries = true;
  readonly #url: string;
  readonly #pollMs: number;

  constructor(url: string, { pollMs = 5_000 } = {}) {
    this.#url = url;
    this.#pollMs = pollMs;
  }

  async notify(request: ChannelRequest, { key, sent, signal }: NotifyContext) {
    if (sent !== undefined) return sent; // a reminder: the ticket is there
    const title = `May ${request.agentName} call ${request.toolName}?`;
    const text = JSON.stringify(request.arguments);
    // The tracker takes each key once: another attempt finds the same ticket.
    const { id } = await this.#call<Ticket>('POST', '/tickets', { key, title, text }, signal);
    return { ticket: id };
  }

  async resolve(_request: ChannelRequest, signal: AbortSignal, { sent }: ResolveContext): Promise<ChannelAnswer> {
    for (;;) {
      const { state, assignee, comment } = await this.#call<Ticket>('GET', pathOf(sent), undefined, signal);
      const said = { ...(assignee && { reviewerId: assignee }), ...(comment && { reason: comment }) };
      if (state === 'approved') return { approved: true, ...said };
      if (state === 'rejected' || state === 'closed') return { approved: false, ...said };
      await sleep(this.#pollMs, undefined, { signal });
    }
  }

  async settled(
    ...[, { outcome, reviewerId = 'nobody' }, { sent, signal }]: Parameters<NonNullable<Channel['settled']>>
  ) {
    const ticket = await this.#call<Ticket>('GET', pathOf(sent), undefined, signal);
    if (ticket.state !== 'open') return;
    await this.#call('PUT', pathOf(sent), { state: 'closed', comment: `${outcome} by ${reviewerId}` }, signal);
  }

  async #call<Answer>(method: string, path: string, body: unknown, signal: AbortSignal): Promise<Answer> {
    const response = await fetch(new URL(path, this.#url), {
      method,
      headers: { 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    });
    if (!response.ok) throw new Error(`the tracker answered ${response.status}`);
    return (await response.json()) as Answer;
  }
}

/** What `notify` returned finds the ticket again, whichever worker asks. */
function pathOf(sent: unknown): string {
  const { ticket } = sent as { ticket: string };
  return `/tickets/${encodeURIComponent(ticket)}`;
}

const { TRACKER_URL: url = 'http://127.0.0.1:8080', TRACKER_POLL_MS: pollMs = '5000' } = process.env;

export default { agents: [shop], policy, channels: { tickets: new TicketChannel(url, { pollMs: Number(pollMs) }) } };

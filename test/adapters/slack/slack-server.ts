import { createHmac, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as bodyOf } from 'node:stream/consumers';
import { messageProblem, type SlackBlockInTest, viewProblem } from './slack-limits.ts';
import { SlackSockets } from './slack-sockets.ts';
import { type Listening, listen } from '../../support/listen.ts';

/** A message as Slack keeps it. */
export interface SlackMessageInTest {
  ts: string;
  channel: string;
  text: string;
  blocks: SlackBlockInTest[];
  bot_id?: string;
  subtype?: 'tombstone';
  thread_ts?: string;
  metadata?: { event_type: string; event_payload?: Record<string, unknown> | undefined };
}

export interface SlackViewInTest {
  callback_id: string;
  private_metadata: string;
  blocks: SlackBlockInTest[];
}

/** Who clicks. */
export interface SlackUser {
  id: string;
  team?: string;
  name?: string;
  /** The organization, if the workspace is part of one: clicks then name it in the place of the user's team. */
  enterprise?: string;
}

/** A form-encoded payload with Slack's signature, as it goes to the gateway. */
export interface SignedPayload {
  body: string;
  headers: Record<string, string>;
}

/** What Slack makes of three characters of the texts that it returns. */
const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

interface Fault {
  method: string;
  /** `after`: Slack carries the call out, and the response is lost. */
  kind: 'rate-limited' | 'away for an hour' | 'down' | 'after' | 'status-500' | { error: string };
}

const token = 'xoxb-of-this-test';
const teamId = 'T0001';
/** A trigger opens one modal. Slack gives it three seconds, which a busy machine can miss. */
const triggerMs = 30_000;

/**
 * Speaks Slack's Web API as its documentation describes it, for one workspace with one app. It refuses what Slack refuses,
 * and sends clicks to a gateway.
 */
export class SlackServer {
  readonly token = token;
  readonly signingSecret = 'the signing secret of this test';
  readonly botId = 'B0001';
  readonly channel = 'C0001';
  /** Every message of the channel and its threads, in order. */
  readonly messages: SlackMessageInTest[] = [];
  /** What one person alone sees. */
  readonly ephemerals: { user: string; text: string; blocks: SlackBlockInTest[] }[] = [];
  readonly views: SlackViewInTest[] = [];
  /** Users who are not in the channel. */
  readonly outsiders = new Set<string>();
  /** With which the app asks for a connection. */
  readonly appToken = 'xapp-of-this-test';
  readonly sockets: SlackSockets;
  /** When a message was updated last, in milliseconds since 1970. */
  updatedMs = 0;
  /** True: answers in threads are refused. */
  failReplies = false;
  /** Slack may return fewer messages than were asked for. */
  largestPage = 1_000;
  /** The methods that were called, in order. */
  readonly calls: string[] = [];
  readonly #faults: Fault[] = [];
  readonly #triggers = new Map<string, number>();
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  #listening: Listening | undefined;
  readonly #held = new Map<string, PromiseWithResolvers<void>>();
  readonly #responses = new Map<string, string>();
  #clock = Math.floor(Date.now() / 1_000);
  #sequence = 0;

  constructor() {
    this.sockets = new SlackSockets(this.#server);
  }

  static async start(): Promise<SlackServer> {
    const slack = new SlackServer();
    slack.#listening = await listen(slack.#server);
    return slack;
  }

  get apiUrl(): string {
    return `${this.#listening!.url}/api/`;
  }

  /** The next call of a method goes wrong. */
  fail(method: string, kind: Fault['kind']): void {
    this.#faults.push({ method, kind });
  }

  /** Calls of a method wait until the function that this returns is called. */
  hold(method: string): () => void {
    const held = Promise.withResolvers<void>();
    this.#held.set(method, held);
    return () => {
      this.#held.delete(method);
      held.resolve();
    };
  }

  /** The messages of the channel outside of threads. */
  get posts(): SlackMessageInTest[] {
    return this.messages.filter(({ thread_ts: thread }) => thread === undefined);
  }

  /** The payload of a click on a button of a message; `block`: part of the id of the buttons' block. */
  click(user: SlackUser, message: SlackMessageInTest, action: string, block = 'open.'): SignedPayload {
    const found = message.blocks
      .filter(({ type, block_id: id }) => type === 'actions' && id?.includes(block))
      .flatMap(({ block_id, elements = [] }) => elements.map((each) => ({ block_id, ...each })))
      .find(({ action_id: id }) => id === action);
    if (found === undefined) throw new Error(`there is no button ${action} in ${JSON.stringify(message.blocks)}`);
    return this.sign({
      type: 'block_actions',
      ...this.#sender(user),
      container: { type: 'message', message_ts: message.ts, channel_id: message.channel },
      channel: { id: message.channel, name: 'approvals' },
      message: returned(message),
      response_url: this.#responseUrl(user.id),
      actions: [{ type: 'button', block_id: found.block_id, action_id: action, value: found.value }],
    });
  }

  /** Somebody deletes a message. Slack keeps an empty one in the place of one with replies. */
  remove(message: SlackMessageInTest): void {
    if (this.messages.some(({ thread_ts: thread }) => thread === message.ts)) {
      const { ts, channel } = message;
      const tombstone = { ts, channel, text: 'This message was deleted.', blocks: [], subtype: 'tombstone' as const };
      this.messages.splice(this.messages.indexOf(message), 1, tombstone);
    } else this.messages.splice(this.messages.indexOf(message), 1);
  }

  /** The payload of a modal that somebody submits with this text in its input. */
  submit(user: SlackUser, view: SlackViewInTest, value: string | null): SignedPayload {
    const [{ block_id: block, element }] = view.blocks as [SlackBlockInTest];
    const state = { values: { [block!]: { [element!.action_id!]: { type: 'plain_text_input', value } } } };
    const { user: sender, ...others } = this.#sender(user);
    const { team_id: _, ...withoutTeam } = sender;
    return this.sign({
      type: 'view_submission',
      ...others,
      user: user.enterprise === undefined ? sender : withoutTeam,
      view: { id: 'V1', ...view, state },
    });
  }

  sign(payload: object, { secret = this.signingSecret, atMs = Date.now() } = {}): SignedPayload {
    return signed(new URLSearchParams({ payload: JSON.stringify(payload) }).toString(), secret, atMs);
  }

  async close(): Promise<void> {
    this.sockets.close();
    await this.#listening?.close();
  }

  #sender({ id, team = teamId, name = id.toLowerCase(), enterprise }: SlackUser) {
    const trigger = randomUUID();
    this.#triggers.set(trigger, Date.now() + triggerMs);
    return {
      user: { id, username: name, name, team_id: enterprise ?? team },
      team: { id: team, domain: 'test', ...(enterprise !== undefined && { enterprise_id: enterprise }) },
      trigger_id: trigger,
    };
  }

  #responseUrl(user: string): string {
    const id = randomUUID();
    this.#responses.set(id, user);
    return new URL(`/actions/${id}`, this.apiUrl).href;
  }

  /** What an app posts to the `response_url` of an interaction. */
  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const user = this.#responses.get(request.url!.replace('/actions/', ''));
    const { text, blocks, response_type: type } = JSON.parse(await bodyOf(request));
    if (user !== undefined && type === 'ephemeral') this.ephemerals.push({ user, text, blocks });
    response.writeHead(user === undefined ? 404 : 200).end('ok');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url!.startsWith('/actions/')) return this.#respond(request, response);
    const method = request.url!.replace('/api/', '');
    const form = Object.fromEntries(new URLSearchParams(await bodyOf(request)));
    this.calls.push(method);
    const at = this.#faults.findIndex((each) => each.method === method);
    const fault = at === -1 ? undefined : this.#faults.splice(at, 1)[0];
    if (fault?.kind === 'down') return void request.socket.destroy();
    await this.#held.get(method)?.promise;
    if (fault?.kind === 'status-500') return void response.writeHead(500).end('x');
    if (fault?.kind === 'rate-limited') return void response.writeHead(429, { 'retry-after': '1' }).end();
    if (fault?.kind === 'away for an hour') return void response.writeHead(429, { 'retry-after': '3600' }).end();
    const isOpening = method === 'apps.connections.open';
    const isKnown = request.headers.authorization === `Bearer ${isOpening ? this.appToken : token}`;
    const known = (): object => (isOpening ? this.sockets.ticket() : this.#call(method, form));
    const refusal = typeof fault?.kind === 'object' ? fault.kind : undefined;
    const answer = refusal ?? (isKnown ? known() : { error: 'invalid_auth' });
    if (fault?.kind === 'after') return void request.socket.destroy();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ok: !('error' in answer), ...answer }));
  }

  #call(method: string, form: Record<string, string>): object {
    const blocks = JSON.parse(form['blocks'] ?? '[]') as SlackBlockInTest[];
    const metadata = form['metadata'] === undefined ? undefined : JSON.parse(form['metadata']);
    const { channel = '', text = '', ts, thread_ts, user = '' } = form;
    if (method === 'chat.postEphemeral' && this.outsiders.has(user)) return { error: 'user_not_in_channel' };
    if (method !== 'auth.test' && method !== 'views.open' && channel !== this.channel)
      return { error: 'channel_not_found' };
    switch (method) {
      case 'auth.test':
        return { bot_id: this.botId, team_id: teamId, user_id: 'U0BOT' };
      case 'chat.postMessage': {
        if (this.failReplies && thread_ts !== undefined) return { error: 'internal_error' };
        const error = messageProblem(text, blocks);
        if (error !== undefined) return { error };
        this.#sequence += 1;
        const message = {
          ts: `${this.#clock}.${String(this.#sequence).padStart(6, '0')}`,
          channel,
          text,
          blocks,
          bot_id: this.botId,
          thread_ts,
          metadata,
        };
        this.messages.push(message);
        return { ts: message.ts, channel, message };
      }
      case 'chat.update': {
        const message = this.messages.find((each) => each.ts === ts);
        if (message === undefined) return { error: 'message_not_found' };
        if (message.subtype === 'tombstone') return { error: 'cant_update_message' };
        const error = messageProblem(text, blocks);
        if (error !== undefined) return { error };
        this.updatedMs = Date.now();
        Object.assign(message, { text, blocks, ...(metadata !== undefined && { metadata }) });
        return { ts, channel };
      }
      case 'chat.postEphemeral': {
        const error = messageProblem(text, blocks);
        if (error !== undefined) return { error };
        this.ephemerals.push({ user, text, blocks });
        return { message_ts: '1.000001' };
      }
      case 'views.open': {
        const until = this.#triggers.get(form['trigger_id'] ?? '');
        this.#triggers.delete(form['trigger_id'] ?? '');
        if (until === undefined || until < Date.now()) return { error: 'expired_trigger_id' };
        const view = JSON.parse(form['view']!) as SlackViewInTest;
        const error = viewProblem(view);
        if (error !== undefined) return { error };
        this.views.push(view);
        return { view: { id: 'V1' } };
      }
      case 'conversations.history':
        return this.#page(this.posts, form);
      case 'conversations.replies':
        return this.#page(
          this.messages.filter((each) => each.ts === ts || each.thread_ts === ts),
          form,
        );
      default:
        return { error: 'unknown_method' };
    }
  }

  #page(messages: readonly SlackMessageInTest[], form: Record<string, string>): object {
    const { oldest = '0', latest = '9999999999', inclusive, limit = '100', include_all_metadata: all, cursor } = form;
    const isIn = (each: string): boolean =>
      inclusive === 'true' ? each >= oldest && each <= latest : each > oldest && each < latest;
    const from = cursor === undefined ? 0 : Number(Buffer.from(cursor, 'base64').toString());
    const until = from + Math.min(Number(limit), this.largestPage);
    const found = messages.filter(({ ts }) => isIn(ts)).toReversed();
    const shown = found
      .slice(from, until)
      .map(({ metadata, ...message }) => (all === 'true' ? { ...returned(message), metadata } : returned(message)));
    const next = until < found.length ? Buffer.from(String(until)).toString('base64') : '';
    return { messages: shown, has_more: next !== '', response_metadata: { next_cursor: next } };
  }
}

/** As Slack returns a message: with entities in its texts, and members of blocks that nobody sent. */
function returned<Message extends { blocks: SlackBlockInTest[] }>(message: Message): Message {
  const copy = JSON.parse(JSON.stringify(message), (name: string, value: unknown) =>
    typeof value === 'string' && (name === 'text' || name === 'value')
      ? value.replaceAll(/[&<>]/g, (each) => entities[each]!)
      : value,
  ) as Message;
  return { ...copy, blocks: copy.blocks.map((each) => ({ ...each, border: 0 })) };
}

/** A body with the signature that Slack gives it. */
export function signed(body: string, secret: string, atMs = Date.now()): SignedPayload {
  const timestamp = String(Math.floor(atMs / 1_000));
  const signature = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex');
  return {
    body,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': timestamp,
      'x-slack-signature': `v0=${signature}`,
    },
  };
}

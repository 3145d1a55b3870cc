import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { eventually } from '../../support/eventually.ts';

/** How Slack hears of an envelope: undefined if its connection closed before. */
export type Acknowledgement = object | undefined;

/** The connections of Socket Mode, as Slack's documentation describes them, over real WebSockets. */
export class SlackSockets {
  /** The open connections. */
  readonly open: WebSocket[] = [];
  /** How many connections Slack has opened. */
  opened = 0;
  /** False: connections open, and nothing is said over them. */
  saysHello = true;
  readonly #tickets = new Set<string>();
  readonly #waiting = new Map<string, (body: object) => void>();
  readonly #server = new WebSocketServer({ noServer: true });
  readonly #http: Server;
  #next = 0;

  constructor(http: Server) {
    this.#http = http;
    http.on('upgrade', (request: IncomingMessage, socket, head) => {
      // A ticket opens one connection.
      const ticket = new URL(request.url!, 'ws://slack').searchParams.get('ticket') ?? '';
      if (!this.#tickets.delete(ticket)) return void socket.destroy();
      this.#server.handleUpgrade(request, socket, head, (client) => this.#take(client));
    });
  }

  /** The answer to `apps.connections.open`. */
  ticket(): object {
    const ticket = randomUUID();
    this.#tickets.add(ticket);
    const { port } = this.#http.address() as AddressInfo;
    return { url: `ws://127.0.0.1:${port}/link/?ticket=${ticket}&app_id=A0001` };
  }

  /** Sends an envelope over one of the connections, in turn, and waits for its acknowledgement. */
  async send(
    payload: unknown,
    {
      type = 'interactive',
      id = randomUUID(),
      over = this.#inTurn(),
    }: { type?: string; id?: string; over?: WebSocket } = {},
  ): Promise<Acknowledgement> {
    const { type: kind } = (payload ?? {}) as { type?: unknown };
    const answered = Promise.withResolvers<Acknowledgement>();
    this.#waiting.set(id, answered.resolve);
    over.send(JSON.stringify({ envelope_id: id, type, payload, accepts_response_payload: kind === 'view_submission' }));
    const end = (): void => answered.resolve(undefined);
    over.once('close', end);
    const answer = await answered.promise;
    over.off('close', end);
    this.#waiting.delete(id);
    return answer;
  }

  /** Sends text as it is over a connection. */
  frame(text: string, over = this.#inTurn()): void {
    over.send(text);
  }

  /** Ends a connection as Slack does when it renews it, or when the app has no Socket Mode any more. */
  refresh(
    reason: 'warning' | 'refresh_requested' | 'link_disabled' = 'refresh_requested',
    over = this.#inTurn(),
  ): void {
    over.send(JSON.stringify({ type: 'disconnect', reason, debug_info: { host: 'applink-1' } }));
  }

  /** Waits for so many connections. */
  async connected(count = 1): Promise<void> {
    await eventually(`${count} connections`, () => this.open.length === count);
  }

  close(): void {
    for (const each of this.#server.clients) each.terminate();
    this.#server.close();
  }

  #inTurn(): WebSocket {
    this.#next += 1;
    return this.open[this.#next % this.open.length]!;
  }

  #take(client: WebSocket): void {
    this.opened += 1;
    client.on('close', () => {
      const at = this.open.indexOf(client);
      if (at !== -1) this.open.splice(at, 1);
    });
    client.on('message', (data: Buffer) => {
      const { envelope_id: id, payload = {} } = JSON.parse(data.toString('utf8')) as {
        envelope_id: string;
        payload?: object;
      };
      this.#waiting.get(id)?.(payload);
    });
    if (!this.saysHello) return;
    const hello = {
      type: 'hello',
      num_connections: this.open.length + 1,
      connection_info: { app_id: 'A0001' },
      debug_info: { host: 'applink-1', approximate_connection_time: 18_060 },
    };
    client.send(JSON.stringify(hello));
    this.open.push(client);
  }
}

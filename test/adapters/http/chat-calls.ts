import { randomUUID } from 'node:crypto';
import { type Authenticator, type Role, roles } from '../../../packages/gateway/src/http/identity/principal.ts';
import { eventually } from '../../support/eventually.ts';
import type { GatewayWorld } from '../../support/gateway-world.ts';
import type { Turns } from '../../support/world.ts';

export type ChatEvent = { type: string } & Record<string, unknown>;

/** Takes whoever is named in the header `x-person` for that person; `NAME:ROLE,ROLE` has those roles, else all. */
export function byHeader(): Authenticator {
  return {
    authenticate: async (request) => {
      const header = request.headers.get('x-person');
      if (header === null) return undefined;
      const [id, names] = header.split(':') as [string, string?];
      const own = names === undefined ? roles : (names.split(',') as Role[]);
      return { id, roles: own, groups: [], via: 'token', key: `token:${id}` };
    },
  };
}

/** A policy that asks for these tools, and lets the person who started the run approve. */
export function asksFor(...tools: string[]): object {
  const rules = tools.map((pattern) => ({ pattern, action: 'ask', ask: { allow_self: true } }));
  return { version: 1, rules };
}

/** A body of AG-UI whose user says a script. */
export function agUiInput(turns: Turns, more: object = {}) {
  const messages = [{ id: 'm-1', role: 'user', content: JSON.stringify(turns) }];
  return { threadId: `thread-${randomUUID()}`, runId: randomUUID(), messages, ...more };
}

/** A body of the AI SDK whose user says a script. */
export function aiSdkBody(turns: Turns, more: object = {}) {
  const messages = [{ id: 'm-1', role: 'user', parts: [{ type: 'text', text: JSON.stringify(turns) }] }];
  return { id: `chat-${randomUUID()}`, messages, ...more };
}

/** Posts a body and reads all events of the answer. */
export async function chat(world: GatewayWorld, path: string, body: object, person = 'ann'): Promise<ChatEvent[]> {
  const response = await world.call('POST', path, body, { 'x-person': person });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return eventually(`the end of the stream of ${path} to ${person}`, async () => eventsOf(await response.text()));
}

/** The data of a stream of server-sent events. */
export function eventsOf(text: string): ChatEvent[] {
  return text
    .split('\n\n')
    .filter((block) => block.startsWith('data: ') && block !== 'data: [DONE]')
    .map((block) => JSON.parse(block.slice('data: '.length)) as ChatEvent);
}

import { Chat } from '@ai-sdk/react';
import { DefaultChatTransport, type DynamicToolUIPart, type UIMessage, safeValidateUIMessages } from 'ai';
import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import type { GatewayWorld } from '../../support/gateway-world.ts';
import type { Turns } from '../../support/world.ts';

type Transport = Omit<ConstructorParameters<typeof DefaultChatTransport<UIMessage>>[0] & object, 'api' | 'headers'>;
type Options = Omit<ConstructorParameters<typeof Chat<UIMessage>>[0], 'transport'> & {
  transport?: Transport;
  person?: string;
  /** Default: `tester`. */
  agent?: string;
};

/** The notes of a gateway: the data of the parts that the AI SDK gives to `onData`. */
export interface Note {
  type: string;
  data: Record<string, unknown>;
}

/** The client of `useChat`, without React around it. */
export function openUseChat(
  world: GatewayWorld,
  { transport, person = 'ann', agent = 'tester', ...options }: Options = {},
) {
  const notes: Note[] = [];
  const requests: string[] = [];
  const chat = new Chat({
    ...options,
    onData: (part) => notes.push(part as Note),
    transport: new DefaultChatTransport({
      ...transport,
      api: new URL(`/ai-sdk/${agent}`, world.gateway.url).href,
      headers: { 'x-person': person },
      fetch: (url, init) => {
        requests.push(init!.body as string);
        return fetch(url, init);
      },
    }),
  });
  const tools = (): DynamicToolUIPart[] =>
    chat.messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'dynamic-tool'));
  const tool = (named: string): DynamicToolUIPart => tools().find(({ toolName }) => toolName === named)!;
  return {
    chat,
    notes,
    /** The bodies that were sent. */
    requests,
    tools,
    tool,
    say: (turns: Turns): Promise<void> => chat.sendMessage({ text: JSON.stringify(turns) }),
    answer: async (part: DynamicToolUIPart, approved: boolean, reason?: string): Promise<void> => {
      await chat.addToolApprovalResponse({ id: part.approval!.id, approved, ...(reason !== undefined && { reason }) });
    },
    /** Waits for the end of the request under way. */
    settled: (): Promise<boolean> =>
      eventually('the end of the request', () => ['ready', 'error'].includes(chat.status)),
    /** Waits for the last text of the assistant, after which the chat is ready. */
    text: async (): Promise<string> => {
      await eventually('the text of the assistant', () => {
        if (chat.error !== undefined) throw chat.error;
        return chat.status === 'ready' && chat.messages.at(-1)?.parts.at(-1)?.type === 'text';
      });
      expect(await safeValidateUIMessages({ messages: chat.messages })).toMatchObject({ success: true });
      const last = chat.messages.at(-1)?.parts.at(-1);
      return last?.type === 'text' ? last.text : '';
    },
  };
}

import { OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import {
  uiChunks,
  givenAnswers,
  chatRequest,
  continuedMessage,
  aiSdkFresh,
  aiSdkItems,
  aiSdkTexts,
} from '../chat/ai-sdk.ts';
import { chatResponse, logFailure, type OpenChat, openChat, resumeChat, stopChat } from '../chat/open-chat.ts';
import { type SeenItems, nothingSeen } from '../chat/chat-thread.ts';
import { defineRoute, refuseInput } from '../shapes/define-route.ts';
import type { GatewayContext, HttpEnv } from '../gateway-context.ts';
import { requirePrincipal } from '../identity/principal.ts';
import * as inputs from '../shapes/input-shapes.ts';
import * as answers from '../shapes/response-shapes.ts';

const chat = defineRoute('POST /ai-sdk/{agent}', {
  summary: 'Chat with an agent by the UI message stream of the AI SDK: open requests are tool approvals.',
  request: { params: z.object({ agent: z.string().min(1).max(200) }), ...inputs.body(chatRequest) },
  responses: { 200: answers.text('text/event-stream', 'Chunks of a UI message') },
});

const resume = defineRoute('GET /ai-sdk/{agent}/{thread}/stream', {
  summary: 'The running turn of a chat, for a page that has lost its stream.',
  request: { params: inputs.threadParams },
  responses: {
    200: answers.text('text/event-stream', 'Chunks of a UI message'),
    204: { description: 'Nothing runs: the chat waits for its user.' },
  },
});

const stop = defineRoute('POST /ai-sdk/{agent}/{thread}/stop', {
  summary: 'Stop the running turn of a chat: open requests are withdrawn, and no further call starts.',
  request: { params: inputs.threadParams },
  responses: answers.stopped,
});

export function aiSdkRoutes(gateway: GatewayContext): OpenAPIHono<HttpEnv> {
  const respond = (
    context: Context<HttpEnv>,
    { steps, messageId }: OpenChat,
    { seen, continues }: { seen: SeenItems; continues: boolean },
  ): Response => {
    const options = { messageId, seen, continues, failed: logFailure(gateway) };
    return chatResponse(context, gateway, (signal) => uiChunks(steps(signal), options), {
      headers: { 'x-vercel-ai-ui-message-stream': 'v1' },
      end: '[DONE]',
    });
  };
  return new OpenAPIHono<HttpEnv>({ defaultHook: refuseInput('invalid_message') })
    .openapi(chat, async (context) => {
      const request = context.req.valid('json');
      const seen = aiSdkItems(request);
      const message = {
        agent: context.req.valid('param').agent,
        threadId: request.id,
        fresh: aiSdkFresh(request),
        texts: aiSdkTexts(request),
        again: request.trigger === 'regenerate-message',
        continues: continuedMessage(request),
        answers: givenAnswers(request),
        seen,
        channel: 'ai-sdk',
      };
      const opened = await openChat(gateway, requirePrincipal(context.var), message);
      return respond(context, opened, { seen, continues: message.continues !== undefined });
    })
    .openapi(resume, async (context) => {
      const { agent, thread: threadId } = context.req.valid('param');
      const found = await resumeChat(gateway, requirePrincipal(context.var), { agent, threadId });
      return found === undefined
        ? context.body(null, 204)
        : respond(context, found, { seen: nothingSeen, continues: false });
    })
    .openapi(stop, async (context) => {
      const { agent, thread: threadId } = context.req.valid('param');
      await stopChat(gateway, requirePrincipal(context.var), { agent, threadId });
      return context.body(null, 204);
    });
}

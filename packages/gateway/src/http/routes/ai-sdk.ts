import { OpenAPIHono, z } from '@hono/zod-openapi';
import { uiChunks } from '../chat/ai-sdk-chunks.ts';
import { givenAnswers, chatRequest, isUserLast, aiSdkItems, aiSdkTexts } from '../chat/ai-sdk-input.ts';
import { chatResponse, logFailure } from '../chat/chat-response.ts';
import { openChat } from '../chat/open-chat.ts';
import { defineRoute } from '../shapes/define-route.ts';
import type { GatewayContext } from '../gateway-context.ts';
import type { HttpEnv } from '../http-env.ts';
import { requirePrincipal } from '../identity/require-principal.ts';
import { body } from '../shapes/input-shapes.ts';
import { refuseInput } from '../shapes/refuse-input.ts';
import { text } from '../shapes/response-shapes.ts';

const chat = defineRoute('POST /ai-sdk/{agent}', {
  summary: 'Chat with an agent by the UI message stream of the AI SDK: open requests are tool approvals.',
  request: {
    params: z.object({ agent: z.string().min(1).max(200) }),
    ...body(chatRequest),
  },
  responses: { 200: text('text/event-stream', 'Chunks of a UI message') },
});

export function aiSdkRoutes(gateway: GatewayContext): OpenAPIHono<HttpEnv> {
  return new OpenAPIHono<HttpEnv>({ defaultHook: refuseInput('invalid_message') }).openapi(chat, async (context) => {
    const request = context.req.valid('json');
    const seen = aiSdkItems(request);
    const message = {
      agent: context.req.valid('param').agent,
      threadId: request.id,
      texts: aiSdkTexts(request),
      isUserLast: isUserLast(request),
      answers: givenAnswers(request),
      seen,
      channel: 'ai-sdk',
    };
    const { steps, canAnswer, messageId } = await openChat(gateway, requirePrincipal(context.var), message);
    const options = { messageId, seen, canAnswer, failed: logFailure(gateway) };
    return chatResponse(context, gateway, (signal) => uiChunks(steps(signal), options), {
      headers: { 'x-vercel-ai-ui-message-stream': 'v1' },
      end: '[DONE]',
    });
  });
}

import { OpenAPIHono, z } from '@hono/zod-openapi';
import { agUiEvents, answerOf, runAgentInput, agUiFresh, agUiItems, agUiTexts } from '../chat/ag-ui.ts';
import { chatResponse, logFailure, openChat, stopChat } from '../chat/open-chat.ts';
import { defineRoute, refuseInput } from '../shapes/define-route.ts';
import type { GatewayContext, HttpEnv } from '../gateway-context.ts';
import { requirePrincipal } from '../identity/principal.ts';
import * as inputs from '../shapes/input-shapes.ts';
import * as answers from '../shapes/response-shapes.ts';

const agentName = z.object({ agent: z.string().min(1).max(200) });

const chat = defineRoute('POST /ag-ui/{agent}', {
  summary: 'Chat with an agent by AG-UI: open requests are interrupts, and `resume` answers them.',
  request: { params: agentName, ...inputs.body(runAgentInput) },
  responses: { 200: answers.text('text/event-stream', 'Events of AG-UI') },
});

const capabilities = defineRoute('GET /ag-ui/{agent}/capabilities', {
  summary: "The capabilities of an agent, as AG-UI's `getCapabilities` returns them.",
  request: { params: agentName },
  responses: { 200: answers.json(z.looseObject({}), 'The `AgentCapabilities` of AG-UI.') },
});

const stop = defineRoute('POST /ag-ui/{agent}/{thread}/stop', {
  summary: 'Stop the running turn of a chat: open requests are withdrawn, and no further call starts.',
  request: { params: inputs.threadParams },
  responses: answers.stopped,
});

/** The capabilities that every agent has. The gateway does not know those of single agents, which run in workers. */
const known = {
  identity: { type: 'countersign' },
  transport: { streaming: true, resumable: true },
  humanInTheLoop: { supported: true, approvals: true, interrupts: true, approveWithEdits: true },
} as const;

export function agUiRoutes(gateway: GatewayContext): OpenAPIHono<HttpEnv> {
  const app = new OpenAPIHono<HttpEnv>({ defaultHook: refuseInput('invalid_message') });
  app.openapi(capabilities, (context) => {
    const { agent } = context.req.valid('param');
    return context.json({ ...known, identity: { ...known.identity, name: agent } }, 200);
  });
  app.openapi(stop, async (context) => {
    const { agent, thread: threadId } = context.req.valid('param');
    await stopChat(gateway, requirePrincipal(context.var), { agent, threadId });
    return context.body(null, 204);
  });
  return app.openapi(chat, async (context) => {
    const input = context.req.valid('json');
    const message = {
      agent: context.req.valid('param').agent,
      threadId: input.threadId,
      fresh: agUiFresh(input),
      texts: agUiTexts(input),
      answers: (input.resume ?? []).map((part) => answerOf(part)),
      seen: agUiItems(input),
      channel: 'ag-ui',
    };
    const { steps } = await openChat(gateway, requirePrincipal(context.var), message);
    const options = { failed: logFailure(gateway) };
    return chatResponse(context, gateway, (signal) => agUiEvents(steps(signal), input, options));
  });
}

import { OpenAPIHono, z } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { requireGated } from 'countersign/adapter';
import { ProblemError } from 'countersign/base';
import * as answers from '../shapes/response-shapes.ts';
import { decideFor } from '../send-as.ts';
import { defineRoute, refuseInput } from '../shapes/define-route.ts';
import type { GatewayContext, HttpEnv } from '../gateway-context.ts';
import * as inputs from '../shapes/input-shapes.ts';

/** The route to which receivers of channels post answers. It needs no sign-in: the channel verifies each answer. */
export function channelAnswerRoutes(gateway: GatewayContext): OpenAPIHono<HttpEnv> {
  const { client, channels } = gateway;
  const answer = defineRoute('POST /channels/{channel}/answers/{requestId}', {
    summary: 'The answer of a channel’s receiver, signed with the secret of the channel',
    request: {
      params: z.strictObject({ channel: z.string().max(200), requestId: z.string() }),
      query: inputs.inRun,
      body: {
        required: true,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/ChannelAnswer' } } },
      },
    },
    responses: { 200: answers.json(answers.receipt, 'The answer counts.') },
    middleware: provenAnswer(channels),
  });
  const routes = new OpenAPIHono<HttpEnv>({ defaultHook: refuseInput('invalid_decision') });
  routes.openAPIRegistry.register('ChannelAnswer', inputs.channelAnswer);
  return routes.openapi(answer, async (context) => {
    const { workflowId } = context.req.valid('query');
    const decision = context.get('provenAnswer')!;
    // `workflowId` is not signed. A wrong one does no harm, because a run refuses answers to requests of other runs.
    if (workflowId !== undefined) await requireGated(client.session, workflowId);
    const channel = `The channel '${context.req.valid('param').channel}'`;
    return context.json(await decideFor(gateway, channel, decision, workflowId));
  });
}

/** Lets the channel read the answer in the body. The channel throws unless its receiver has signed the body. */
function provenAnswer(channels: GatewayContext['channels']): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    const [name, requestId] = [context.req.param('channel') ?? '', context.req.param('requestId') ?? ''];
    const channel = Object.hasOwn(channels, name) ? channels[name] : undefined;
    if (channel?.receive === undefined) {
      throw new ProblemError({ code: 'forbidden', message: 'No channel of this gateway takes answers here.' });
    }
    const text = new TextDecoder().decode(await context.req.arrayBuffer());
    const decision = await channel.receive({ channel: name, requestId, headers: context.req.header(), body: text });
    if (decision.requestId !== requestId) {
      throw new ProblemError({ code: 'forbidden', message: 'The answer is about another request than its address.' });
    }
    context.set('provenAnswer', decision);
    return next();
  };
}

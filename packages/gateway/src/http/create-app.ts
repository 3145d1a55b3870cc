import { OpenAPIHono, z } from '@hono/zod-openapi';
import type { ErrorHandler, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { ProblemError } from 'countersign/base';
import { limitConcurrency, limitUnproven, rateLimit } from './server/rate-limit.ts';
import { tooLarge } from './server/limits.ts';
import { browserGuard, securityHeaders } from './server/browser-guard.ts';
import type { GatewayContext, HttpEnv } from './gateway-context.ts';
import { personName } from './identity/claims.ts';
import type { Principal } from './identity/principal.ts';
import * as responses from './responses.ts';
import { refuseInput, defineRoute, type OpenApiDocument, openApiDocument } from './shapes/define-route.ts';
import { agUiRoutes } from './routes/ag-ui.ts';
import { aiSdkRoutes } from './routes/ai-sdk.ts';
import { approvalRoutes } from './routes/approvals.ts';
import { channelAnswerRoutes } from './routes/channel-answers.ts';
import { controlRoutes, runRoutes } from './routes/runs.ts';
import { decisionRoutes, delegationRoutes, requestRoutes } from './routes/requests.ts';
import { healthRoutes } from './routes/health.ts';
import { identityRoutes } from './routes/identity.ts';
import { inboxEventRoutes, inboxFiles } from './routes/inbox.ts';
import { linkRoutes } from './routes/links.ts';
import { pushRoutes } from './routes/push.ts';
import { runEventRoutes } from './routes/run-events.ts';
import { slackRoutes } from './routes/slack.ts';
import { statisticsRoutes } from './routes/statistics.ts';
import { json } from './shapes/response-shapes.ts';

const allRoutes = [
  healthRoutes,
  identityRoutes,
  // The next line comes before `approvalRoutes`, whose `/approvals/{requestId}` would match `/approvals/events`, too.
  inboxEventRoutes,
  runEventRoutes,
  approvalRoutes,
  decisionRoutes,
  requestRoutes,
  delegationRoutes,
  runRoutes,
  controlRoutes,
  statisticsRoutes,
  agUiRoutes,
  aiSdkRoutes,
  inboxFiles,
  linkRoutes,
  channelAnswerRoutes,
  slackRoutes,
  pushRoutes,
];

/** Makes the app of a gateway: the checks for every request, in the order in which they run, and all routes. */
export function createApp(gateway: GatewayContext): OpenAPIHono<HttpEnv> {
  const { limits, site, stopping } = gateway;
  const app = new OpenAPIHono<HttpEnv>({ defaultHook: refuseInput() });
  app.onError(responseToError(gateway));
  app.use(securityHeaders(site));
  app.use(async (context, next) => {
    await next();
    // A stopping gateway waits until all connections are closed, so each response closes its connection.
    if (stopping.aborted) context.res.headers.set('connection', 'close');
  });
  app.use(browserGuard(site));
  app.use(authenticateAndLimit(gateway));
  app.use(
    bodyLimit({
      maxSize: limits.bodyBytes,
      onError: ({ req }) => responses.problemResponse(tooLarge(req.path, limits.bodyBytes)),
    }),
  );
  for (const routes of allRoutes) app.route('/', routes(gateway));
  app.route('/', openApiRoutes(app));
  app.notFound(({ req }) => noSuchRoute(app.routes, req.path));
  return app;
}

/** Returns the function that answers a request whose handler threw. It logs the errors that are the gateway's fault. */
function responseToError({ authenticator, log }: GatewayContext): ErrorHandler<HttpEnv> {
  return (error, { req }) => {
    const { code, message } = responses.problemOf(error);
    if (req.raw.signal.aborted) {
      // The log gets only one line, without a stack trace, because senders could fill the log by disconnecting often.
      log(`A sender broke off ${req.method} ${req.path.slice(0, 200)}.`);
      return responses.errorResponse(error);
    }
    // Input that the framework refuses is not logged: it is the sender's mistake, and senders could fill the log.
    if (code === 'internal' && !responses.isRefusedInput(error)) log(error.stack ?? String(error));
    if (code === 'unauthenticated') {
      return responses.unauthenticatedResponse(
        message,
        authenticator.loginUrl,
        req.header('authorization') !== undefined,
      );
    }
    return responses.errorResponse(error);
  };
}

/** Sets the principal of each request, and applies the limits of requests per minute and at the same time. */
function authenticateAndLimit({ limits, authenticator, senderAddress }: GatewayContext): MiddlewareHandler<HttpEnv> {
  const limit = rateLimit(limits, senderAddress);
  const limitAll = limitUnproven(limit);
  const atOnce = limitConcurrency();
  return async (context, next) => {
    context.set('loginUrl', authenticator.loginUrl);
    let refused: Error | undefined;
    try {
      context.set('principal', requireValidName(await authenticator.authenticate(context.req.raw)));
    } catch (error) {
      refused = error instanceof Error ? error : new Error(String(error));
    }
    if (refused === undefined) return limitAll(context, () => atOnce(context, next));
    // The limiter counts an invalid credential for the sender's address, which limits guessing, and throws `refused`.
    return limit(context, () => Promise.reject(refused));
  };
}

/** Normalizes a principal's id, because decisions and policies name it. Throws `unauthenticated` for an invalid id. */
function requireValidName(principal: Principal | undefined): Principal | undefined {
  if (principal === undefined || principal.via === 'local') return principal;
  const { name, problem } = personName(principal.id);
  if (name !== undefined) return { ...principal, id: name };
  const message = `The credential identifies no person here: its name ${problem}.`;
  throw new ProblemError({ code: 'unauthenticated', message });
}

interface Route {
  method: string;
  path: string;
}

/** The response if no route matches: 404 for an unknown path; 405, with the allowed methods, for a known path. */
export function noSuchRoute(routes: readonly Route[], path: string): Response {
  // Middleware is listed under `ALL`. Below, HEAD is allowed with GET, because Hono answers it by the same route.
  const methods = new Set(
    routes.filter((route) => route.method !== 'ALL' && isPath(route.path, path)).map(({ method }) => method),
  );
  if (methods.size === 0) {
    const detail = 'There is no such path: /openapi.json lists all.';
    return responses.httpProblem({ status: 404, title: 'Not Found', detail });
  }
  const allow = [...(methods.has('GET') ? [...methods, 'HEAD'] : methods)].join(', ');
  const detail = `This path takes ${allow}.`;
  return responses.httpProblem({ status: 405, title: 'Method Not Allowed', detail }, { allow });
}

function isPath(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (pattern.includes('*') || wanted.length !== given.length) return false;
  return wanted.every((part, index) => (part.startsWith(':') ? given[index] !== '' : part === given[index]));
}

const document = defineRoute('GET /openapi.json', {
  summary: 'This document',
  responses: { 200: json(z.looseObject({ openapi: z.string() }), 'OpenAPI 3.1.') },
});

export function openApiRoutes(app: OpenAPIHono<HttpEnv>): OpenAPIHono<HttpEnv> {
  let made: OpenApiDocument | undefined;
  return new OpenAPIHono<HttpEnv>().openapi(document, (context) => context.json((made ??= openApiDocument(app))));
}

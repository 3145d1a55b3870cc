import { OpenAPIHono } from '@hono/zod-openapi';
import { bodyLimit } from 'hono/body-limit';
import { ProblemError } from 'countersign/base';
import { limitConcurrency } from './server/limit-concurrency.ts';
import { noSuchRoute } from './server/allowed-methods.ts';
import { browserGuard } from './server/browser-guard.ts';
import type { GatewayContext } from './gateway-context.ts';
import type { HttpEnv } from './http-env.ts';
import { personName } from './identity/person-name.ts';
import type { Principal } from './identity/principal.ts';
import {
  errorResponse,
  isRefusedInput,
  problemOf,
  problemResponse,
  unauthenticatedResponse,
} from './responses/problem-response.ts';
import { tooLarge } from './server/limits.ts';
import { limitUnproven, rateLimit } from './server/rate-limit.ts';
import { refuseInput } from './shapes/refuse-input.ts';
import { agUiRoutes } from './routes/ag-ui.ts';
import { aiSdkRoutes } from './routes/ai-sdk.ts';
import { approvalRoutes } from './routes/approvals.ts';
import { channelAnswerRoutes } from './routes/channel-answers.ts';
import { controlRoutes } from './routes/control.ts';
import { decisionRoutes } from './routes/decisions.ts';
import { delegationRoutes } from './routes/delegations.ts';
import { healthRoutes } from './routes/health.ts';
import { identityRoutes } from './routes/identity.ts';
import { inboxEventRoutes } from './routes/inbox-events.ts';
import { inboxFiles } from './routes/inbox-files.ts';
import { linkRoutes } from './routes/links.ts';
import { openApiRoutes } from './routes/openapi.ts';
import { pushRoutes } from './routes/push.ts';
import { requestRoutes } from './routes/requests.ts';
import { runEventRoutes } from './routes/run-events.ts';
import { runRoutes } from './routes/runs.ts';
import { slackRoutes } from './routes/slack.ts';
import { statisticsRoutes } from './routes/statistics.ts';
import { securityHeaders } from './server/security-headers.ts';

const allRoutes = [
  healthRoutes,
  identityRoutes,
  // Before the routes that have a parameter in the place of `events`.
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

/** The gateway as one function from a request to its response. */
export function createApp(gateway: GatewayContext): OpenAPIHono<HttpEnv> {
  const { limits, authenticator, site, stopping, senderAddress } = gateway;
  const app = new OpenAPIHono<HttpEnv>({ defaultHook: refuseInput() });
  app.onError((error, { req }) => {
    const { code, message } = problemOf(error);
    if (req.raw.signal.aborted) {
      // The sender is gone. The log gets one line: the framework's stack trace does not help, and a sender could repeat it.
      gateway.log(`A sender broke off ${req.method} ${req.path.slice(0, 200)}.`);
      return errorResponse(error);
    }
    // Input that the framework refuses is the sender's mistake. It is not logged, so nobody can fill the log with it.
    if (code === 'internal' && !isRefusedInput(error)) gateway.log(error.stack ?? String(error));
    if (code === 'unauthenticated') {
      return unauthenticatedResponse(message, authenticator.loginUrl, req.header('authorization') !== undefined);
    }
    return errorResponse(error);
  });
  app.use(securityHeaders(site));
  app.use(async (context, next) => {
    await next();
    // A stopping gateway waits for its connections, so none is kept alive.
    if (stopping.aborted) context.res.headers.set('connection', 'close');
  });
  app.use(browserGuard(site));
  // A request with an invalid credential counts against its sender's address, so that nobody tries many.
  const limit = rateLimit(limits, senderAddress);
  const limitAll = limitUnproven(limit);
  const atOnce = limitConcurrency();
  app.use(async (context, next) => {
    context.set('loginUrl', authenticator.loginUrl);
    let refused: Error | undefined;
    try {
      context.set('principal', named(await authenticator.authenticate(context.req.raw)));
    } catch (error) {
      refused = error instanceof Error ? error : new Error(String(error));
    }
    if (refused !== undefined) {
      return limit(context, () => Promise.reject(refused));
    }
    return limitAll(context, () => atOnce(context, next));
  });
  app.use(
    bodyLimit({
      maxSize: limits.bodyBytes,
      onError: ({ req }) => problemResponse(tooLarge(req.path, limits.bodyBytes)),
    }),
  );
  for (const routes of allRoutes) app.route('/', routes(gateway));
  app.route('/', openApiRoutes(app));
  app.notFound(({ req }) => noSuchRoute(app.routes, req.path));
  return app;
}

/**
 * Checks the name of a principal, whichever authenticator gave it, because the gateway may sign decisions under it. Throws
 * `unauthenticated` for a name that no person can have.
 */
function named(principal: Principal | undefined): Principal | undefined {
  if (principal === undefined || principal.via === 'local') return principal;
  const { name, problem } = personName(principal.id);
  if (name !== undefined) return { ...principal, id: name };
  throw new ProblemError({
    code: 'unauthenticated',
    message: `The credential names nobody here: its name ${problem}.`,
  });
}

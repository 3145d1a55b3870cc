import { OpenAPIHono, z } from '@hono/zod-openapi';
import { defineRoute } from '../shapes/define-route.ts';
import type { GatewayContext, HttpEnv } from '../gateway-context.ts';
import { InboxFeed } from '../inbox/inbox-feed.ts';
import { requirePrincipal } from '../identity/principal.ts';
import * as answers from '../shapes/response-shapes.ts';
import * as inputs from '../shapes/input-shapes.ts';
import { sorts, tabs, wholeQuery } from '../inbox/open-view.ts';
import { sseFrame, sseResponse } from '../streams/sse-stream.ts';
import { builtInbox, type InboxAsset, readAssets } from '../inbox/built-inbox.ts';

const events = defineRoute('GET /approvals/events', {
  summary: 'The inbox as it changes',
  responses: {
    200: answers.text(
      'text/event-stream',
      'Server-sent events: `snapshot` first, then `changed` and `gone`; `heartbeat` and `trouble`.',
    ),
  },
});

const search = defineRoute('GET /approvals/search', {
  summary: 'All open requests: filtered, searched, sorted and counted',
  request: {
    query: z.strictObject({
      tab: z.enum(tabs).optional(),
      tool: z.string().max(200).optional(),
      agent: z.string().max(200).optional(),
      severity: z.string().max(20).optional(),
      text: z.string().max(200).optional(),
      sort: z.enum(sorts).optional(),
      limit: inputs.wholeNumberQuery(1, 500).optional(),
    }),
  },
  responses: { 200: answers.json(answers.foundRequests, 'The requests of one tab.') },
});

/** The routes that stream and search the open requests. Both use one feed, which reads the requests for all senders. */
export function inboxEventRoutes(gateway: GatewayContext): OpenAPIHono<HttpEnv> {
  const feed = new InboxFeed(gateway);
  return new OpenAPIHono<HttpEnv>()
    .openapi(search, async (context) => {
      const { limit = 100, ...query } = context.req.valid('query');
      const principal = requirePrincipal(context.var);
      return context.json(await feed.search(principal, { ...wholeQuery, ...query }, limit, context.req.raw.signal));
    })
    .openapi(events, (context): Response => {
      const principal = requirePrincipal(context.var);
      return sseResponse(context, gateway, async (stream) => {
        for await (const { event, data } of feed.watch(principal, stream.signal)) {
          if (!(await stream.send(sseFrame(event, data)))) return;
        }
      });
    });
}

type Encoding = 'br' | 'gzip';

/** The files of the inbox, which have no data and need no permission. Paths of views get `index.html`. */
export function inboxFiles({ log }: GatewayContext): OpenAPIHono<HttpEnv> {
  let loading: Promise<ReadonlyMap<string, InboxAsset>> | undefined;
  const load = (): Promise<ReadonlyMap<string, InboxAsset>> => {
    const read = async () => readAssets(await builtInbox(log));
    loading ??= read().catch((error: NodeJS.ErrnoException) => {
      // The sources have changed, and another gateway has replaced the build during the read: this reads the new build.
      if (error.code === 'ENOENT') return read();
      throw error;
    });
    // After a failure, the next request loads the files again.
    loading.catch(() => (loading = undefined));
    return loading;
  };
  const app = new OpenAPIHono<HttpEnv>();
  app.get('/', (context) => context.redirect('/inbox/'));
  app.get('/inbox', (context) => context.redirect('/inbox/'));
  app.get('/inbox/*', async (context) => {
    const assets = await load();
    const name = new URL(context.req.url).pathname.slice('/inbox/'.length);
    const asset = assets.get(name) ?? (name.startsWith('assets/') ? undefined : assets.get('index.html'));
    if (asset === undefined) return context.notFound();
    return respond(asset, context.req.raw.headers);
  });
  return app;
}

/** The response with a file, compressed if the browser accepts that; 304 if the browser has the file already. */
function respond(asset: InboxAsset, requestHeaders: Headers): Response {
  const headers: Record<string, string> = {
    'content-type': asset.type,
    'cache-control': asset.isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag: asset.etag,
    vary: 'accept-encoding',
    'x-content-type-options': 'nosniff',
  };
  if (requestHeaders.get('if-none-match') === asset.etag) return new Response(null, { status: 304, headers });
  const encoding = encodingOf(requestHeaders.get('accept-encoding') ?? '');
  if (encoding === undefined) return new Response(asset.plain, { headers });
  return new Response(asset[encoding], { headers: { ...headers, 'content-encoding': encoding } });
}

function encodingOf(accepted: string): Encoding | undefined {
  const names = accepted.split(',').map((each) => each.trim());
  return (['br', 'gzip'] as const).find((name) => names.includes(name));
}

import { OpenAPIHono, z } from '@hono/zod-openapi';
import { requireGated, openWatch } from 'countersign/adapter';
import type { CountersignClient, RecordedEvent, RunEvent } from 'countersign/client';
import type { RunEvents } from '../inbox/api.ts';
import { defineRoute } from '../shapes/define-route.ts';
import type { GatewayContext, HttpEnv } from '../gateway-context.ts';
import { problemOf } from '../responses.ts';
import { sseFrame, isHead, type SseStream, sseResponse } from '../streams/sse-stream.ts';

const mostListed = 1_000;
const mostCharacters = 4_000_000;
const longestId = 200;

const yesOrNo = z.enum(['true', 'false']).optional();
const route = defineRoute('GET /runs/{id}/events', {
  summary: 'What happens in a run, as its policies let reviewers see it',
  request: {
    headers: z.object({
      'last-event-id': z
        .string()
        .optional()
        .openapi({ description: 'The id of the last event seen; it wins over `after`.' }),
    }),
    params: z.strictObject({ id: z.string() }),
    query: z.strictObject({
      after: z.string().max(longestId).optional(),
      tokens: yesOrNo,
      follow: yesOrNo,
      limit: z.coerce.number().int().min(1).max(mostListed).optional(),
    }),
  },
  responses: {
    200: {
      description: 'Server-sent events; with `follow=false` or `Accept: application/json`, what has happened so far.',
      content: {
        'text/event-stream': { schema: z.string() },
        'application/json': {
          schema: z.object({ events: z.array(z.looseObject({ type: z.string() })), next: z.string().optional() }),
        },
      },
    },
  },
});

/** The route of a run's events, as a stream or a list. Streams of a run share one poller; a list reads the history. */
export function runEventRoutes(gateway: GatewayContext): OpenAPIHono<HttpEnv> {
  const { client } = gateway;
  const gated = new GatedRuns(client);
  return new OpenAPIHono<HttpEnv>().openapi(route, async (context): Promise<Response> => {
    const { id } = context.req.valid('param');
    const { after, tokens, follow, limit = mostListed } = context.req.valid('query');
    // A browser that reconnects repeats its first address, so the header, which has its last event, wins.
    // One character more than an id has: a cut id must not look like another one.
    const seen = context.req.header('last-event-id')?.slice(0, longestId + 1) ?? '';
    const from = { ...(seen !== '' ? { after: seen } : after !== undefined && { after }), redacted: true };
    // One check that the run exists serves all its viewers. This one leaves after a list, an error, or its stream.
    const leave = await gated.enter(id);
    try {
      if (follow === 'false' || wantsJson(context.req.header('accept'))) {
        const { signal } = context.req.raw;
        const events = await openWatch(client.session, id, { ...from, follow: false, signal });
        const listed = await listOf(events, limit);
        leave();
        return Response.json(listed);
      }
      if (isHead(context)) {
        leave();
        return sseResponse(context, gateway, () => Promise.resolve());
      }
      const over = new AbortController();
      const options = { ...from, tokens: tokens !== 'false', signal: over.signal };
      const events = await openWatch(client.session, id, options);
      return sseResponse(context, gateway, (stream) => {
        stream.signal.addEventListener('abort', () => {
          over.abort();
          leave();
        });
        return sendEvents(events, stream, gateway);
      });
    } catch (error) {
      leave();
      throw error;
    }
  });
}

/** Sends events until the run or the stream ends. `end` and `trouble` tell the viewer why no further event comes. */
async function sendEvents(events: AsyncIterable<RunEvent>, stream: SseStream, { log }: GatewayContext): Promise<void> {
  try {
    for await (const event of events) if (!(await stream.send(frameOfEvent(event)))) return;
    if (!stream.signal.aborted) await stream.send(sseFrame('end', {}));
  } catch (error) {
    const problem = problemOf(error);
    if (problem.code === 'internal') log(String(error));
    await stream.send(sseFrame('trouble', problem));
  }
}

/** Caches the frame of each event, because all viewers of a run get the same events. */
const frames = new WeakMap<RunEvent, Uint8Array>();

function frameOfEvent(event: RunEvent): Uint8Array {
  if (event.type === 'RawResponseEvent') return sseFrame(event.type, event);
  const frame = frames.get(event) ?? sseFrame(event.type, event, event.id);
  frames.set(event, frame);
  return frame;
}

/** Collects events up to `limit` and `mostCharacters`. `next` is present only if further events exist. */
async function listOf(events: AsyncIterable<RunEvent>, limit: number): Promise<RunEvents> {
  const listed: RecordedEvent[] = [];
  let characters = 0;
  for await (const event of events) {
    if (event.type === 'RawResponseEvent') continue;
    if (listed.length === limit || characters > mostCharacters) return { events: listed, next: listed.at(-1)!.id };
    listed.push(event);
    characters += JSON.stringify(event).length;
  }
  return { events: listed };
}

function wantsJson(accept = ''): boolean {
  return /\bapplication\/json\b/i.test(accept) && !/\btext\/event-stream\b/i.test(accept);
}

/** Checks that a workflow is a run of Countersign, which has a gate. One check serves all present viewers of a run. */
class GatedRuns {
  readonly #client: CountersignClient;
  readonly #runs = new Map<string, { viewers: number; check: Promise<void> }>();

  constructor(client: CountersignClient) {
    this.#client = client;
  }

  /** Adds a viewer, and returns the function that removes it. Throws `run_not_found` if there is no such run. */
  async enter(workflowId: string): Promise<() => void> {
    const known = this.#runs.get(workflowId);
    const run = known ?? { viewers: 0, check: requireGated(this.#client.session, workflowId) };
    this.#runs.set(workflowId, run);
    run.viewers += 1;
    let isHere = true;
    const leave = (): void => {
      if (!isHere) return;
      isHere = false;
      run.viewers -= 1;
      if (run.viewers === 0 && this.#runs.get(workflowId) === run) this.#runs.delete(workflowId);
    };
    try {
      await run.check;
    } catch (error) {
      // The next viewer checks again.
      if (this.#runs.get(workflowId) === run) this.#runs.delete(workflowId);
      leave();
      throw error;
    }
    return leave;
  }
}

import { z } from '@hono/zod-openapi';
import { HTTPException } from 'hono/http-exception';
import { grpcStatus, grpcStatusOf } from 'countersign/adapter';
import { isProblemError, problemCodes, type Problem, type ProblemCode } from 'countersign/base';
import { cardStyle, htmlPage, pagePolicy } from 'countersign/card';

/** The body of a refusal (RFC 9457). `detail` is one sentence, which says what the sender can do. */
export const problemShape = z
  .object({
    type: z.literal('about:blank'),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    /** Absent for mistakes of HTTP, such as an unknown path or a method that the path does not have. */
    code: z.enum(problemCodes).optional(),
  })
  .openapi('Problem');

/** The response with a problem. `members`: further members of its body. */
export function problemResponse(
  { code, message }: Problem,
  headers: Record<string, string> = {},
  members: Record<string, unknown> = {},
): Response {
  const title = code.replaceAll('_', ' ');
  return write({ ...members, type: 'about:blank', title, status: problemStatus[code], detail: message, code }, headers);
}

/** The response to a mistake of HTTP, such as an unknown path. Its body has no `code`. */
export function httpProblem(
  { status, title, detail }: { status: number; title: string; detail: string },
  headers: Record<string, string> = {},
): Response {
  return write({ type: 'about:blank', title, status, detail }, headers);
}

/** The response to a request without a valid credential. It names the scheme `Bearer`, and the page for signing in. */
export function unauthenticatedResponse(message: string, loginUrl: string | undefined, isInvalid = false): Response {
  const challenge = isInvalid ? 'Bearer error="invalid_token"' : 'Bearer';
  return problemResponse(
    { code: 'unauthenticated', message },
    { 'www-authenticate': challenge },
    loginUrl === undefined ? {} : { loginUrl },
  );
}

/** The problem that the sender sees for an error. Only a `ProblemError` shows its message. */
export function problemOf(error: unknown): Problem {
  if (isProblemError(error)) {
    // With these codes, Temporal has refused the credential of the gateway, not that of the sender.
    const isOurs = [grpcStatus.UNAUTHENTICATED, grpcStatus.PERMISSION_DENIED].some(
      (each) => each === grpcStatusOf(error),
    );
    return { code: isOurs ? 'server_unreachable' : error.code, message: error.message };
  }
  return { code: 'internal', message: 'The gateway failed on this request; its log says why.' };
}

/** True for an error by which the framework refuses a request that it cannot read. */
export function isRefusedInput(error: unknown): error is HTTPException {
  return error instanceof HTTPException && error.status < 500;
}

/** The response to a request whose handler threw. If a later attempt may succeed, `retry-after` says so. */
export function errorResponse(error: unknown): Response {
  if (isRefusedInput(error)) {
    return problemResponse({ code: 'undecodable', message: `The request cannot be read: ${error.message}.` });
  }
  const problem = problemOf(error);
  const isBusy = problem.code === 'rate_limited' || problem.code === 'server_unreachable';
  return problemResponse(problem, isBusy ? { 'retry-after': '1' } : {});
}

function write(body: z.infer<typeof problemShape>, headers: Record<string, string>): Response {
  return new Response(JSON.stringify(body), {
    status: body.status,
    headers: { 'content-type': 'application/problem+json', ...headers },
  });
}

/** The HTTP status of every problem code. docs/gateway.md has the same table. */
export const problemStatus = {
  unknown_request: 404,
  already_settled: 409,
  expired: 410,
  run_closed: 410,
  invalid_decision: 422,
  invalid_message: 422,
  undecodable: 422,
  digest_mismatch: 409,
  request_changed: 409,
  arguments_invalid: 422,
  denied_by_policy: 409,
  not_entitled: 403,
  self_approval: 403,
  unverified_reviewer: 403,
  run_not_found: 404,
  agent_unknown: 404,
  policy_invalid: 422,
  not_permitted_by_ceiling: 403,
  grant_unknown: 404,
  already_started: 409,
  unauthenticated: 401,
  forbidden: 403,
  too_large: 413,
  rate_limited: 429,
  server_unreachable: 503,
  no_worker: 503,
  model_refused: 502,
  model_rate_limited: 503,
  model_unavailable: 503,
  model_output_invalid: 502,
  input_refused: 422,
  check_failed: 503,
  internal: 500,
} as const satisfies Record<ProblemCode, number>;

const style = `${cardStyle}
.card form { margin-top: 1.5rem; display: grid; gap: .75rem; }
.card label { display: grid; gap: .25rem; color: var(--soft); }
.card input, .card textarea { padding: .6rem .7rem; border: 1px solid var(--soft); border-radius: .5rem; font: inherit;
  color: var(--ink); background: var(--paper); }
.card button { padding: .7rem 1.1rem; min-height: 2.75rem; border: 1px solid var(--ink); border-radius: .5rem; font: inherit;
  color: var(--paper); background: var(--ink); cursor: pointer; }
.card button.plain { color: var(--ink); background: var(--paper); }
.card .answers { display: flex; flex-wrap: wrap; gap: .75rem; }
.card a { color: inherit; }
`;

/** The response with a page in the style of cards, which runs no scripts. `body` is HTML, and `title` is plain text. */
export function htmlResponse(title: string, body: string, status = 200, more: Record<string, string> = {}): Response {
  return new Response(htmlPage({ title, style, body, forms: true }), {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `${pagePolicy({ style, forms: true })}; frame-ancestors 'none'`,
      ...more,
    },
  });
}

export function wantsHtml(request: Request): boolean {
  return (request.headers.get('accept') ?? '').includes('text/html');
}

/**
 * Makes a response with one line of JSON for each value. An error before the first value becomes a problem response,
 * because this awaits that value. A later error breaks the connection, so that a part does not look like the whole.
 */
export async function linesResponse(values: AsyncIterable<unknown>): Promise<Response> {
  const iterator = values[Symbol.asyncIterator]();
  let next = await iterator.next();
  const encoder = new TextEncoder();
  const lines = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      if (next.done === true) return controller.close();
      controller.enqueue(encoder.encode(`${JSON.stringify(next.value)}\n`));
      next = await iterator.next();
    },
    cancel: async () => {
      await iterator.return?.();
    },
  });
  return new Response(lines, { headers: { 'content-type': 'application/jsonl' } });
}

import { z } from '@hono/zod-openapi';
import { HTTPException } from 'hono/http-exception';
import { grpcStatus, grpcStatusOf } from 'countersign/adapter';
import { isProblemError, problemCodes, type Problem } from 'countersign/base';
import { problemStatus } from './problem-status.ts';

/** A refusal as RFC 9457 describes it. `detail` is one sentence with the remedy. */
export const problemShape = z
  .object({
    type: z.literal('about:blank'),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    /** Absent for mistakes at the level of HTTP, such as a path or a method that does not exist. */
    code: z.enum(problemCodes).optional(),
  })
  .openapi('Problem');

/** The response to a request that is refused. */
export function problemResponse(
  { code, message }: Problem,
  headers: Record<string, string> = {},
  members: Record<string, unknown> = {},
): Response {
  const title = code.replaceAll('_', ' ');
  return write({ ...members, type: 'about:blank', title, status: problemStatus[code], detail: message, code }, headers);
}

/** The response to a mistake at the level of HTTP, such as a path that does not exist. It has no code. */
export function httpProblem(
  { status, title, detail }: { status: number; title: string; detail: string },
  headers: Record<string, string> = {},
): Response {
  return write({ type: 'about:blank', title, status, detail }, headers);
}

/** The response to a request that must authenticate: it says how, and where a browser signs in. */
export function unauthenticatedResponse(message: string, loginUrl: string | undefined, isInvalid = false): Response {
  const challenge = isInvalid ? 'Bearer error="invalid_token"' : 'Bearer';
  return problemResponse(
    { code: 'unauthenticated', message },
    { 'www-authenticate': challenge },
    loginUrl === undefined ? {} : { loginUrl },
  );
}

/** An error as the sender sees it: a problem as it is; anything else as `internal`, without its message. */
export function problemOf(error: unknown): Problem {
  if (isProblemError(error)) {
    // The server refused the gateway's own credential, not the sender's.
    const isOurs = [grpcStatus.UNAUTHENTICATED, grpcStatus.PERMISSION_DENIED].some(
      (each) => each === grpcStatusOf(error),
    );
    return { code: isOurs ? 'server_unreachable' : error.code, message: error.message };
  }
  return { code: 'internal', message: 'The gateway failed on this request; its log says why.' };
}

/** True for an error that the framework throws for a request that it cannot read, such as one of another media type. */
export function isRefusedInput(error: unknown): error is HTTPException {
  return error instanceof HTTPException && error.status < 500;
}

/** The response to a request whose handler threw. */
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

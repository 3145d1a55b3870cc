import type { Problem, ProblemCode } from 'countersign/base';
import { parseJson } from 'countersign/json';
import type { RequestIds } from '../state/paths.ts';
import { problemText } from '../state/texts.ts';
import { createStore } from '../state/store.ts';

/** A refusal by the gateway, or `server_unreachable` if it did not answer. */
export class ApiProblem extends Error implements Problem {
  readonly code: ProblemCode;
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;

  constructor(code: ProblemCode, message: string, status = 0, body: Record<string, unknown> = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.body = body;
  }
}

/** An error as a problem: any error that is not a refusal is a fault of this page. */
export function asProblem(error: unknown): ApiProblem {
  return error instanceof ApiProblem ? error : new ApiProblem('internal', problemText(error));
}

let signedOut: (loginUrl: string | undefined) => void = () => undefined;

export function onUnauthenticated(then: (loginUrl: string | undefined) => void): void {
  signedOut = then;
}

export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  return answerOf<T>(path, { signal });
}

/** The most bytes that a browser goes on sending once its page is closed. */
const mostKeptAlive = 60_000;

/** Sends a body as JSON. A page that is closed meanwhile does not break it off, unless it is too large for that. */
export async function sendJson<T>(
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<T> {
  const text = JSON.stringify(body ?? {});
  return answerOf<T>(path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: text,
    keepalive: isKeptAlive(text),
  });
}

/** True if a browser sends this body even if its page is closed at once. */
export function isKeptAlive(text: string): boolean {
  // A character is at most three bytes.
  return text.length * 3 <= mostKeptAlive || new TextEncoder().encode(text).length <= mostKeptAlive;
}

export function apiPath(parts: TemplateStringsArray, ...values: string[]): string {
  return parts.reduce((path, part, index) => path + part + encodeURIComponent(values[index] ?? ''), '');
}

/** The path of the API for a request, or with `rest` for a part of it such as `/people`. */
export function requestPath({ requestId, workflowId }: RequestIds, rest = '', route = 'approvals'): string {
  return `/${route}${apiPath`/${requestId}`}${rest}?workflowId=${encodeURIComponent(workflowId)}`;
}

async function answerOf<T>(path: string, init: RequestInit): Promise<T> {
  const response = await fetch(path, { ...init, credentials: 'same-origin', cache: 'no-store' }).catch(
    (error: unknown) => {
      if (init.signal?.aborted === true) throw error;
      throw new ApiProblem('server_unreachable', 'The gateway cannot be reached. What you wrote is kept: try again.');
    },
  );
  noteServerTime(response.headers.get('date'));
  const text = await response.text();
  if (response.ok) return (text === '' ? undefined : parseJson(text)) as T;
  const body = readBody(text);
  const code = (body['code'] ?? 'internal') as ProblemCode;
  if (code === 'unauthenticated') signedOut(typeof body['loginUrl'] === 'string' ? body['loginUrl'] : undefined);
  const detail = typeof body['detail'] === 'string' ? body['detail'] : `The gateway answered ${response.status}.`;
  throw new ApiProblem(code, detail, response.status, body);
}

function readBody(text: string): Record<string, unknown> {
  try {
    const value: unknown = parseJson(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** A new id for a decision or another message. A retry has the id of the first attempt, so the message counts once. */
export function newMessageId(): string {
  // `crypto.randomUUID` exists only on https and on loopback.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `inbox-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** By how many milliseconds the server's clock is ahead of this one. */
export const clockOffset = createStore(0);

/** Reads the server's time from a response. Its header has whole seconds, so smaller differences mean nothing. */
export function noteServerTime(date: string | null): void {
  const serverMs = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(serverMs)) return;
  const offset = serverMs + 500 - Date.now();
  if (Math.abs(offset - clockOffset.get()) >= 1_000) clockOffset.set(Math.abs(offset) < 1_000 ? 0 : offset);
}

/** The time by the server's clock, to which deadlines refer. */
export function serverNowMs(): number {
  return Date.now() + clockOffset.get();
}

const waitsMs = [500, 2_000];

/** True if it is unknown whether the message arrived: the same one may be sent again. */
export function isAnswerLost(error: unknown): boolean {
  return error instanceof ApiProblem && (error.status === 0 || error.status === 502 || error.status === 504);
}

export const answerLostText =
  'The gateway did not say whether it has your answer. Sending it again is safe: it counts once.';

/** Sends a message with an id, and retries if its response is lost. */
export async function sendAgain<T>(send: () => Promise<T>): Promise<T> {
  for (const waitMs of waitsMs) {
    try {
      return await send();
    } catch (error) {
      if (!isAnswerLost(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
  return send();
}

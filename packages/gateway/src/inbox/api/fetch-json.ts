import type { Problem, ProblemCode } from 'countersign/base';
import { parseJson } from 'countersign/json';
import type { RequestIds } from '../state/paths.ts';
import { problemText } from '../state/texts.ts';
import { createStore } from '../state/store.ts';

/** A refusal of the gateway. Its code is `server_unreachable` if the gateway did not answer. */
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

/** Converts an error to a problem. An error that is no refusal of the gateway is a fault of this page. */
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

/** The largest body that a browser still sends after its page was closed (`keepalive`), in bytes. */
const mostKeptAlive = 60_000;

/** Sends a body as JSON. The browser sends it even if the page is closed meanwhile, unless it is too large. */
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

export function isKeptAlive(text: string): boolean {
  // One UTF-16 code unit is at most three bytes, so short texts need no encoding.
  return text.length * 3 <= mostKeptAlive || new TextEncoder().encode(text).length <= mostKeptAlive;
}

export function apiPath(parts: TemplateStringsArray, ...values: string[]): string {
  return parts.reduce((path, part, index) => path + part + encodeURIComponent(values[index] ?? ''), '');
}

/** The address of a request in the API. `rest`: a part of it, such as `/people`. `route`: `approve` for a decision. */
export function requestPath({ requestId, workflowId }: RequestIds, rest = '', route = 'approvals'): string {
  return `/${route}${apiPath`/${requestId}`}${rest}?workflowId=${encodeURIComponent(workflowId)}`;
}

/** Fetches JSON; undefined for an empty body. Notes the gateway's time and a sign-out. Refusals throw `ApiProblem`s. */
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

/** The members of a refusal's body; empty if the body is no JSON object, such as the page of a proxy. */
function readBody(text: string): Record<string, unknown> {
  try {
    const value: unknown = parseJson(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** A new id for a message such as a decision. A retry sends the same id, so that the message counts once. */
export function newMessageId(): string {
  // This does not use `crypto.randomUUID`, which browsers offer only on https and on loopback.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `inbox-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** How far the clock of the gateway is ahead of this computer's clock, in milliseconds. */
export const clockOffset = createStore(0);

/** Updates `clockOffset` from the header `Date`. It has whole seconds, so smaller differences are ignored. */
export function noteServerTime(date: string | null): void {
  const serverMs = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(serverMs)) return;
  // On average, the header is half a second behind the clock.
  const offset = serverMs + 500 - Date.now();
  if (Math.abs(offset - clockOffset.get()) >= 1_000) clockOffset.set(Math.abs(offset) < 1_000 ? 0 : offset);
}

/** The time by the clock of the gateway, with which deadlines are compared. */
export function serverNowMs(): number {
  return Date.now() + clockOffset.get();
}

const waitsMs = [500, 2_000];

/** True if no response says whether the message arrived. Then the page may send the same message again. */
export function isAnswerLost(error: unknown): boolean {
  return error instanceof ApiProblem && (error.status === 0 || error.status === 502 || error.status === 504);
}

export const answerLostText =
  'The gateway did not say whether it has your answer. Sending it again is safe: it counts once.';

/** Sends a message with an id, and sends it again if the response is lost. */
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

import type { Problem, ProblemCode } from 'countersign/base';
import { parseJson } from 'countersign/json';
import { problemText } from './problem-text.ts';
import { noteServerTime } from './server-clock.ts';

/** A refusal of the gateway, or `server_unreachable` if it did not answer. */
export class ApiProblem extends Error implements Problem {
  readonly code: ProblemCode;
  readonly status: number;
  /** All that the answer said. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(code: ProblemCode, message: string, status = 0, body: Record<string, unknown> = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.body = body;
  }
}

/** An error as a problem: one that is no refusal is a fault of this page. */
export function asProblem(error: unknown): ApiProblem {
  return error instanceof ApiProblem ? error : new ApiProblem('internal', problemText(error));
}

let signedOut: (loginUrl: string | undefined) => void = () => undefined;

/** Sets what happens when the gateway no longer knows who this is. */
export function onUnauthenticated(then: (loginUrl: string | undefined) => void): void {
  signedOut = then;
}

export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  return answerOf<T>(path, { signal });
}

/** Sends a body as JSON. */
export async function sendJson<T>(
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<T> {
  return answerOf<T>(path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body ?? {}),
  });
}

/** A path of the API with its parts encoded. */
export function apiPath(parts: TemplateStringsArray, ...values: string[]): string {
  return parts.reduce((path, part, index) => path + part + encodeURIComponent(values[index] ?? ''), '');
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

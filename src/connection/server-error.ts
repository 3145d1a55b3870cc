import { NamespaceNotFoundError, WorkflowNotFoundError, type Payload } from '@temporalio/common';
import { connectionSettings } from './connection-settings.ts';
import { isLoopbackHost } from '../text/loopback.ts';
import { type ProblemCode, ProblemError, isProblemError } from '../core/base/problem.ts';
import { keyIdName, unreadEncoding } from '../core/base/undecodable.ts';

/** gRPC's status codes, by their names in the specification. */
export const grpcStatus = {
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  UNIMPLEMENTED: 12,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;

export const clientClosed = 'the client was closed';

/** Yields an error and its causes, at most four. */
function* causesOf(error: unknown): Generator<Error> {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 4; cause = cause.cause, depth += 1) yield cause;
}

/** Returns the gRPC status of an SDK error or of its cause; undefined if there is none. */
export function grpcStatusOf(error: unknown): number | undefined {
  for (const cause of causesOf(error)) {
    if (cause.name === 'WorkflowNotFoundError') return grpcStatus.NOT_FOUND;
    const { code } = cause as { code?: unknown };
    if (typeof code === 'number') return code;
  }
  return undefined;
}

/** Returns the server's own message in an error, without what the SDK adds; else the message of the last cause. */
export function serverWords(error: unknown): string {
  for (const cause of causesOf(error)) {
    const { details } = cause as { details?: unknown };
    if (typeof details === 'string' && details !== '') return details;
    if (!(cause.cause instanceof Error)) return cause.message;
  }
  return error instanceof Error ? error.message : String(error);
}

export function unreachable(address: string, cause?: unknown): ProblemError {
  const remedy = mayBeOwn(address)
    ? `start one with \`${ownServerCommand}\``
    : 'check that address and its TLS settings and API key';
  const message = `No Temporal server answered at ${address} in time: ${remedy}, or name another with --address or TEMPORAL_ADDRESS.`;
  return new ProblemError({ code: 'server_unreachable', message }, { cause });
}

const ownServerCommand = 'countersign server';

/** True if the address may be that of `countersign server`, which listens on this machine without TLS or API key. */
function mayBeOwn(address: string): boolean {
  const { tls, apiKey } = connectionSettings();
  return isLoopbackHost(address.replace(/:\d+$/, '')) && apiKey === undefined && (tls ?? false) === false;
}

/** Returns `countersign server` if the message of a problem recommends this command; else undefined. */
export function startCommandIn(message: string): string | undefined {
  return message.includes(`\`${ownServerCommand}\``) ? ownServerCommand : undefined;
}

export function runNotFound(workflowId: string, namespace: string, cause?: unknown): ProblemError {
  const message = `There is no run '${workflowId}' in namespace '${namespace}'.`;
  return new ProblemError({ code: 'run_not_found', message }, { cause });
}

export const readingRemedy =
  'Give this client what its workers have: the payload folder (largePayloads, COUNTERSIGN_PAYLOAD_FOLDER) and the payload codecs (dataConverter, --codec-endpoint).';

/** The error for an answer that this client cannot read, because it lacks the worker's payload folder or codec. */
export function unreadAnswer(workflowId: string, why: string): ProblemError {
  const message = `The answer of run '${workflowId}' cannot be read: ${why}. ${readingRemedy}`;
  return new ProblemError({ code: 'undecodable', message });
}

/** Converts any error of a call to the server into one sentence with a code. A `ProblemError` passes unchanged. */
export function translateServerError(
  error: unknown,
  place: { address: string; namespace: string; workflowId?: string },
): ProblemError {
  if (isProblemError(error)) return error;
  const { address, namespace, workflowId } = place;
  const notFoundWords = grpcStatusOf(error) === grpcStatus.NOT_FOUND ? serverWords(error) : '';
  if (error instanceof NamespaceNotFoundError || /^namespace .* is not found/i.test(notFoundWords)) {
    const message = `The Temporal server at ${address} has no namespace '${namespace}'.`;
    return new ProblemError({ code: 'server_unreachable', message }, { cause: error });
  }
  if (error instanceof WorkflowNotFoundError) {
    const id = workflowId ?? error.workflowId;
    if (!/already completed/.test(error.message)) return runNotFound(id, namespace, error);
    return new ProblemError({ code: 'run_closed', message: `Run '${id}' is closed.` }, { cause: error });
  }
  // A call of the workflow service fails with only this message, because no client of the SDK converts the error.
  if (workflowId !== undefined && /^workflow not found/i.test(notFoundWords)) {
    return runNotFound(workflowId, namespace, error);
  }
  return problemOfStatus(error, address, namespace);
}

/** Converts an error that is not about a missing namespace or run, by its gRPC status. */
function problemOfStatus(error: unknown, address: string, namespace: string): ProblemError {
  const problem = (code: ProblemCode, message: string): ProblemError =>
    new ProblemError({ code, message }, { cause: error });
  const words = serverWords(error);
  switch (grpcStatusOf(error)) {
    case grpcStatus.CANCELLED:
      if (words !== clientClosed) return unreachable(address, error);
      return problem('server_unreachable', `The client was closed before the Temporal server at ${address} answered.`);
    case grpcStatus.UNAVAILABLE:
    case grpcStatus.DEADLINE_EXCEEDED:
      return unreachable(address, error);
    case grpcStatus.UNAUTHENTICATED:
      return problem(
        'unauthenticated',
        `The Temporal server at ${address} asks for credentials: set TEMPORAL_API_KEY or TLS.`,
      );
    case grpcStatus.PERMISSION_DENIED:
      return problem('forbidden', `The Temporal server at ${address} does not permit this: ${words}`);
    case grpcStatus.RESOURCE_EXHAUSTED:
      return problem('rate_limited', `The Temporal server at ${address} is busy: ${words}; try again.`);
    case grpcStatus.INVALID_ARGUMENT:
      if (!/search attribute/.test(words)) return problem('internal', `The Temporal server refused the call: ${words}`);
      return problem(
        'internal',
        `Namespace '${namespace}' lacks the search attributes of the inbox: run \`countersign setup\`.`,
      );
    default:
      return problem('internal', words);
  }
}

/**
 * Returns a payload that stands for an unreadable one, with the reason. `elsewhere`: its store is not configured here.
 * `gone`: its file is missing or damaged. `forged`: the writer of the reference had no key of the payload folder.
 * `encoded`: no codec here can decode the payload, which names the key `key`.
 */
export function unreadPayload(why: 'elsewhere' | 'gone' | 'forged' | 'encoded', key?: string): Payload {
  const text = new TextEncoder();
  return {
    metadata: { encoding: text.encode(unreadEncoding), ...(key !== undefined && { [keyIdName]: text.encode(key) }) },
    data: text.encode(why),
  };
}

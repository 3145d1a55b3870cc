import { NamespaceNotFoundError, WorkflowNotFoundError, type Payload } from '@temporalio/common';
import { connectionSettings } from './connection-settings.ts';
import { isLoopbackHost } from '../core/base/loopback.ts';
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

/** Returns the gRPC status of an SDK error or of its cause; undefined if there is none. */
export function grpcStatusOf(error: unknown): number | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth += 1) {
    if (at.name === 'WorkflowNotFoundError') return grpcStatus.NOT_FOUND;
    const { code } = at as { code?: unknown };
    if (typeof code === 'number') return code;
  }
  return undefined;
}

/** Returns the server's own message in an error, without what the SDK adds. */
export function serverWords(error: unknown): string {
  for (let at = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth += 1) {
    const { details } = at as { details?: unknown };
    if (typeof details === 'string' && details !== '') return details;
    if (!(at.cause instanceof Error)) return at.message;
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

/** True if `countersign server` may be meant: it listens on this machine, without TLS and without keys. */
function mayBeOwn(address: string): boolean {
  const { tls, apiKey } = connectionSettings();
  return isLoopbackHost(address.replace(/:\d+$/, '')) && apiKey === undefined && (tls ?? false) === false;
}

/** Returns the command that starts a server of this machine, if the message of a problem names it. */
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
  const problem = (code: ProblemCode, message: string): ProblemError =>
    new ProblemError({ code, message }, { cause: error });
  const missing = grpcStatusOf(error) === grpcStatus.NOT_FOUND ? serverWords(error) : '';
  if (error instanceof NamespaceNotFoundError || /^namespace .* is not found/i.test(missing)) {
    return problem(
      'server_unreachable',
      `The Temporal server at ${place.address} has no namespace '${place.namespace}'.`,
    );
  }
  if (error instanceof WorkflowNotFoundError && /already completed/.test(error.message)) {
    return problem('run_closed', `Run '${place.workflowId ?? error.workflowId}' is closed.`);
  }
  if (error instanceof WorkflowNotFoundError) {
    return runNotFound(place.workflowId ?? error.workflowId, place.namespace, error);
  }
  // A direct call of the workflow service fails with this message.
  if (place.workflowId !== undefined && /^workflow not found/i.test(missing)) {
    return runNotFound(place.workflowId, place.namespace, error);
  }
  switch (grpcStatusOf(error)) {
    case grpcStatus.CANCELLED:
      return serverWords(error) === clientClosed
        ? problem(
            'server_unreachable',
            `The client was closed before the Temporal server at ${place.address} answered.`,
          )
        : unreachable(place.address, error);
    case grpcStatus.UNAVAILABLE:
    case grpcStatus.DEADLINE_EXCEEDED:
      return unreachable(place.address, error);
    case grpcStatus.UNAUTHENTICATED:
      return problem(
        'unauthenticated',
        `The Temporal server at ${place.address} asks for credentials: set TEMPORAL_API_KEY or TLS.`,
      );
    case grpcStatus.PERMISSION_DENIED:
      return problem(
        'forbidden',
        `The Temporal server at ${place.address} does not permit this: ${serverWords(error)}`,
      );
    case grpcStatus.RESOURCE_EXHAUSTED:
      return problem(
        'rate_limited',
        `The Temporal server at ${place.address} is busy: ${serverWords(error)}; try again.`,
      );
    case grpcStatus.INVALID_ARGUMENT:
      return /search attribute/.test(serverWords(error))
        ? problem(
            'internal',
            `Namespace '${place.namespace}' lacks the search attributes of the inbox: run \`countersign setup\`.`,
          )
        : problem('internal', `The Temporal server refused the call: ${serverWords(error)}`);
    default:
      return problem('internal', serverWords(error));
  }
}

/**
 * Returns a payload that stands for an unreadable one. `elsewhere`: its store is not configured here. `gone`: its file
 * is missing or damaged. `forged`: its writer did not have the key of the payload folder. `encoded`: no codec here
 * decodes it; then `key` is the id of its key.
 */
export function unreadPayload(why: 'elsewhere' | 'gone' | 'forged' | 'encoded', key?: string): Payload {
  const text = new TextEncoder();
  return {
    metadata: { encoding: text.encode(unreadEncoding), ...(key !== undefined && { [keyIdName]: text.encode(key) }) },
    data: text.encode(why),
  };
}

import type { ConnectionOptions } from '@temporalio/client';
import { Client, Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { ProblemError, isProblemError } from '../../core/base/problem.ts';
import { type LargePayloads, largePayloadsOf } from '../../payload-folder/large-payloads.ts';
import type { AttributeNames, AttributeNameOptions } from '../../core/base/attribute-names.ts';
import { attributeNamesOf } from '../../connection/search-attributes.ts';
import { type ServerOptions, connectionSettings } from '../../connection/connection-settings.ts';
import { CountersignClientPlugin } from './client-plugin.ts';
import { type TimeLimitOptions, type TimeLimits, timeLimits } from './time-limits.ts';
import { translateServerError, unreachable, clientClosed, grpcStatus } from '../../connection/server-error.ts';

interface ConnectOptions extends ServerOptions, TimeLimitOptions {
  /** The workers' folder of large payloads; `false` for none. Default: the folder in `COUNTERSIGN_PAYLOAD_FOLDER`. */
  largePayloads?: LargePayloads | false;
  /** The codecs and the failure converter of the workers. Countersign sets the payload converter. */
  dataConverter?: DataConverter;
  /** The names of the inbox's search attributes, as on the workers. Default: `COUNTERSIGN_ATTRIBUTES`. */
  attributes?: AttributeNameOptions;
}

const maxMessageBytes = 128 * 1024 * 1024;

/** A connection to a server, with the settings that calls and error messages need. */
export interface Session {
  readonly connection: Connection;
  readonly client: Client;
  readonly address: string;
  readonly namespace: string;
  readonly attributes: AttributeNames;
  /** True if the client encodes its payloads. */
  readonly hasCodecs: boolean;
  readonly limits: TimeLimits;
  /** Aborts when the client is closed. */
  readonly closed: AbortSignal;
  /** Ends all watches of runs, and closes the connection unless the caller opened it. */
  close(): Promise<void>;
}

/** Connects to the Temporal server; close the session when done. Throws `server_unreachable` in one sentence. */
export async function connect(options: ConnectOptions = {}): Promise<Session> {
  const { namespace, ...settings } = connectionSettings(options);
  const { address } = settings;
  // Invalid options are reported before connecting.
  attributeNamesOf(options.attributes);
  largePayloadsOf(options.largePayloads);
  const { connectTimeoutMs } = timeLimits(options);
  let connection: Connection | undefined;
  try {
    connection = Connection.lazy({
      ...settings,
      connectTimeout: connectTimeoutMs,
      interceptors: repeatedCalls,
      // The SDK has another name for this option, which gRPC ignores: a history in pages of 4 MB could not be fetched.
      channelArgs: { 'grpc.max_receive_message_length': maxMessageBytes },
    });
    await connection.ensureConnected();
    const session = openSession(connection, { ...options, namespace, address });
    const opened = connection;
    return {
      ...session,
      close: async () => {
        await session.close();
        await opened.close();
      },
    };
  } catch (error) {
    await connection?.close(); // an open channel would retry for ever and keep the process alive
    if (isProblemError(error)) throw error;
    if (error instanceof TypeError) {
      const message = `'${address}' is not an address: write HOST:PORT, such as 127.0.0.1:7233.`;
      throw new ProblemError({ code: 'server_unreachable', message }, { cause: error });
    }
    const problem = translateServerError(error, { address, namespace });
    throw problem.code === 'internal' ? unreachable(address, error) : problem;
  }
}

type OpenOptions = Pick<ConnectOptions, 'largePayloads' | 'attributes' | 'dataConverter'> & TimeLimitOptions;

/** Opens a Countersign client on an existing connection, which the caller closes. */
export function openSession(
  connection: Connection,
  { namespace, address, dataConverter, ...options }: OpenOptions & { namespace: string; address: string },
): Session {
  const attributes = attributeNamesOf(options.attributes);
  const { largePayloads, queryTimeoutMs } = options;
  const plugin = new CountersignClientPlugin({ largePayloads, queryTimeoutMs });
  const client = new Client({ connection, namespace, dataConverter, plugins: [plugin] });
  const hasCodecs = (dataConverter?.payloadCodecs ?? []).length > 0;
  return sessionOf({ connection, client, address, namespace, attributes, hasCodecs }, options);
}

/** Returns the session of a client whose connection the caller closes. */
export function sessionOf(
  parts: Omit<Session, 'limits' | 'closed' | 'close'>,
  options: TimeLimitOptions = {},
): Session {
  const closing = new AbortController();
  const close = async (): Promise<void> => closing.abort();
  return { ...parts, limits: timeLimits(options), closed: closing.signal, close };
}

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Call = ReturnType<Interceptor>;

/** Makes a call on a closed channel end with a status, as every other call does, instead of throwing. */
const endWithTheChannel: Interceptor = (options, nextCall) => {
  try {
    return nextCall(options) as Call;
  } catch {
    return endedCall();
  }
};

/**
 * Retries calls as the SDK does, from a timer. After the connection is closed, the timer would throw an error that no
 * caller can catch, and end the process. `endWithTheChannel` prevents that.
 */
export const repeatedCalls: Interceptor[] = [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), endWithTheChannel];

/** Returns a gRPC call that ends at once with the status CANCELLED, because the client has been closed. */
function endedCall(): Call {
  const call: Pick<Call, 'start' | 'sendMessage' | 'halfClose' | 'startRead' | 'cancelWithStatus' | 'getPeer'> = {
    start: (metadata, listener) => {
      queueMicrotask(() => {
        listener?.onReceiveMessage?.(null);
        const status = { code: grpcStatus.CANCELLED, details: clientClosed, metadata };
        // oxlint-disable-next-line no-unsafe-enum-assignment -- the library that has the enum is no dependency of ours
        listener?.onReceiveStatus?.(status);
      });
    },
    sendMessage: () => undefined,
    halfClose: () => undefined,
    startRead: () => undefined,
    cancelWithStatus: () => undefined,
    getPeer: () => '',
  };
  return call as Call;
}

/** The time limit of one call to the server, including its retries, in milliseconds. */
const defaultTimeoutMs = 10_000;

/** Calls the server within a time limit. Throws every error as a `ProblemError` with one sentence. */
export async function callServer<Answer>(
  session: Session,
  call: () => Promise<Answer>,
  options: { workflowId?: string; timeoutMs?: number } = {},
): Promise<Answer> {
  try {
    return await session.connection.withDeadline(Date.now() + (options.timeoutMs ?? defaultTimeoutMs), call);
  } catch (error) {
    throw translateServerError(error, { ...session, workflowId: options.workflowId });
  }
}

/**
 * Runs calls that end when `signal` aborts. Throws the signal's reason, or the server's errors unchanged. The SDK
 * never removes its listener from a signal, so it gets a signal that lives only as long as the calls.
 */
export async function untilAborted<Answer>(
  { connection }: Session,
  signal: AbortSignal,
  call: () => Promise<Answer>,
): Promise<Answer> {
  signal.throwIfAborted();
  const own = new AbortController();
  const abort = (): void => own.abort(signal.reason);
  signal.addEventListener('abort', abort);
  try {
    return await connection.withAbortSignal(own.signal, call);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Calls `act` for each element, at most `most` at a time, and returns the results in the order of the elements. */
export async function inParallel<One, Result>(
  all: readonly One[],
  most: number,
  act: (one: One) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  // All loops take their next element from the same iterator.
  const remaining = all.entries();
  const loop = async (): Promise<void> => {
    for (const [index, element] of remaining) results[index] = await act(element);
  };
  await Promise.all(Array.from({ length: Math.min(most, all.length) }, loop));
  return results;
}

/** Resolves when `changed` does, when `signal` aborts, or after `afterMs` milliseconds. Removes timer and listener. */
export function changedOrAborted(changed: Promise<void>, signal: AbortSignal, afterMs?: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = afterMs === undefined ? undefined : setTimeout(done, afterMs);
    // A signal that has aborted fires no event.
    if (signal.aborted) return done();
    signal.addEventListener('abort', done);
    void changed.then(done);
  });
}

import type { ConnectionOptions } from '@temporalio/client';
import { defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import { clientClosed, grpcStatus } from '../../connection/server-error.ts';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Call = ReturnType<Interceptor>;

/** Ends a call on a closed channel with a status, as every other call ends. */
const endWithTheChannel: Interceptor = (options, nextCall) => {
  try {
    return nextCall(options) as Call;
  } catch {
    return endedCall();
  }
};

/**
 * Retries calls to the server as the SDK does. The SDK retries from a timer. On a connection that was closed meanwhile,
 * this timer throws an error that nobody can catch, and the process would end with "Channel has been shut down".
 */
export const repeatedCalls: Interceptor[] = [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), endWithTheChannel];

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

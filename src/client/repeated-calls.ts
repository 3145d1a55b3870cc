import type { ConnectionOptions } from '@temporalio/client';
import { defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import { grpcStatus } from '../connection/server-error.ts';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Call = ReturnType<Interceptor>;

/** Ends a call whose channel was closed with a status, as every other call ends. */
const endWithTheChannel: Interceptor = (options, nextCall) => {
  try {
    return nextCall(options) as Call;
  } catch {
    return endedCall();
  }
};

/**
 * Calls to the server, repeated as the SDK repeats them. It does so from a timer, and on a connection that was closed
 * meanwhile that timer throws what nobody can catch: the process would end with "Channel has been shut down".
 */
export const repeatedCalls: Interceptor[] = [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), endWithTheChannel];

function endedCall(): Call {
  const call: Pick<Call, 'start' | 'sendMessage' | 'halfClose' | 'startRead' | 'cancelWithStatus' | 'getPeer'> = {
    start: (metadata, listener) => {
      queueMicrotask(() => {
        listener?.onReceiveMessage?.(null);
        const status = { code: grpcStatus.CANCELLED, details: 'the client was closed', metadata };
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

import { Context } from '@temporalio/activity';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import { Permitted } from '../core/base/permit-metadata.ts';

const permits = new WeakMap<Context, object>();

/** Separates the permit of a call from its arguments. It comes first, so that other interceptors see the arguments. */
export const separatePermit: ActivityInboundCallsInterceptor = {
  execute(received, next) {
    const args = received.args.map((arg) => (arg instanceof Permitted ? arg.value : arg));
    const [first] = received.args;
    if (!(first instanceof Permitted)) return next({ ...received, args });
    permits.set(Context.current(), first.permit);
    const hasNone = args.length === 1 && args[0] === undefined;
    return next({ ...received, args: hasNone ? [] : args });
  },
};

/** The permit that came beside the first argument of the present call; undefined if there was none. */
export function permitOfCall(): object | undefined {
  return permits.get(Context.current());
}

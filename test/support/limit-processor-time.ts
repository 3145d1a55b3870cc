/**
 * Limits the processor time of workflow code, where Temporal's SDK limits its wall time. Preloaded into every process of
 * the durable tests (NODE_OPTIONS), and into their threads.
 *
 * The SDK calls into a workflow dozens of times in a run, with a time limit, and for each such call Node starts a thread
 * that would end it. That took half of the processor time of a replay. It also ended calls in time-outs because the machine
 * was busy. Here a call ends by itself, and then fails as it would have in the SDK if it took more processor time than
 * the limit has on a quiet core.
 */
import { Script, type Context, type RunningScriptOptions } from 'node:vm';
import { slowness } from './processor-time.ts';

// oxlint-disable-next-line typescript/unbound-method -- it is called with the script that it belongs to
const { runInContext } = Script.prototype;

/** Measured once for each thread, and only if a call seems to take too long. */
let slownessHere: number | undefined;

Script.prototype.runInContext = function limited(this: Script, context: Context, options: RunningScriptOptions = {}) {
  const { timeout, ...others } = options;
  if (timeout === undefined) return runInContext.call(this, context, options) as unknown;
  const before = process.threadCpuUsage();
  const result = runInContext.call(this, context, others) as unknown;
  const { user, system } = process.threadCpuUsage(before);
  if (user + system <= timeout * 1_000) return result;
  slownessHere ??= slowness();
  if (user + system <= timeout * 1_000 * slownessHere) return result;
  throw Object.assign(new Error(`Script execution timed out after ${timeout}ms`), {
    code: 'ERR_SCRIPT_EXECUTION_TIMEOUT',
  });
};

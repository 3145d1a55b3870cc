import { defaultMaxTimeoutMs } from 'countersign/policy';
import { loadCeiling } from '../policy/policy-file.ts';

/**
 * The longest time that the operator's policy lets a request wait, in milliseconds. Undefined without a module that
 * names the policy, without a limit in it, and for an unreadable policy, which the worker reports.
 */
export async function longestWait(module: string | undefined): Promise<number | undefined> {
  const ceiling = await loadCeiling(module);
  if (ceiling === undefined) return undefined;
  const { maxTimeoutMs = defaultMaxTimeoutMs } = ceiling.approval;
  return maxTimeoutMs ?? undefined;
}

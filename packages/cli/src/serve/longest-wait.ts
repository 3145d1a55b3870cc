import { defaultMaxTimeoutMs } from 'countersign/policy';
import { loadCeiling } from '../policy/policy-file.ts';

/**
 * The longest time that the operator's policy lets a request wait, in milliseconds. Undefined if there is no module that
 * names the policy, if the policy cannot be read, which the worker reports, and if it has no limit.
 */
export async function longestWait(module: string | undefined): Promise<number | undefined> {
  const ceiling = await loadCeiling(module);
  if (ceiling === undefined) return undefined;
  const { maxTimeoutMs = defaultMaxTimeoutMs } = ceiling.approval;
  return maxTimeoutMs ?? undefined;
}

import { readFileSync } from 'node:fs';
import { defaultMaxTimeoutMs, parsePolicy } from 'countersign/policy';
import { loadPolicySource } from '../base/load-config.ts';

/**
 * The longest time that the operator's policy lets a request wait, in milliseconds. Undefined if there is no module that
 * names the policy, if the policy cannot be read, which the worker reports, and if it has no limit.
 */
export async function longestWait(module: string | undefined): Promise<number | undefined> {
  const source = await loadPolicySource(module);
  if (source === undefined) return undefined;
  const isPath = typeof source === 'string' && !source.includes('\n');
  try {
    const parsed = parsePolicy(isPath ? readFileSync(source, 'utf8') : source, { ceiling: true });
    if (!('policy' in parsed)) return undefined;
    const { maxTimeoutMs = defaultMaxTimeoutMs } = parsed.policy.approval ?? {};
    return maxTimeoutMs ?? undefined;
  } catch {
    return undefined;
  }
}

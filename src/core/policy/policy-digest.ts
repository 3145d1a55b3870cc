import { jsonDigest } from '../base/digest.ts';
import type { PolicyLayers } from './policy.ts';
import type { Json } from '../base/tool-call.ts';

/** Names the policies of a run, as a digest of their canonical JSON; a layer without a policy is absent. */
export function policyDigest(layers: PolicyLayers): string {
  return jsonDigest(layers as unknown as Json);
}

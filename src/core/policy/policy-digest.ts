import { jsonDigest } from '../base/digest.ts';
import type { PolicyLayers } from './policy.ts';
import type { Json } from '../base/tool-call.ts';

/** Identifies the policies of a run: the digest of their canonical JSON. A layer without a policy is absent. */
export function policyDigest(layers: PolicyLayers): string {
  return jsonDigest(layers as unknown as Json);
}

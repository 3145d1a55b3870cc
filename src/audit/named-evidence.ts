import { callDigest, jsonDigest } from '../core/base/digest.ts';
import type { Json, JsonObject } from '../core/base/tool-call.ts';
import { compileRules, type RunRules } from '../core/ledger/rule-case.ts';
import type { PolicyLayers } from '../core/policy/policy.ts';
import type { EvidenceCall, EvidencePolicies, RunEvidence } from './evidence.ts';
import type { EvidenceContext } from '../core/ledger/recorded-context.ts';

/** Why evidence is not used: it does not match its digest, or it is missing. */
export type Unusable = { differs: string } | { why: string };

/** Evidence by the digests that name it. Only evidence that matches its digest is used. */
export class NamedEvidence {
  readonly #evidence: RunEvidence;
  readonly #rules = new Map<string, RunRules | Unusable>();

  constructor(evidence: RunEvidence) {
    this.#evidence = evidence;
  }

  /** `digest`: of the call that would run, by the journal. */
  call(key: string, digest: string | undefined): { call: EvidenceCall } | Unusable {
    const call = ownOf(this.#evidence.calls, key);
    if (call === undefined) return { why: 'its call is not in the evidence' };
    if (call.args !== undefined && digest !== undefined && digestOf(call, call.args) !== digest) {
      return { differs: 'the arguments are not those of the digest that the journal names' };
    }
    if (isNamedBy(call, key)) return { call };
    return { differs: `the risk, the shell command's parts or the assessment are not those of the call's digest` };
  }

  context(key: string): { context: EvidenceContext } | Unusable {
    const context = ownOf(this.#evidence.contexts, key);
    if (context === undefined) return { why: 'its context is not in the evidence' };
    if (isNamedBy(context, key)) return { context };
    return { differs: 'the caller or the metadata are not those of the digest' };
  }

  rules(digests: EvidencePolicies): RunRules | Unusable {
    const key = jsonDigest(digests as unknown as Json);
    const found = this.#rules.get(key) ?? this.#compiled(digests);
    this.#rules.set(key, found);
    return found;
  }

  #compiled({ ceiling, parents, run }: EvidencePolicies): RunRules | Unusable {
    const all = this.#evidence.policies;
    const keys = [ceiling, ...(parents ?? []), run].filter((key) => key !== undefined);
    if (keys.some((key) => ownOf(all, key) === undefined)) return { why: 'a policy is not in the evidence' };
    const strange = keys.find((key) => !isNamedBy(all[key], key));
    if (strange !== undefined)
      return { differs: `policy ${strange.slice(0, 16)}… is not the one that its digest names` };
    const layers: PolicyLayers = {
      ...(ceiling !== undefined && { ceiling: all[ceiling]! }),
      ...(parents !== undefined && { parents: parents.map((key) => all[key]!) }),
      ...(run !== undefined && { run: all[run]! }),
    };
    return compileRules(layers);
  }
}

/** The digest of the call that would run; undefined for arguments without canonical JSON. */
function digestOf({ tool, definition }: EvidenceCall, args: JsonObject): string | undefined {
  try {
    return callDigest({ tool, args, definition });
  } catch {
    return undefined;
  }
}

function isNamedBy(value: unknown, digest: string): boolean {
  try {
    return jsonDigest(value as Json) === digest;
  } catch {
    return false;
  }
}

function ownOf<Value>(all: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(all, key) ? all[key] : undefined;
}

/** Evidence as parts that fit the lines of a file: each has a kind, a key and a value. */
import type { Json } from '../core/base/tool-call.ts';
import { isObject } from '../core/base/json.ts';
import type { RunEvidence } from './evidence.ts';

export interface EvidencePart {
  part: string;
  /** A digest, or the number of a journal entry. */
  key: string;
  value: Json;
}

const byDigest = { policy: 'policies', call: 'calls', context: 'contexts' } as const;

/** The parts of a run's evidence: what rulings are about comes before them. */
export function evidenceParts(evidence: RunEvidence): EvidencePart[] {
  const { rulings, missing, start } = evidence;
  const parts = Object.entries(byDigest).flatMap(([part, list]) =>
    Object.entries(evidence[list]).map(([key, value]) => ({ part, key, value: value as unknown as Json })),
  );
  const began = start === undefined ? [] : [{ part: 'start', key: String(start.seq), value: start as unknown as Json }];
  const ruled = rulings.map(({ seq, ...ruling }) => ({
    part: 'ruling',
    key: String(seq),
    value: ruling as unknown as Json,
  }));
  const lost = missing.map(({ seq, why }) => ({ part: 'missing', key: String(seq), value: why }));
  return [...parts, ...began, ...ruled, ...lost];
}

/** The evidence that parts make, or the one sentence that says which part is none. Never throws. */
export function evidenceOfParts(parts: readonly EvidencePart[]): { evidence: RunEvidence } | { problem: string } {
  const evidence: RunEvidence = { version: 1, policies: {}, calls: {}, contexts: {}, rulings: [], missing: [] };
  for (const [index, { part, key, value }] of parts.entries()) {
    if (!take(evidence, { part, key, value })) return { problem: `evidence ${index + 1} is no part of evidence` };
  }
  return { evidence };
}

function take(evidence: RunEvidence, { part, key, value }: EvidencePart): boolean {
  const seq = Number(key);
  if (part === 'missing') {
    if (typeof value !== 'string' || !Number.isSafeInteger(seq)) return false;
    evidence.missing.push({ seq, why: value });
    return true;
  }
  if (!isObject(value)) return false;
  if (part === 'policy' || part === 'call' || part === 'context') {
    Object.defineProperty(evidence[byDigest[part]], key, { value, enumerable: true, configurable: true });
    return true;
  }
  if (part === 'start') {
    evidence.start = value as unknown as NonNullable<RunEvidence['start']>;
    return isStart(value);
  }
  const { call, context, agent, policies } = value;
  const isRuling = [call, context, agent].every((each) => typeof each === 'string') && isObject(policies);
  if (part !== 'ruling' || !isRuling || !Number.isSafeInteger(seq)) return false;
  evidence.rulings.push({ ...(value as unknown as RunEvidence['rulings'][number]), seq });
  return true;
}

function isStart({ seq, open, grants, running, vague, counts, denied }: Readonly<Record<string, unknown>>): boolean {
  const lists = [open, grants, running, vague];
  const areLists = lists.every(
    (list) => Array.isArray(list) && list.every((each) => isObject(each) || typeof each === 'string'),
  );
  return Number.isSafeInteger(seq) && areLists && isObject(counts) && isObject(denied);
}

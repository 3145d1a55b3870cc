/** Summaries of surveyed runs: what each agent used (docs/statistics.md), and which operator's policy is in force. */
import { totalUsage, type Usage } from '../core/base/model-answer.ts';
import { jsonDigest } from '../core/base/digest.ts';
import { shortened } from '../core/base/text.ts';
import type { Json } from '../core/base/tool-call.ts';
import type { RunCost } from '../core/policy/run-cost.ts';
import { longestRowName } from './statistics-rows.ts';
import { compilePolicy } from '../core/policy/compiled-policy.ts';
import type { Policy, Rule } from '../core/policy/policy.ts';
import type { RuleLines } from '../core/policy/rule-place.ts';

export interface UsingRun {
  /** The agent with which the run was started. Absent for a custom workflow. */
  agent?: string;
  /** Tokens and cost, including nested runs. Absent if the run is open, or ended without a result. */
  used?: { usage: Usage; cost?: RunCost };
  /** True if the result of a calling run includes what this run used. */
  isNested?: boolean;
}

/** What one agent used, in its runs and in the nested runs that they called. */
export interface AgentUsage extends Usage {
  agent: string;
  /** The number of runs with a result. The other figures are sums over these runs. */
  runs: number;
  /** The number of runs that are open, or ended without a result. */
  others: number;
  /** The sum of the runs' costs in each currency, by the prices that each run recorded. */
  costs: { currency: string; amount: number }[];
  /** The number of runs whose cost is unknown or too low, because a price or a token count is missing. */
  unpriced: number;
}

/** Returns a row for each agent, the most tokens first. Leaves out nested runs: their usage is in the calling runs'. */
export function agentUsage(runs: readonly UsingRun[]): AgentUsage[] {
  const rows = new Map<string, AgentUsage>();
  for (const { agent, used, isNested = false } of runs) {
    if (agent === undefined || isNested) continue;
    const name = shortened(agent, longestRowName);
    const none = { agent: name, runs: 0, others: 0, inputTokens: 0, outputTokens: 0, costs: [], unpriced: 0 };
    const row = rows.get(name) ?? none;
    rows.set(name, used === undefined ? { ...row, others: row.others + 1 } : withRun(row, used));
  }
  const tokensOf = ({ inputTokens, outputTokens }: Usage): number => inputTokens + outputTokens;
  return [...rows.values()].sort((one, other) => tokensOf(other) - tokensOf(one));
}

/** Adds what a run used to the row of its agent. A run without a complete, valid cost counts as unpriced. */
function withRun(row: AgentUsage, { usage, cost }: NonNullable<UsingRun['used']>): AgentUsage {
  const withTokens = { ...row, ...totalUsage(row, usage), runs: row.runs + 1 };
  const costs = cost && withCost(row.costs, cost);
  if (costs === undefined) return { ...withTokens, unpriced: row.unpriced + 1 };
  const isComplete = cost?.unpriced === undefined;
  return { ...withTokens, costs, unpriced: isComplete ? row.unpriced : row.unpriced + 1 };
}

const mostCurrencies = 20;

/** Adds a cost to the sums. Undefined for a malformed cost or a 21st currency: any worker can write a result. */
function withCost(costs: AgentUsage['costs'], { currency, amount }: RunCost): AgentUsage['costs'] | undefined {
  const known = costs.find((each) => each.currency === currency);
  const sum = (known?.amount ?? 0) + amount;
  if (!/^[A-Z]{3}$/.test(currency) || !Number.isFinite(sum)) return undefined;
  if (known !== undefined) return costs.map((each) => (each === known ? { currency, amount: sum } : each));
  return costs.length < mostCurrencies ? [...costs, { currency, amount }] : undefined;
}

export interface RecordingRun {
  /** ISO 8601. */
  startedAt: string;
  /** The operator's policy at the run's start; null if the run recorded that there is none. Absent without a record. */
  ceiling?: { digest: string; policy: Policy; lines?: RuleLines } | null;
}

/** A policy of the operator, and when runs recorded it. */
export interface RecordedPolicy {
  /** The SHA-256 digest of the policy's canonical JSON. */
  digest: string;
  /** When the first run that recorded it started, in ISO 8601. The policy may be older. */
  firstAt: string;
  /** When the last run that recorded it started, in ISO 8601. */
  lastAt: string;
  runs: number;
}

/** A rule of the operator's policy. */
export interface PlacedRule {
  /** The id by which journals name the rule. */
  id: string;
  /** `FILE:LINE`, if the policy was read from a file. */
  place?: string;
  rule: Rule;
}

/** The result of `policyInForce`. */
export interface PolicyInForce {
  /** The policy that the newest record names. Absent if the record says that no policy binds, or without a record. */
  present?: RecordedPolicy & { policy: Policy; rules: PlacedRule[] };
  /** The other recorded policies, the last used first. At most 50. */
  others: RecordedPolicy[];
  /** The number of runs that recorded that no policy binds them. */
  withoutPolicy: number;
}

const mostOthers = 50;

/** Finds the policy that the newest of the runs with a record names, because it binds new runs. Takes any order. */
export function policyInForce(runs: readonly RecordingRun[]): PolicyInForce {
  const newestFirst = runs
    .flatMap(({ startedAt, ceiling }) => (ceiling === undefined ? [] : [{ startedAt, ceiling }]))
    .sort((one, other) => (one.startedAt < other.startedAt ? 1 : -1));
  const byDigest = new Map<string, RecordedPolicy>();
  for (const { startedAt, ceiling } of newestFirst) {
    if (ceiling === null) continue;
    const { digest } = ceiling;
    // The newest run comes first and sets `lastAt`. Each later one in the list is older and moves `firstAt` back.
    const known = byDigest.get(digest) ?? { digest, firstAt: startedAt, lastAt: startedAt, runs: 0 };
    byDigest.set(digest, { ...known, firstAt: startedAt, runs: known.runs + 1 });
  }
  const withoutPolicy = newestFirst.filter(({ ceiling }) => ceiling === null).length;
  const present = newestFirst[0]?.ceiling ?? undefined;
  const others = [...byDigest.values()].filter(({ digest }) => digest !== present?.digest).slice(0, mostOthers);
  if (present === undefined) return { others, withoutPolicy };
  const { policy, lines, digest } = present;
  return { present: { ...placedPolicy(policy, lines), ...byDigest.get(digest)! }, others, withoutPolicy };
}

/** Adds to a policy its digest, and to each rule its id and its line in the policy's file. */
export function placedPolicy(
  policy: Policy,
  lines?: RuleLines,
): { digest: string; policy: Policy; rules: PlacedRule[] } {
  return { digest: jsonDigest(policy as unknown as Json), policy, rules: placedRules(policy, lines) };
}

function placedRules(policy: Policy, lines: RuleLines | undefined): PlacedRule[] {
  return compilePolicy(policy, 'ceiling').rules.map(({ id }, index) => {
    const line = lines?.lines[index];
    return { id, ...(line !== undefined && { place: `${lines!.file}:${line}` }), rule: policy.rules[index]! };
  });
}

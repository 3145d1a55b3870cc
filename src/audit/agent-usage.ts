/** Adds up the tokens and costs in the results of runs, for each agent. docs/statistics.md explains each figure. */
import { totalUsage, type Usage } from '../core/base/model-answer.ts';
import { shortened } from '../core/base/text.ts';
import type { RunCost } from '../core/policy/run-cost.ts';
import { longestRowName } from './statistics-rows.ts';

/** One run: its agent, its tokens and its costs. */
export interface UsingRun {
  /** The agent with which it was started. Absent: a workflow of one's own. */
  agent?: string;
  /** With nested runs. Absent: it has not ended, or it ended without a result. */
  used?: { usage: Usage; cost?: RunCost };
  /** True: another run called it, and the result of that run counts what this one used. */
  isNested?: boolean;
}

/** The sums of one agent: over its runs, and over the nested runs that these called. */
export interface AgentUsage extends Usage {
  agent: string;
  /** Runs that gave a result: the other figures are theirs. */
  runs: number;
  /** Runs that are open, or ended without a result. */
  others: number;
  /** One for each currency, by the prices that each run recorded. */
  costs: { currency: string; amount: number }[];
  /** Runs whose costs are not known, or not all: there was no price, or a model said no numbers of tokens. */
  unpriced: number;
}

/** One row for each agent; the one with most tokens comes first. */
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

function withRun(row: AgentUsage, { usage, cost }: NonNullable<UsingRun['used']>): AgentUsage {
  const costs = cost === undefined ? undefined : withCost(row.costs, cost);
  const isKnown = costs !== undefined && cost!.unpriced === undefined;
  return {
    ...row,
    ...totalUsage(row, usage),
    runs: row.runs + 1,
    costs: costs ?? row.costs,
    unpriced: row.unpriced + (isKnown ? 0 : 1),
  };
}

const mostCurrencies = 20;

/** Undefined if that is no amount in a currency: anybody who runs workers can write a result. */
function withCost(costs: AgentUsage['costs'], { currency, amount }: RunCost): AgentUsage['costs'] | undefined {
  const before = costs.find((each) => each.currency === currency);
  const sum = (before?.amount ?? 0) + amount;
  if (!/^[A-Z]{3}$/.test(currency) || !Number.isFinite(sum)) return undefined;
  if (before !== undefined) return costs.map((each) => (each === before ? { currency, amount: sum } : each));
  return costs.length < mostCurrencies ? [...costs, { currency, amount }] : undefined;
}

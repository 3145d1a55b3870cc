import type { ModelUsage } from '../base/model-answer.ts';
import type { Prices } from './policy.ts';

/** What the model calls of a run cost so far, with those of nested runs that have ended. */
export interface RunCost {
  /** In `currency`, without the cost of what `unpriced` names. */
  amount: number;
  currency: string;
  /** Models without a price or a number of tokens, and nested runs: their cost is unknown. Absent: none. */
  unpriced?: string[];
}

/** The cost as a run keeps it, whether there are prices or not. */
export type SpentCost = Pick<RunCost, 'amount'> & Required<Pick<RunCost, 'unpriced'>>;

const nothing: SpentCost = { amount: 0, unpriced: [] };
const mostUnpriced = 20;
const longestName = 100;

/** Adds the cost of one model call. `model`: undefined if the worker did not name the model. */
export function withModelCost(
  spent: SpentCost = nothing,
  prices: Prices | undefined,
  model: string | undefined,
  usage: ModelUsage,
): SpentCost {
  const [input, output] = [tokensIn(usage.inputTokens), tokensIn(usage.outputTokens)];
  const price = model !== undefined && Object.hasOwn(prices?.models ?? {}, model) ? prices!.models[model] : undefined;
  // A model that reports no tokens is not free: its cost is unknown.
  if (price === undefined || input + output === 0) return withUnknownCost(spent, model ?? 'a model');
  const { cachedInput: cachedPrice = price.input } = price;
  const cached = Math.min(tokensIn(usage.cachedInputTokens ?? 0), input);
  const millionths = (input - cached) * price.input + cached * cachedPrice + output * price.output;
  return { ...spent, amount: spent.amount + millionths / 1_000_000 };
}

/** Adds the cost of a nested run. Its worker may have other prices, so the cost may be unknown here. */
export function withNestedCost(
  spent: SpentCost = nothing,
  prices: Prices | undefined,
  agent: string,
  cost: Partial<RunCost> = {},
): SpentCost {
  const { amount, currency, unpriced = [] } = cost;
  const isKnown = Number.isFinite(amount) && amount! >= 0 && currency === prices?.currency;
  if (!isKnown) return withUnknownCost(spent, `agent ${agent}`);
  // The worker of the nested run may send anything.
  const isList = Array.isArray(unpriced) && unpriced.every((name) => typeof name === 'string');
  const names = isList ? unpriced : [`agent ${agent}`];
  return names.reduce<SpentCost>((sum, name) => withUnknownCost(sum, name), {
    ...spent,
    amount: spent.amount + amount!,
  });
}

/** The cost as results and statuses have it; empty without prices, and before the first model call. */
export function costOf(prices: Prices | undefined, spent: SpentCost | undefined): { cost?: RunCost } {
  if (prices === undefined || spent === undefined) return {};
  const { amount, unpriced } = spent;
  return { cost: { amount, currency: prices.currency, ...(unpriced.length > 0 && { unpriced }) } };
}

function withUnknownCost(spent: SpentCost, name: string): SpentCost {
  const short = name.slice(0, longestName);
  const { unpriced } = spent;
  if (unpriced.includes(short) || unpriced.length >= mostUnpriced) return spent;
  return { ...spent, unpriced: [...unpriced, short] };
}

function tokensIn(count: number): number {
  return Number.isSafeInteger(count) ? Math.max(0, count) : 0;
}

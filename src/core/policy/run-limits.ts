import { formatDuration } from '../base/duration.ts';
import type { PolicyLayers, Prices, RunLimit, RunLimits, RunMeasure } from './policy.ts';
import { runMeasures } from './policy.ts';

/** The strictest of several limits: of each measure, the smallest amount; undefined if there are none. */
export function mergeRunLimits(...all: readonly (RunLimits | undefined)[]): RunLimits | undefined {
  const merged = runMeasures.flatMap((measure) => {
    const smallest = (member: keyof RunLimit): RunLimit => {
      const amounts = all.flatMap((limits) => limits?.[measure]?.[member] ?? []);
      return amounts.length === 0 ? {} : { [member]: Math.min(...amounts) };
    };
    const limit = { ...smallest('ask'), ...smallest('end') };
    return Object.keys(limit).length === 0 ? [] : [[measure, limit] as const];
  });
  return merged.length === 0 ? undefined : Object.fromEntries(merged);
}

/** The limits that bind a run: those of all its layers. A nested run also has the limits of the runs above. */
export function runLimitsOf({ ceiling, parents = [], run }: PolicyLayers): RunLimits {
  return mergeRunLimits(...[ceiling, ...parents, run].map((policy) => policy?.limits)) ?? {};
}

export interface ReachedLimit {
  measure: RunMeasure;
  /** The amount at which the limit lies. */
  amount: number;
  /** True: a person decides whether the run goes on. */
  asks: boolean;
  /** True: the cost is limited, but not known. */
  isUnknown?: true;
}

/**
 * The first limit that a run has reached, with limits that end the run first. `used`: by the whole run.
 * `allowedFrom`: what was used when a person last let the run go on. The limit of calls is reached by a call beyond
 * it. `isUnknown`: the cost is not known, and no person has accepted that, so a limit of the cost asks.
 */
export function reachedLimit(
  limits: RunLimits,
  used: Readonly<Record<RunMeasure, number>>,
  allowedFrom: Readonly<Partial<Record<RunMeasure, number>>> = {},
  isUnknown = false,
): ReachedLimit | undefined {
  const isReached = (measure: RunMeasure, amount = Infinity, from = 0): boolean =>
    measure === 'calls' ? used.calls - from > amount : used[measure] - from >= amount;
  const ending = runMeasures.find((measure) => isReached(measure, limits[measure]?.end));
  if (ending !== undefined) return { measure: ending, amount: limits[ending]!.end!, asks: false };
  const asking = runMeasures.find((measure) => isReached(measure, limits[measure]?.ask, allowedFrom[measure]));
  if (asking !== undefined) return { measure: asking, amount: limits[asking]!.ask!, asks: true };
  const amount = limits.cost?.ask ?? limits.cost?.end;
  return isUnknown && amount !== undefined ? { measure: 'cost', amount, asks: true, isUnknown } : undefined;
}

/** An amount in words, such as `20 turns` or `2h`. A cost has at most six decimals, and a currency only by `prices`. */
export function amountText(measure: RunMeasure, amount: number, prices?: Prices): string {
  if (measure === 'cost') {
    const rounded = Number(amount.toFixed(6));
    return prices === undefined ? `${rounded}` : `${rounded} ${prices.currency}`;
  }
  if (measure === 'timeMs') return formatDuration(amount);
  const unit = { turns: 'turn', calls: 'tool call', tokens: 'token' }[measure];
  return `${amount} ${unit}${amount === 1 ? '' : 's'}`;
}

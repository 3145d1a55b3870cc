/**
 * What `sum('refund', 'amount')` of a condition adds up: numbers in the arguments of admitted calls, as exact decimals.
 * A call counts from its ruling on, in the model's order; if it does not run, its numbers are subtracted again.
 */
import type { JsonObject } from '../base/tool-call.ts';

/** The numbers of an admitted call, which are subtracted if it does not run. */
interface Share {
  callId: string;
  tool: string;
  /** The arguments that were added. None is negative. */
  numbers: { argument: string; value: number }[];
}

export interface ArgumentSums {
  /** `calls` of a tool: its calls that count. `calls` of an argument: those of them that have the argument. */
  tools: { tool: string; calls: number; arguments: { argument: string; calls: number; sum: string }[] }[];
  held: Share[];
}

const none: ArgumentSums = { tools: [], held: [] };
/** The most argument names that are summed for one tool: a model may invent names. */
const mostArguments = 50;

/** What the functions need of a ledger: an audit knows only a part of one. `sums` is absent before the first call. */
interface Summing {
  sums?: ArgumentSums;
}

/** The ledger with the numbers of a call added. Numbers that the call had before are replaced. */
export function withShare<L extends Summing>(ledger: L, callId: string, tool: string, args: JsonObject): L {
  const before = withoutShare(ledger, callId).sums ?? none;
  const summed = before.tools.find((each) => each.tool === tool)?.arguments.map(({ argument }) => argument) ?? [];
  const given = Object.entries(args).flatMap(([argument, value]) =>
    // A negative number would make room for other calls.
    typeof value !== 'number' || value < 0 ? [] : [{ argument, value }],
  );
  const added = given.map(({ argument }) => argument).filter((argument) => !summed.includes(argument));
  const counting = new Set([...summed, ...added].slice(0, mostArguments));
  const numbers = given.filter(({ argument }) => counting.has(argument));
  const share = { callId, tool, numbers };
  return { ...ledger, sums: { tools: afterShare(before.tools, share, 1), held: [...before.held, share] } };
}

/** The ledger without the numbers of a call that does not run; unchanged if it has none, or they count for good. */
export function withoutShare<L extends Summing>(ledger: L, callId: string): L {
  const { tools, held } = ledger.sums ?? none;
  const share = held.find((each) => each.callId === callId);
  if (share === undefined) return ledger;
  return { ...ledger, sums: { tools: afterShare(tools, share, -1), held: held.filter((each) => each !== share) } };
}

/** The ledger in which the numbers of a call count for good, because the call has run or may have run. */
export function withShareSpent<L extends Summing>(ledger: L, callId: string): L {
  const { sums } = ledger;
  if (sums === undefined) return ledger;
  return { ...ledger, sums: { ...sums, held: sums.held.filter((each) => each.callId !== callId) } };
}

/** The ledger for a ruling on a call. If the call waits, the sums leave out its numbers and those of later requests. */
export function admittedBefore<L extends Summing & { open: readonly { callId: string }[] }>(
  ledger: L,
  callId: string | undefined,
): L {
  const index = ledger.open.findIndex((each) => each.callId === callId);
  if (index === -1) return ledger;
  return ledger.open.slice(index).reduce((before, each) => withoutShare(before, each.callId), ledger);
}

/** The sum as a double, 0 without calls; undefined if a call of the tool has no number from 0 on in the argument. */
export function sumOf({ tools }: ArgumentSums = none, tool: string, argument: string): number | undefined {
  const found = tools.find((each) => each.tool === tool);
  if (found === undefined) return 0;
  const own = found.arguments.find((each) => each.argument === argument);
  return own?.calls === found.calls ? Number(own.sum) : undefined;
}

/** The sums of all tools after the numbers of a call are added (`times` 1) or subtracted (`times` -1). */
function afterShare(tools: ArgumentSums['tools'], { tool, numbers }: Share, times: 1 | -1): ArgumentSums['tools'] {
  const before = tools.find((each) => each.tool === tool) ?? { tool, calls: 0, arguments: [] };
  const names = new Set([...before.arguments, ...numbers].map(({ argument }) => argument));
  const sums = [...names].map((argument) => {
    const { calls, sum } = before.arguments.find((each) => each.argument === argument) ?? { calls: 0, sum: '0' };
    const value = numbers.find((each) => each.argument === argument)?.value;
    if (value === undefined) return { argument, calls, sum };
    return { argument, calls: calls + times, sum: decimalSum(sum, String(times * value)) };
  });
  const after = { tool, calls: before.calls + times, arguments: sums.filter(({ calls }) => calls > 0) };
  return [...tools.filter((each) => each !== before), ...(after.calls > 0 ? [after] : [])];
}

/**
 * The exact sum of two decimals: `0.1` and `0.2` give `3e-1`. A sum of doubles drifts, and subtraction leaves a
 * remainder. Throws for other texts, and for numbers far beyond a double.
 */
export function decimalSum(one: string, other: string): string {
  const both = [partsOf(one), partsOf(other)];
  const places = Math.max(...both.map((each) => each.places));
  const digits = both.reduce((sum, each) => sum + each.digits * 10n ** BigInt(places - each.places), 0n);
  return `${digits}e${-places}`;
}

const decimalShape = /^-?\d{1,700}(?:\.\d{1,30})?(?:e[+-]?\d{1,3})?$/;

function partsOf(decimal: string): { digits: bigint; places: number } {
  if (!decimalShape.test(decimal)) throw new Error('a sum is no decimal number');
  const [number = '0', exponent = '0'] = decimal.split('e');
  const [whole, fraction = ''] = number.split('.');
  return { digits: BigInt(`${whole}${fraction}`), places: fraction.length - Number(exponent) };
}

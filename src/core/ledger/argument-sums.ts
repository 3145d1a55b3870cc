/**
 * What `sum('refund', 'amount')` of a condition adds up: the numbers in the arguments of the calls that were admitted. A call
 * counts from its ruling on, in the model's order, while it is asked about and while it runs; one that does not run gives
 * its share back. Sums are exact decimals, so that nothing is left of what was given back.
 */
import type { JsonObject } from '../base/tool-call.ts';

/** A call that may still give its share back. */
interface Share {
  callId: string;
  tool: string;
  /** The arguments that were added, of at least 0. */
  numbers: { argument: string; value: number }[];
}

export interface ArgumentSums {
  /** `calls`: how many count, of the tool and of those with the argument. */
  tools: { tool: string; calls: number; arguments: { argument: string; calls: number; sum: string }[] }[];
  held: Share[];
}

const none: ArgumentSums = { tools: [], held: [] };
/** A model may invent names of arguments. Of those beyond this number of a tool, no sum is known. */
const mostArguments = 50;

/** What counts: a ledger, or what an audit knows of it. */
interface Summing {
  sums?: ArgumentSums;
}

/** Counts a call, or counts it anew with other arguments. */
export function withShare<L extends Summing>(ledger: L, callId: string, tool: string, args: JsonObject): L {
  const before = withoutShare(ledger, callId).sums ?? none;
  const known = before.tools.find((each) => each.tool === tool)?.arguments ?? [];
  let room = mostArguments - known.length;
  const numbers = Object.entries(args).flatMap(([argument, value]) => {
    // A negative number would make room for others.
    if (typeof value !== 'number' || value < 0) return [];
    const isKnown = known.some((each) => each.argument === argument);
    return isKnown || room-- > 0 ? [{ argument, value }] : [];
  });
  const share = { callId, tool, numbers };
  return { ...ledger, sums: { tools: added(before.tools, share, 1), held: [...before.held, share] } };
}

/** The call does not run. */
export function withoutShare<L extends Summing>(ledger: L, callId: string): L {
  const { tools, held } = ledger.sums ?? none;
  const share = held.find((each) => each.callId === callId);
  if (share === undefined) return ledger;
  return { ...ledger, sums: { tools: added(tools, share, -1), held: held.filter((each) => each !== share) } };
}

/** The call has run, or nobody knows whether it has: it counts for good. */
export function withShareSpent<L extends Summing>(ledger: L, callId: string): L {
  const { sums } = ledger;
  if (sums === undefined) return ledger;
  return { ...ledger, sums: { ...sums, held: sums.held.filter((each) => each.callId !== callId) } };
}

/**
 * What was admitted before a call, for a ruling that is made again while it is asked about: without its own share, and
 * those of the requests that were opened after it.
 */
export function admittedBefore<L extends Summing & { open: readonly { callId: string }[] }>(
  ledger: L,
  callId: string | undefined,
): L {
  const index = ledger.open.findIndex((each) => each.callId === callId);
  if (index === -1) return ledger;
  return ledger.open.slice(index).reduce((before, each) => withoutShare(before, each.callId), ledger);
}

/** The sum as a double; undefined if a call that counts has no such number. */
export function sumOf({ tools }: ArgumentSums = none, tool: string, argument: string): number | undefined {
  const found = tools.find((each) => each.tool === tool);
  if (found === undefined) return 0;
  const own = found.arguments.find((each) => each.argument === argument);
  return own?.calls === found.calls ? Number(own.sum) : undefined;
}

function added(tools: ArgumentSums['tools'], { tool, numbers }: Share, times: 1 | -1): ArgumentSums['tools'] {
  const before = tools.find((each) => each.tool === tool) ?? { tool, calls: 0, arguments: [] };
  const names = new Set([...before.arguments, ...numbers].map(({ argument }) => argument));
  const all = [...names].map((argument) => {
    const { calls, sum } = before.arguments.find((each) => each.argument === argument) ?? { calls: 0, sum: '0' };
    const value = numbers.find((each) => each.argument === argument)?.value;
    if (value === undefined) return { argument, calls, sum };
    return { argument, calls: calls + times, sum: decimalSum(sum, String(times * value)) };
  });
  const after = { tool, calls: before.calls + times, arguments: all.filter(({ calls }) => calls > 0) };
  return [...tools.filter((each) => each !== before), ...(after.calls > 0 ? [after] : [])];
}

/**
 * The exact sum of two decimal numbers, such as `0.3`, `1e-7` or `30e-2`: `0.1` and `0.2` give `3e-1`. A sum of doubles
 * drifts, and what is taken back from it leaves a rest. Throws for other texts, and for numbers far beyond a double.
 */
export function decimalSum(one: string, other: string): string {
  const both = [partsOf(one), partsOf(other)];
  const places = Math.max(...both.map((each) => each.places));
  const digits = both.reduce((sum, each) => sum + each.digits * 10n ** BigInt(places - each.places), 0n);
  return `${digits}e${-places}`;
}

const readable = /^-?\d{1,700}(?:\.\d{1,30})?(?:e[+-]?\d{1,3})?$/;

function partsOf(decimal: string): { digits: bigint; places: number } {
  if (!readable.test(decimal)) throw new Error('a sum is no decimal number');
  const [number = '0', exponent = '0'] = decimal.split('e');
  const [whole, fraction = ''] = number.split('.');
  return { digits: BigInt(`${whole}${fraction}`), places: fraction.length - Number(exponent) };
}

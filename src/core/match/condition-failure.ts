import { argumentsRead } from './argument-reads.ts';

/** What CEL gives for `double("20,000")` and `int("0x10")`; and no number is what 0.0 / 0.0 gives here. */
export const notANumber = 'not a number';

/** What `has(x.y)` gives for an `x` that is no object. */
export const notAnObject = 'not an object';

/** What `sum('refund', 'amount')` gives if a call that counts has no such number. Both names follow. */
export const notSummed = 'no sum of';

/** Rewords the library's message so that it holds no value of an argument (I13). */
export function conditionFailure(message: string, source: string, engine: number): string {
  const told = failureWords(message, source);
  if (engine < 3 || told.startsWith("'")) return told;
  const read = argumentsRead(source).slice(0, 3);
  return read.length === 0 ? told : `${told}; it reads ${read.map((name) => `'${name.slice(0, 40)}'`).join(', ')}`;
}

function failureWords(message: string, source: string): string {
  if (message.includes(notAnObject)) return 'has() reads a member of what is no object';
  if (message.includes(notANumber)) return 'something that it reads is not a number';
  const [, summed] = message.split(`${notSummed} `);
  if (summed !== undefined) return `an earlier call has no number of at least 0 in ${summed}`;
  const field = /field not found: (.*)$/s.exec(message)?.[1];
  if (field !== undefined) {
    return source.includes(field) ? `'${field}' is missing` : 'something that its condition reads is missing';
  }
  const overload = /no matching overload for '([^']*)' applied to '([^']*)'/.exec(message);
  if (overload !== null) return `${overload[1]} does not work on ${overload[2]}`;
  return 'its condition fails on these arguments';
}

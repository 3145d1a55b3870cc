import { ProblemError, type ProblemCode } from '../core/base/problem.ts';

/**
 * Returns the known name that a mistyped name most likely means; undefined if there is none. The two differ only in
 * case, in separators, in a missing end, or in at most two letters, which are at most a third of the name.
 *
 * @example
 * nearestName('timeout', ['timeoutMs']); // => 'timeoutMs'
 * nearestName('colour', ['channels', 'routes']); // => undefined
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > longestName) return undefined;
  const typed = plain(name);
  const rated = known.map((each) => ({ each, changes: changesBetween(typed, plain(each)) }));
  const [best] = rated.toSorted((one, other) => one.changes - other.changes);
  return best !== undefined && best.changes <= Math.min(mostChanges, Math.floor(typed.length / 3))
    ? best.each
    : undefined;
}

/**
 * Says that a name is unknown, with the nearest known name, or else with `listed`.
 *
 * @example
 * unknownName('option', 'chanels', ['channels', 'routes']); // => "unknown option 'chanels': did you mean 'channels'?"
 * unknownName('option', 'timeout', ['timeoutMs']); // => "unknown option 'timeout': did you mean 'timeoutMs'?"
 * unknownName('key', 'colour', ['channels', 'routes']); // => "unknown key 'colour'; known are channels, routes"
 */
export function unknownName(
  what: 'key' | 'option',
  name: string,
  known: readonly string[],
  listed = `known are ${known.join(', ')}`,
): string {
  const nearest = nearestName(name, known);
  const remedy = nearest === undefined ? `; ${listed}` : `: did you mean '${nearest}'?`;
  return `unknown ${what} '${name.slice(0, 60)}'${remedy}`;
}

/** A list of all names of options of a type. */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>;

/**
 * Why `options` are no object, or have an unknown name, which may be inherited; undefined if they are valid.
 *
 * @example
 * optionProblem({ folow: true }, { follow: true }); // => "unknown option 'folow': did you mean 'follow'?"
 */
export function optionProblem(
  options: unknown,
  known: readonly string[] | Readonly<Record<string, true>>,
  listed?: string,
): string | undefined {
  const names = Array.isArray(known) ? (known as readonly string[]) : Object.keys(known);
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    return `expected an object with ${names.join(', ')}`;
  }
  const unknown = optionNames(options).find((name) => !names.includes(name));
  return unknown === undefined ? undefined : unknownName('option', unknown, names, listed);
}

/** All names of options, also inherited ones (`Object.create(defaults)`), without the members of every object. */
function optionNames(options: object): string[] {
  const names = new Set<string>();
  let holder: object | null = options;
  for (let depth = 0; holder !== null && holder !== Object.prototype && depth < deepestOptions; depth += 1) {
    for (const name of Object.keys(holder)) names.add(name);
    holder = Object.getPrototypeOf(holder) as object | null;
  }
  return [...names];
}

/** How many prototypes of options are searched: more than any real options have. */
const deepestOptions = 100;

const longestName = 64;
const mostChanges = 2;
const shortestBeginning = 4;

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '');
}

/** Counts the letters to add, remove, replace or swap (Damerau-Levenshtein distance). A missing end counts as one. */
function changesBetween(one: string, other: string): number {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  if (short !== long && short.length >= shortestBeginning && long.startsWith(short)) return 1;
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= one.length; row += 1) {
    const [above, twoAbove] = [rows[row - 1]!, rows[row - 2]];
    const line = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwap = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      line.push(
        Math.min(
          above[column]! + 1,
          line[column - 1]! + 1,
          above[column - 1]! + (isSame ? 0 : 1),
          twoAbove !== undefined && isSwap ? twoAbove[column - 2]! + 1 : Infinity,
        ),
      );
    }
    rows.push(line);
  }
  return rows.at(-1)!.at(-1)!;
}

/** Throws a `ProblemError` unless `options` is an object with only `known` keys. */
export function checkCallOptions<Options>(
  place: string,
  options: Options,
  known: OptionNames<Options>,
  code: ProblemCode = 'arguments_invalid',
): void {
  const problem = optionProblem(options, known);
  if (problem !== undefined) throw new ProblemError({ code, message: `${place}: ${problem}` });
}

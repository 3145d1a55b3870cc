/** Finds the texts with which a function takes longer than their length explains. */
import { describe, expect, test } from 'vitest';
import { processorMs, slowness, squareGrowth } from '../support/processor-time.ts';
import { thoroughness } from '../support/thorough.ts';
import type { Input, Inputs, Run } from './inputs/input.ts';

const kB = 1_000;
interface Plan {
  /** Lengths. The first is small enough for every family; what costs most is measured again with the others. */
  small: number;
  middle: number;
  half: number;
  large: number;
  /** How many families per way to call a function go on to the middle length, and how many in all to the large one. */
  atMiddle: number;
  atLarge: number;
  /** Each way to call a function is tried with every so many-th family, and together they are tried with all of them. */
  every: number;
}
const thorough: Plan = {
  small: 20 * kB,
  middle: 80 * kB,
  half: 250 * kB,
  large: 1_000 * kB,
  atMiddle: 6,
  atLarge: 4,
  every: 1,
};
const usual: Plan = { ...thorough, small: 3 * kB, half: 125 * kB, large: 500 * kB, atMiddle: 2, atLarge: 1, every: 4 };
/** A whole card writes each text in many places, with an escape for each character. */
const ofCards: Plan = {
  small: 2 * kB,
  middle: 8 * kB,
  half: 12.5 * kB,
  large: 50 * kB,
  atMiddle: 1,
  atLarge: 2,
  every: 16,
};
const placesOfCards = 12;
/** What writes a text in several places takes as long for the longest of these as others for a megabyte. */
const ofSeveralPlaces: Plan = { ...usual, half: 50 * kB, large: 200 * kB };
const severalPlaces = 3;
const msPerMegabyte = 400;
/** What a call may take beside that: a collection of garbage, a function that is compiled. */
const constantMs = 40;
/** Below this, a growth cannot be told from noise on a quiet core. */
const leastMs = 60;
const measures = 4;

interface Measured {
  run: Run;
  family: Family;
  ms: number;
}

/** A test for each of these functions. */
export function expectLinearWork(inputs: Inputs): void {
  describe('work grows at most linearly with text from elsewhere', () => {
    test.each(Object.entries(inputs))(
      '%s',
      async (_name, input) => {
        expect(await tooSlow(input)).toEqual([]);
      },
      300_000,
    );
  });
}

/** One sentence for each text that takes too long. Tries more and longer texts if COUNTERSIGN_TEST_THOROUGH says so. */
async function tooSlow(input: Input): Promise<string[]> {
  const { runs, most, places = 1 } = typeof input === 'object' && 'runs' in input ? input : { runs: [input].flat() };
  const plan = thoroughness > 1 ? thorough : planFor(places);
  const problemsOf = (all: readonly Measured[], length: number): Promise<string[]> =>
    inTurn(all, ({ run, family }) => problemAt(run, family, length, places));
  const measured = async (pairs: readonly Omit<Measured, 'ms'>[], length: number): Promise<Measured[]> => {
    const all = await inTurn(pairs, async ({ run, family }) => [
      { run, family, ms: await costMs(run, family.of(length)) },
    ]);
    return all.toSorted((one, other) => other.ms - one.ms);
  };
  const every = Math.min(plan.every, runs.length);
  const all = runs.flatMap((run, index) =>
    families.filter((_, at) => at % every === index % every).map((family) => ({ run, family })),
  );
  if (most !== undefined) return problemsOf((await measured(all, most)).slice(0, plan.atMiddle * runs.length), most);
  const first = await measured(all, plan.small);
  const problems = await problemsOf(first.slice(0, 2 * runs.length), plan.small);
  if (problems.length > 0) return problems;
  const second = await measured(first.slice(0, plan.atMiddle * runs.length), plan.middle);
  const wrong = await problemsOf(second.slice(0, 2 * runs.length), plan.middle);
  // The gate leaves it at lengths at which a square shows.
  if (wrong.length > 0 || thoroughness < 1) return wrong;
  return inTurn(second.slice(0, plan.atLarge), async ({ run, family }) => [
    ...(await problemAt(run, family, plan.large, places)),
    ...(await growthProblem(run, family, plan.half, plan.large)),
  ]);
}

/** One after another: what ran at the same time would count twice. */
async function inTurn<Each, Found>(all: readonly Each[], find: (each: Each) => Promise<Found[]>): Promise<Found[]> {
  const found: Found[] = [];
  for (const each of all) found.push(...(await find(each)));
  return found;
}

function planFor(places: number): Plan {
  if (places >= placesOfCards) return ofCards;
  return places >= severalPlaces ? ofSeveralPlaces : usual;
}

async function problemAt(run: Run, family: Family, length: number, places: number): Promise<string[]> {
  const text = family.of(length);
  const limitMs = constantMs + (length / thorough.large) * msPerMegabyte * places;
  let ms = await leastCostMs(run, text, limitMs);
  // Processor time passes faster where other work shares the caches and the core: measured again, against a known cost.
  if (ms > limitMs) ms = Math.min(ms, await leastCostMs(run, text, limitMs)) / slowness();
  return ms <= limitMs ? [] : [`${family.name}: ${length / kB} kB take ${Math.round(ms)} ms of processor time`];
}

async function growthProblem(run: Run, family: Family, half: number, large: number): Promise<string[]> {
  const [before, after] = [family.of(half), family.of(large)];
  let four = await costMs(run, after);
  // What is short enough is noise, and needs no comparison.
  if (four < leastMs) return [];
  let one = await costMs(run, before);
  for (let count = 1; count < measures && four >= leastMs && four > one * squareGrowth; count++) {
    // A measure of the shorter text that is too low would be no noise: noise only adds.
    one = Math.max(one, await costMs(run, before));
    four = Math.min(four, await costMs(run, after));
  }
  if (four <= one * squareGrowth || four < leastMs * slowness()) return [];
  return [
    `${family.name}: from ${half / kB} kB to ${large / kB} kB, ${Math.round(one)} ms become ${Math.round(four)} ms`,
  ];
}

/** The least of several measures: whatever else the machine does can only add to one. Fewer, if one is low enough. */
async function leastCostMs(run: Run, text: string, enoughMs: number): Promise<number> {
  let least = Infinity;
  for (let count = 0; count < measures && least > enoughMs; count++) least = Math.min(least, await costMs(run, text));
  return least;
}

/** Of a run that goes on after it has returned, all that it takes until it ends. */
async function costMs(run: Run, text: string): Promise<number> {
  let given: unknown;
  const ms = processorMs(() => {
    try {
      given = run(text);
    } catch (error) {
      refuse(error);
    }
  });
  if (!(given instanceof Promise)) return ms;
  const before = process.threadCpuUsage();
  await given.catch(refuse);
  const { user, system } = process.threadCpuUsage(before);
  return ms + (user + system) / 1_000;
}

/** A refusal is an answer; a stack that overflows and a value that is not what the code takes it for are none. */
function refuse(error: unknown): void {
  if (error instanceof RangeError || error instanceof TypeError || error instanceof URIError) throw error;
}

/** Texts that cost a careless function more than their length: repeats of one unit, whole and within a frame. */

const separators = [
  ' ',
  '\t',
  ',',
  ';',
  '.',
  ':',
  '-',
  '_',
  '/',
  '|',
  '@',
  '=',
  '+',
  '*',
  '?',
  '&',
  '%',
  '#',
  '!',
  '~',
];
const lineEnds = ['\n', '\r\n', '\r', '\u2028', '\u0085'];
const blanks = ['\u00a0', '\u3000', '\u200b', '\ufeff', '\u0000'];
const digits = ['0', '1', '9', '0.', '1e', '1,', '12 ', '0-'];
const quotes = ['"', "'", '`', '\\', '\\"', '\\n', '\\u0061', '""', "' '", '“'];
const brackets = [
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  '<',
  '>',
  '[]',
  '{}',
  '()',
  '<>',
  '[[',
  '{"a":',
  '[1,',
  '$(',
  '${',
  '$${',
  '$((',
  '<(',
  '<!--',
];
const marks = ['\u0301', '\u0316\u0301', 'a\u0301', '\u0345', '\u05b0\u0327'];
const lookAlikes = ['а', 'ａ', 'ı', '–', '。', '∕', 'ﬃ', 'ﷺ', 'aа', 'س\u200cس', 'ක්\u200dක', '\u200d', 'Yı'];
const halves = ['\ud83d', '\udc00', '😀', '👩‍', '\u202e', '\ufe0f'];
const letters = ['a', 'A', 'ab ', 'A1', 'a.', 'a@', 'a:', 'a/', '../support/', 'é', 'ß', '漢', 'aB', 'a-'];
const beginnings = [
  '-----BEGIN ',
  'eyJaaaaaaaa.',
  'sk-',
  'password=',
  '"secret":"',
  '://a:',
  'Bearer ',
  'http://',
  'https://a@',
  'xn--.',
  '+49 1',
  'DE12 ',
  'a@a.',
  'phone:',
  'api key : ',
  'bash -c ',
  'eval ',
  '&&a',
  '$(a)',
  '<<a\n',
  'select ',
  'union ',
  '--',
  '/*',
  '; rm ',
  '> ',
  '\\u{0430}',
  '[REDACTED]',
  'group:',
  'a,b\n',
];

/** Programs that run others, with an option that nobody knows: the command may begin at any word after it. */
const commands = ['sudo -Z ', 'git --zz '];

interface Family {
  /** The unit, in quotes and without anything invisible. */
  name: string;
  /** A text of exactly so many UTF-16 units. */
  of: (length: number) => string;
}

const units = [
  separators,
  lineEnds,
  blanks,
  digits,
  quotes,
  brackets,
  marks,
  lookAlikes,
  halves,
  letters,
  beginnings,
].flat();

function family(unit: string, before: string, after: string): Family {
  const whole = [before, unit, after].filter((part) => part !== '').map((part) => JSON.stringify(part));
  return {
    name: whole.join(' … ').replace(/[^ -~]/gu, (each) => `\\u{${each.codePointAt(0)!.toString(16)}}`),
    of: (length) => {
      const room = Math.max(0, length - before.length - after.length);
      return before + unit.repeat(Math.ceil(room / unit.length)).slice(0, room) + after;
    },
  };
}

/** Every second unit also between other characters: what the text begins with opens a match, and what it ends with breaks it. */
const families: readonly Family[] = units
  .flatMap((unit, index) =>
    index % 2 === 0 ? [family(unit, '', '')] : [family(unit, '', ''), family(unit, 'a1', '1a!')],
  )
  .concat(commands.map((command) => family('a ', command, '')));

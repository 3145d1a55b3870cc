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
const letters = ['a', 'A', 'ab ', 'A1', 'a.', 'a@', 'a:', 'a/', '../', 'é', 'ß', '漢', 'aB', 'a-'];
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

export interface Family {
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
export const families: readonly Family[] = units
  .flatMap((unit, index) =>
    index % 2 === 0 ? [family(unit, '', '')] : [family(unit, '', ''), family(unit, 'a1', '1a!')],
  )
  .concat(commands.map((command) => family('a ', command, '')));

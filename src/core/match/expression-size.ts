/**
 * An upper bound for the size of a regular expression's program, which determines the cost of matching. Repetitions
 * count as if written out: `[a-f0-9]{64}` is 64 classes. Cheap for any text, because nothing is compiled.
 */
export function expressionSize(source: string): number {
  // After `\Q`, signs stand for themselves. The scan below does not know that, so this assumes the most.
  if (source.includes('\\Q')) return source.length * mostCopies;
  /** For each open group: its size so far, and the size of its last piece. */
  const groups = [{ size: 0, last: 0 }];
  for (let index = 0; index < source.length;) {
    const group = groups.at(-1)!;
    const [, from, upTo] = repetitionAt(source, index) ?? [];
    if (from !== undefined) {
      // RE2 writes out `{n,}` as n copies and a star, so one more copy than the larger bound is enough.
      const copies = Math.min(Math.max(Number(from), Number(upTo ?? 0), 1) + 1, mostCopies);
      group.size += group.last * (copies - 1);
      group.last *= copies;
      index = source.indexOf('}', index) + 1;
      continue;
    }
    const character = source[index]!;
    index += 1;
    if (character === '(') {
      groups.push({ size: 0, last: 0 });
    } else if (character === ')' && groups.length > 1) {
      // An empty group has an instruction that does nothing, and any group two for its beginning and end.
      const size = Math.max(groups.pop()!.size, 1) + 2;
      groups.at(-1)!.last = size;
      groups.at(-1)!.size += size;
    } else if (character === '*' || character === '+' || character === '?') {
      group.size += 1;
      group.last += 1;
    } else {
      if (character === '\\') index = escapeEnd(source, index);
      if (character === '[') index = classEnd(source, index);
      group.last = sizeOfOne;
      group.size += sizeOfOne;
    }
  }
  return groups.reduce((sum, { size }) => sum + size, sizeOfFrame);
}

/** The most copies of one piece: RE2 refuses more. */
const mostCopies = 1_000;
/** The size of every program besides its expression. RE2 adds instructions to fail, to begin and to end a match. */
const sizeOfFrame = 6;
/** The size of one character, which may match in two cases, or of a `|` with its branch. */
const sizeOfOne = 2;

function repetitionAt(source: string, index: number): RegExpExecArray | null {
  const repetition = /\{(\d{1,6})(?:,(\d{0,6}))?\}/y;
  repetition.lastIndex = index;
  return repetition.exec(source);
}

/** The index after `\pL`, `\p{Greek}`, `\x{41}` or one escaped character; `index` is after the backslash. */
function escapeEnd(source: string, index: number): number {
  if (!/[pPx]/.test(source[index] ?? '') || source[index + 1] !== '{') return index + 1;
  const end = source.indexOf('}', index);
  return end === -1 ? source.length : end + 1;
}

/** The index after the `]` that closes a character class; `index` is after its `[`. */
function classEnd(source: string, index: number): number {
  let at = index;
  if (source[at] === '^') at += 1;
  // In first position, a closing bracket is a member of the class.
  if (source[at] === ']') at += 1;
  while (at < source.length && source[at] !== ']') {
    if (source[at] === '\\') at += 1;
    else if (source.startsWith('[:', at)) at = Math.max(at, source.indexOf(':]', at) + 1);
    at += 1;
  }
  return at + 1;
}

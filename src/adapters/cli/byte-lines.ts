/** More than a call may be, many times over; a file without line breaks must not fill the memory. */
const longestLine = 16 * 1_048_576;
const lineFeed = 0x0a;

/** A line of text, without its line feed, or why it is none. */
export type Line = { text: string } | { problem: string };

/**
 * The lines of a stream of UTF-8, each as soon as it is there. A line ends at a line feed and nothing else: JSON may hold
 * U+2028 as it is, where Node's readline would cut. What follows the last line feed is a line if it holds anything.
 */
export async function* byteLines(stream: AsyncIterable<Buffer>, longest: number = longestLine): AsyncGenerator<Line> {
  let held: Buffer[] = [];
  let length = 0;
  const take = (piece: Buffer): void => {
    length += piece.length;
    if (length <= longest) held.push(piece);
    else held = [];
  };
  const finish = (): Line => {
    const line =
      length > longest ? { problem: `the line is longer than ${longest} bytes` } : decode(Buffer.concat(held));
    held = [];
    length = 0;
    return line;
  };
  for await (const chunk of stream) {
    let from = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, from)) {
      take(chunk.subarray(from, end));
      yield finish();
      from = end + 1;
    }
    if (from < chunk.length) take(chunk.subarray(from));
  }
  if (length > 0) yield finish();
}

function decode(bytes: Buffer): Line {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { problem: 'the line is not UTF-8' };
  }
}

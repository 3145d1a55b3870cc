import { expect, test } from 'vitest';
import { TokenCursor } from '../../src/events/token-tail.ts';

/** What one viewer gets of the tails that it sees. */

type Tail = [turn: number, attempt: number, offset: number, tail: string];
type Seen = [turn: number, offset: number, delta: string, hidden?: number] | undefined;

test.each<[name: string, steps: [Tail, Seen][]]>([
  [
    'only what is new',
    [
      [
        [1, 1, 0, 'ab'],
        [1, 0, 'ab'],
      ],
      [
        [1, 1, 0, 'abcd'],
        [1, 2, 'cd'],
      ],
      [[1, 1, 0, 'abcd'], undefined],
    ],
  ],
  [
    'a tail that has moved on',
    [
      [
        [1, 1, 0, 'ab'],
        [1, 0, 'ab'],
      ],
      [
        [1, 1, 1, 'bcd'],
        [1, 2, 'cd'],
      ],
    ],
  ],
  [
    'a late viewer',
    [
      [
        [1, 1, 7, 'ab'],
        [1, 7, 'ab', 7],
      ],
      [
        [1, 1, 7, 'abc'],
        [1, 9, 'c'],
      ],
    ],
  ],
  [
    'text that was missed',
    [
      [
        [1, 1, 0, 'ab'],
        [1, 0, 'ab'],
      ],
      [
        [1, 1, 5, 'fg'],
        [1, 5, 'fg', 3],
      ],
    ],
  ],
  [
    'a retry',
    [
      [
        [1, 1, 0, 'ab'],
        [1, 0, 'ab'],
      ],
      [
        [1, 2, 0, ''],
        [1, 0, ''],
      ],
      [
        [1, 2, 0, 'x'],
        [1, 0, 'x'],
      ],
    ],
  ],
  [
    'a retry before there was text',
    [
      [[1, 1, 0, ''], undefined],
      [[1, 2, 0, ''], undefined],
      [
        [1, 2, 0, 'x'],
        [1, 0, 'x'],
      ],
    ],
  ],
  [
    'an attempt that was replaced',
    [
      [
        [1, 2, 0, 'ab'],
        [1, 0, 'ab'],
      ],
      [[1, 1, 0, 'xyz'], undefined],
    ],
  ],
  [
    'the next turn',
    [
      [
        [1, 1, 0, 'ab'],
        [1, 0, 'ab'],
      ],
      [
        [2, 1, 0, 'c'],
        [2, 0, 'c'],
      ],
      [[1, 1, 0, 'abc'], undefined],
    ],
  ],
])('%s', (_name, steps) => {
  const cursor = new TokenCursor();
  for (const [[turn, attempt, offset, tail], seen] of steps) {
    const delta = cursor.next(turn, { attempt, offset, tail });
    expect(
      delta && [delta.turn, delta.offset, delta.delta, ...(delta.hidden === undefined ? [] : [delta.hidden])],
    ).toEqual(seen);
  }
});

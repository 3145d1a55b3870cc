/** What keys do in `countersign review`, without a terminal: each test plays events at given times. */
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { armingAgainMs } from '../../../../packages/cli/src/review/arming.ts';
import { armingMs } from '../../../../src/text/console-line.ts';
import type { KeyPress } from '../../../../packages/cli/src/review/key-press.ts';
import { frameOf } from '../../../../packages/cli/src/review/layout.ts';
import {
  type Effect,
  openReview,
  type ReviewEvent,
  type ReviewState,
} from '../../../../packages/cli/src/review/review-state.ts';
import { step } from '../../../../packages/cli/src/review/step.ts';
import type { ApprovalDetails } from '../../../../src/contract.ts';
import { listedRow } from '../support.ts';

const plain = (_format: string, text: string): string => text;
const startMs = Date.parse('2026-01-02T03:00:00Z');

const row = (id: string) => listedRow({ requestId: id.repeat(32), digest: id.repeat(64), argumentNames: ['to'] });
const details = (id: string, more: Partial<ApprovalDetails> = {}): ApprovalDetails => ({
  ...row(id),
  arguments: { to: id },
  assessment: {
    severity: 'medium',
    reasons: [],
    affectedResources: [],
    reversible: true,
    recommendations: [],
    requiresApproval: true,
  },
  contextSummary: '',
  lineage: [],
  metadata: {},
  reviewers: [],
  shown: 'all',
  always: { widest: 'tool' },
  ...more,
});

/** Plays events; draws after each, as the session does. */
class Player {
  state: ReviewState = openReview({
    size: { columns: 80, rows: 40 },
    nowMs: startMs,
    reviewer: 'rita',
    hasEditor: true,
  });
  effects: Effect[] = [];
  nowMs = startMs;

  play(event: ReviewEvent, afterMs = 0): this {
    this.nowMs += afterMs;
    const next = step(this.state, event, this.nowMs, plain);
    this.effects.push(...next.effects);
    this.state = step(next.state, { kind: 'drawn', view: next.state.view }, this.nowMs, plain).state;
    return this;
  }

  press(key: string, afterMs = 0): this {
    return this.play({ kind: 'press', press: pressOf(key) }, afterMs);
  }

  /** Lists these requests and reads the first. */
  open(...ids: string[]): this {
    this.play({ kind: 'listed', rows: ids.map(row), unread: 0 });
    return this.play({ kind: 'read', request: details(ids[0]!) });
  }

  get answers(): Effect[] {
    return this.effects.filter(({ kind }) => kind === 'decide');
  }

  get screen(): string {
    return frameOf(this.state, plain).join('\n');
  }
}

function pressOf(key: string): KeyPress {
  return ['enter', 'escape', 'interrupt', 'up', 'down'].includes(key)
    ? { key: key as 'enter' }
    : key.startsWith('paste ')
      ? { pasted: key.slice(6) }
      : { typed: key };
}

const sent: ReviewEvent = { kind: 'sent', notice: { text: 'done', tone: 'good' }, isDone: true };

describe('a fresh request', () => {
  test.each([
    ['at once', 0, 0],
    ['just before the delay is over', armingMs - 1, 0],
    ['after it', armingMs, 1],
  ])('takes an answer %s: %i ms, %i answers', (_when, afterMs, count) => {
    expect(new Player().open('a').press('a', afterMs).answers).toHaveLength(count);
  });

  test('takes none before it can be read', () => {
    const player = new Player().play({ kind: 'listed', rows: [row('a')], unread: 0 }).press('a', 5_000);
    player.play({ kind: 'read', request: details('a') }).press('a', armingMs - 1);
    expect(player.answers).toEqual([]);
  });

  test('takes none from a key that was pressed while the window was too small, and comes late', () => {
    const player = new Player().open('a').play({ kind: 'resized', size: { columns: 30, rows: 8 } }, armingMs);
    player.press('a', armingMs).play({ kind: 'resized', size: { columns: 80, rows: 30 } }, armingMs);
    expect(player.press('a', armingMs - 1).answers).toEqual([]);
    expect(player.press('a', armingMs).answers).toHaveLength(1);
  });

  test('takes none from the key that answered the last one, as long as it repeats', () => {
    const player = new Player().open('a', 'b').press('a', armingMs).play(sent);
    player.play({ kind: 'read', request: details('b') });
    for (let repeats = 0; repeats < 100; repeats += 1) player.press('a', 700);
    expect(player.answers).toHaveLength(1);
    expect(player.press('a', armingAgainMs).answers).toHaveLength(2);
  });

  test('takes another key earlier', () => {
    const player = new Player().open('a', 'b').press('a', armingMs).play(sent);
    player
      .play({ kind: 'read', request: details('b') })
      .press('d', armingMs)
      .press('enter');
    expect(player.answers).toMatchObject([{ answer: { approved: true } }, { answer: { approved: false } }]);
  });

  test('whatever keys come faster than the delay, in whatever pieces, none of them answers', () => {
    const keys = fc.constantFrom(
      'a',
      'A',
      'y',
      'aa',
      'ay',
      'e',
      'enter',
      'escape',
      'paste a',
      'x',
      'r',
      'c',
      'q',
      's',
      'v',
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(keys, fc.nat(armingMs - 1)), { maxLength: 30 }), (presses) => {
        const player = new Player().open('a', 'b');
        // Only navigation and help count at once, and neither restarts the delay: leave them out.
        for (const [key, afterMs] of presses) {
          player.press(key, player.state.quietFromMs === undefined ? 0 : afterMs);
          if (key === 'enter' || key === 'escape' || key.startsWith('paste')) player.press('a', 0);
        }
        expect(player.answers).toEqual([]);
      }),
    );
  });
});

test('an answer is sent once, and keys do nothing while it is on its way', () => {
  const player = new Player().open('a').press('a', armingMs).press('a', 10_000).press('d', 10_000);
  expect(player.answers).toHaveLength(1);
  expect(player.screen).toContain('Sending your answer');
});

test.each<[string, string[], object]>([
  ['approve', ['a'], { approved: true }],
  ['approve with a comment', ['c', 'only', ' once', 'enter', 'a'], { approved: true, reason: 'only once' }],
  ['always, with a comment', ['c', 'fine', 'enter', 'A', 'y'], { approved: true, always: {}, reason: 'fine' }],
  ['approve after a comment was dropped', ['c', 'no', 'escape', 'a'], { approved: true }],
  ['deny after a comment', ['c', 'fine', 'enter', 'd', 'no', 'enter'], { approved: false, reason: 'no' }],
  ['deny without a reason', ['d', 'enter'], { approved: false }],
  ['deny with a reason', ['d', 'no', ' way', 'enter'], { approved: false, reason: 'no way' }],
  ['respond, pasted', ['r', 'paste by\nhand', 'enter'], { approved: false, response: 'by hand' }],
  ['always, the exact arguments', ['A', 'y'], { approved: true, always: { kind: 'arguments', match: { to: 'a' } } }],
  ['always, only this call', ['A', 'up', ' ', 'y'], { approved: true, always: { kind: 'call' } }],
  ['always, for 15 minutes', ['A', 'down', 'down', 'down', ' ', 'y'], { approved: true, always: { expiresIn: '15m' } }],
])('%s', (_name, keys, answer) => {
  const player = new Player().open('a');
  for (const key of keys) player.press(key, armingAgainMs);
  expect(player.answers).toMatchObject([{ answer }]);
});

test('a confirmation has to be on the screen, too', () => {
  const player = new Player()
    .open('a')
    .press('A', armingMs)
    .press('y', armingMs - 1);
  expect(player.answers).toEqual([]);
  expect(player.press('y', armingMs).answers).toHaveLength(1);
});

test.each([
  ['A', 'enter'],
  ['A', 'escape'],
  ['d', 'escape'],
  ['c', 'enter'],
  ['c', 'a'],
  ['?', 'a'],
  ['enter', 'enter'],
  ['aa', 'aa'],
  ['paste a', 'paste y'],
])('%s, then %s answers nothing', (...keys) => {
  const player = new Player().open('a');
  for (const key of keys) player.press(key, armingAgainMs);
  expect(player.answers).toEqual([]);
});

describe('what cannot be approved', () => {
  test.each<[string, Partial<ApprovalDetails>, string, string]>([
    ['hidden arguments', { shown: 'part', argumentNames: ['to'], arguments: {} }, 'a', 'Not all arguments are shown'],
    ['a value that is cut', { arguments: { to: 'x'.repeat(5_000) } }, 'a', 'v shows everything'],
    ['a rule without always', { always: undefined }, 'A', 'admits no "always"'],
    ['a request without a deadline cannot be extended', {}, 'x', 'no deadline'],
  ])('%s', (_name, more, key, sentence) => {
    const player = new Player().play({ kind: 'listed', rows: [row('a')], unread: 0 });
    player.play({ kind: 'read', request: details('a', more) }).press(key, armingMs);
    expect(player.effects.map(({ kind }) => kind)).not.toContain('decide');
    expect(player.screen).toContain(sentence);
  });

  test('a call whose text changes has to be seen again', () => {
    const long = Array.from({ length: 20 }, (_, line) => `line ${line}`).join('\n');
    const player = new Player().open('a').play({ kind: 'resized', size: { columns: 80, rows: 14 } });
    player.play({ kind: 'read', request: details('a', { arguments: { to: long } }) }, 9_000).press('a', armingMs);
    expect(player.answers).toEqual([]);
    expect(player.screen).toMatch(/You have not seen \d+ of its lines/);
  });
});

describe('live', () => {
  test('arrivals are counted until the next card', () => {
    const player = new Player().open('a').play({ kind: 'listed', rows: ['a', 'b', 'c'].map(row), unread: 0 });
    expect(player.screen).toContain('2 new since you look at this one');
    expect(player.screen).toContain('2 more wait');
    expect(player.press('s', armingMs).screen).not.toContain('new since');
  });

  test('a long inbox is listed in part, and says so', () => {
    const player = new Player().play({ kind: 'listed', rows: ['a', 'b'].map(row), unread: 0, isCut: true });
    expect(player.screen).toContain('1+ more wait');
  });

  test('settled elsewhere: by whom, and the open question closes', () => {
    const player = new Player().open('a').press('d', armingMs);
    const settled = {
      outcome: 'approved',
      runs: true,
      reviewerId: 'bob\u001b[2J',
      identity: 'verified',
      settledAt: '',
    } as const;
    player.play({ kind: 'read', request: details('a', { settled }) });
    expect(player.screen).toContain('Settled elsewhere: approved by bob\\u{001B}[2J (verified)');
    expect(player.press('enter', 9_000).press('a', 9_000).answers).toEqual([]);
    expect(player.press('n', 9_000).screen).toContain('Nothing waits');
  });

  test('expired while shown, and extended after all', () => {
    const deadline = new Date(startMs + 3_000).toISOString();
    const player = new Player().play({ kind: 'listed', rows: [{ ...row('a'), deadline }], unread: 0 });
    player.play({ kind: 'read', request: details('a', { deadline }) }).press('d', 1_000);
    player.play({ kind: 'tick' }, 2_001);
    expect(player.screen).toContain('Expired: it can no longer be answered');
    expect(player.press('a', 9_000).answers).toEqual([]);
    const later = new Date(player.nowMs + 60_000).toISOString();
    player.play({ kind: 'read', request: details('a', { deadline: later }) });
    expect(player.press('a', armingMs - 1).answers).toEqual([]);
    expect(player.press('a', armingMs).answers).toHaveLength(1);
  });

  test('no key counts while the server is lost, nor just after it is back', () => {
    const player = new Player().open('a').play({ kind: 'failed', message: 'No server \u001b[2J.' }, armingMs);
    expect(player.press('a', 9_000).answers).toEqual([]);
    expect(player.screen).toContain('No key counts: No server \\u{001B}[2J.');
    player.play({ kind: 'listed', rows: [row('a')], unread: 0 });
    expect(player.press('a', armingMs - 1).answers).toEqual([]);
    expect(player.press('a', armingMs).answers).toHaveLength(1);
  });

  test('no worker: the row of the list, which can be approved only if it shows everything', () => {
    for (const [shown, count] of [
      ['all', 1],
      ['part', 0],
    ] as const) {
      const player = new Player().play({ kind: 'listed', rows: [{ ...row('a'), shown }], unread: 0 });
      player.play({ kind: 'unanswered', requestId: 'a'.repeat(32), message: 'No worker lives.' });
      expect(player.screen).toContain('No worker lives.');
      expect(player.press('a', armingMs).answers).toHaveLength(count);
    }
  });

  test('a refused answer leaves the card open, and its keys count again later', () => {
    const player = new Player().open('a').press('a', armingMs);
    player.play({ kind: 'sent', notice: { text: 'not entitled', tone: 'bad' }, isDone: false });
    expect(player.screen).toContain('not entitled');
    expect(player.effects.at(-1)).toMatchObject({ kind: 'read' });
    expect(player.press('a', armingAgainMs - 1).answers).toHaveLength(1);
  });

  test('Ctrl-C always quits', () => {
    const player = new Player().open('a').press('d', armingMs).press('interrupt');
    expect(player.effects.at(-1)).toEqual({ kind: 'quit', isInterrupted: true });
  });
});

test.each([
  [40, 12],
  [60, 20],
  [61, 13],
  [200, 60],
])('%i columns and %i rows: every frame has that size at most', (columns, rows) => {
  const player = new Player().open('a', 'b').play({ kind: 'resized', size: { columns, rows } });
  for (const key of ['?', 'escape', 'd', 'escape', 'A', 'escape', 'r', 'escape', 'v']) {
    player.press(key, armingAgainMs);
    const lines = player.screen.split('\n');
    expect(lines.length).toBeLessThanOrEqual(rows);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
  }
});

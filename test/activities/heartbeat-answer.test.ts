import { expect, test } from 'vitest';
import { Context } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import { type AnswerHeartbeats, heartbeatAnswer } from '../../src/activities/heartbeat-answer.ts';
import { readTokenTail, type TokenTail } from '../../src/events/token-tail.ts';
import { eventually } from '../support/eventually.ts';

/** The details of all heartbeats that `work` causes. */
async function beatsOf(
  work: (heartbeats: AnswerHeartbeats, beats: readonly unknown[]) => Promise<void> | void,
  info: { heartbeatTimeoutMs?: number; attempt?: number } = {},
): Promise<unknown[]> {
  const environment = new MockActivityEnvironment(info);
  const beats: unknown[] = [];
  environment.on('heartbeat', (details: unknown) => beats.push(details));
  await environment.run(async () => {
    const heartbeats = heartbeatAnswer(Context.current());
    await work(heartbeats, beats);
    heartbeats.stop();
  });
  return beats;
}

test('the first text is sent at once, the next after an interval, and equal details are not sent again', async () => {
  const beats = await beatsOf(async (heartbeats, sent) => {
    heartbeats.add('Hel');
    heartbeats.add('');
    heartbeats.add('lo');
    expect(sent).toHaveLength(2);
    await eventually('the rest', () => sent.length > 2);
    heartbeats.flush();
    heartbeats.flush();
  });
  expect(beats).toEqual([undefined, { attempt: 1, offset: 0, tail: 'Hel' }, { attempt: 1, offset: 0, tail: 'Hello' }]);
});

test('many pieces make few heartbeats, and flush sends the last one', async () => {
  const beats = await beatsOf(
    (heartbeats) => {
      for (let each = 0; each < 500; each++) heartbeats.add(`${each % 10}`);
      heartbeats.flush();
    },
    { attempt: 3 },
  );
  expect(beats).toEqual([
    undefined,
    { attempt: 3, offset: 0, tail: '0' },
    { attempt: 3, offset: 0, tail: '0123456789'.repeat(50) },
  ]);
});

test('heartbeats between the pieces keep the details', async () => {
  const beats = await beatsOf(
    async (heartbeats, sent) => {
      heartbeats.add('Hello');
      const before = sent.length;
      await eventually('plain heartbeats', () => sent.length >= before + 3);
    },
    { heartbeatTimeoutMs: 30 },
  );
  expect(beats.slice(0, 2)).toEqual([undefined, { attempt: 1, offset: 0, tail: 'Hello' }]);
  expect(new Set(beats.slice(1).map((each) => JSON.stringify(each))).size).toBe(1);
});

test('of a long answer the tail is sent, with what comes before it counted', async () => {
  const words = Array.from({ length: 5_000 }, (_, each) => `${each} é😀\n`);
  const beats = await beatsOf((heartbeats) => {
    for (const [index, word] of words.entries()) {
      // A pair comes in two pieces.
      heartbeats.add(word.slice(0, -2));
      if (index % 50 === 0) heartbeats.flush();
      heartbeats.add(word.slice(-2));
    }
    heartbeats.flush();
  });
  const tails = beats.slice(1).map((each) => readTokenTail(each) as TokenTail);
  const whole = words.join('');
  for (const { offset, tail } of tails) expect(whole.slice(offset, offset + tail.length)).toBe(tail);
  const { offset, tail } = tails.at(-1)!;
  expect(offset + tail.length).toBe(whole.length);
  expect(Buffer.byteLength(tail)).toBeGreaterThan(8_180);
  expect(tails.length).toBeGreaterThan(100);
});

import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import type { Message } from '../../../src/contract.ts';
import { inlineLimits } from '../../../src/core/base/size-limits.ts';
import type { RunState } from '../../../src/workflows/agent/run-state.ts';
import { UserSession } from '../../../src/workflows/agent/session.ts';
import { runs } from '../../support/thorough.ts';

const sessionWith = (messages: Message[], transcriptBytes?: number): UserSession => {
  const session = new UserSession({ session: true });
  const config = transcriptBytes === undefined ? {} : { sizeLimits: { ...inlineLimits, transcriptBytes } };
  session.begin({ messages, config } as unknown as RunState, () => undefined);
  return session;
};

test('a message is refused if the transcript with it, as JSON, would be too long', () => {
  const text = fc.string({ unit: 'binary', maxLength: 40 });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 4 }), fc.array(text, { maxLength: 3 }), text, (said, pending, content) => {
      const messages = said.map((each): Message => ({ role: 'user', content: each }));
      const bytes = Buffer.byteLength(JSON.stringify([...messages, ...pending, content]));
      for (const room of [bytes, bytes - 1]) {
        const session = sessionWith(messages, room);
        for (const each of pending) session.take({ content: each });
        expect(session.problem({ content }) === undefined).toBe(room === bytes);
      }
    }),
    { numRuns: runs(300) },
  );
});

test('a transcript is measured once, and a message no more often because others wait', () => {
  const session = sessionWith([{ role: 'user', content: 'x'.repeat(inlineLimits.transcriptBytes - 10_000) }]);
  const stringify = vi.spyOn(JSON, 'stringify');
  for (let count = 0; count < 50; count++) {
    expect(session.problem({ content: 'y'.repeat(20) })).toBeUndefined();
    session.take({ content: 'y'.repeat(20) });
  }
  for (let count = 0; count < 50; count++)
    expect(session.problem({ content: 'z'.repeat(10_000) })?.code).toBe('too_large');
  const measured = stringify.mock.calls.map(([value]) => (typeof value === 'string' ? value[0] : 'transcript'));
  expect(measured.filter((each) => each === 'transcript')).toHaveLength(1);
  // When it is checked, and when it is taken.
  expect(measured.filter((each) => each === 'y')).toHaveLength(100);
});

test('a stop is taken while something goes on, or would: also after a message that came after a stop', () => {
  const session = new UserSession({ session: true });
  const messages: Message[] = [{ role: 'user', content: 'hi' }];
  session.begin({ messages, config: {} } as unknown as RunState, () => undefined);
  const stop = { stop: true } as const;
  const nothing = { code: 'invalid_message', message: expect.stringContaining('nothing to stop') };
  expect(session.problem(stop)).toBeUndefined();
  expect(session.take(stop)).toBe('the user stopped this turn');
  expect([session.awaitsUser, session.problem(stop)]).toEqual([true, nothing]);
  session.take({ content: 'go on' });
  expect([session.awaitsUser, session.problem(stop)]).toEqual([false, undefined]);
  session.take({ ...stop, reason: 'wait' });
  expect([session.awaitsUser, session.problem(stop)]).toEqual([true, nothing]);
});

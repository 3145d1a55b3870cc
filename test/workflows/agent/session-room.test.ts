import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import type { Message } from '../../../src/contract.ts';
import { inlineLimits } from '../../../src/core/base/size-limits.ts';
import type { RunState } from '../../../src/workflows/agent/run-state.ts';
import { Session } from '../../../src/workflows/agent/session.ts';
import { runs } from '../../support/thorough.ts';

const sessionWith = (messages: Message[], transcriptBytes?: number): Session => {
  const session = new Session({ session: true });
  const config = transcriptBytes === undefined ? {} : { sizeLimits: { ...inlineLimits, transcriptBytes } };
  session.begin({ messages, config } as unknown as RunState);
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
        for (const each of pending) session.take(each);
        expect(session.problem(content) === undefined).toBe(room === bytes);
      }
    }),
    { numRuns: runs(300) },
  );
});

test('a transcript is measured once, however many messages come', () => {
  const session = sessionWith([{ role: 'user', content: 'x'.repeat(inlineLimits.transcriptBytes - 100) }]);
  session.take('y'.repeat(20));
  const stringify = vi.spyOn(JSON, 'stringify');
  for (let count = 0; count < 100; count++) expect(session.problem('z'.repeat(60))?.code).toBe('too_large');
  expect(stringify.mock.calls.filter(([value]) => value !== 'z'.repeat(60))).toHaveLength(2);
});

import { expect, test } from 'vitest';
import { askAgain } from '../../src/client/server/ask-again.ts';

const never = new Promise<string>(() => {});

/** Asks somebody who gives these answers in turn. */
async function asked(...answers: Promise<string>[]): Promise<{ answer: unknown; times: number }> {
  let times = 0;
  const answer: unknown = await askAgain(20, () => answers[times++]!).catch((error: unknown) => error);
  return { answer, times };
}

test('a query without an answer is asked once more', async () => {
  expect(await asked(never, Promise.resolve('open'))).toEqual({ answer: 'open', times: 2 });
});

test('the first answer still counts, if it comes later', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  let times = 0;
  const answer = await askAgain(20, () => {
    times += 1;
    if (times === 1) return promise;
    resolve('late');
    return never;
  });
  expect({ answer, times }).toEqual({ answer: 'late', times: 2 });
});

test('an answer and a refusal end it', async () => {
  const refusal = new Error('no such request');
  expect(await asked(Promise.resolve('open'))).toEqual({ answer: 'open', times: 1 });
  expect(await asked(Promise.reject(refusal))).toEqual({ answer: refusal, times: 1 });
});

import { expect, test } from 'vitest';
import { askAgain } from '../../src/client/server/ask-worker.ts';

const never = new Promise<string>(() => {});

/** Asks a run that gives these answers in turn. */
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

test('the first answer still counts, if the second question has failed before', async () => {
  const first = Promise.withResolvers<string>();
  const second = Promise.withResolvers<string>();
  let times = 0;
  const asking = askAgain(20, () => {
    times += 1;
    if (times === 1) return first.promise;
    second.reject(new Error('no such query'));
    return second.promise;
  });
  await second.promise.catch(() => undefined);
  first.resolve('late');
  expect(await asking).toBe('late');
});

test('two failures are reported as the one that came first', async () => {
  const first = Promise.withResolvers<string>();
  const refusal = new Error('no such query');
  const silence = new Error('no answer in time');
  let times = 0;
  const asking = askAgain(20, () => {
    times += 1;
    if (times === 1) return first.promise;
    const second = Promise.reject<string>(refusal);
    void second.catch(() => first.reject(silence));
    return second;
  });
  await expect(asking).rejects.toBe(refusal);
});

test('an answer and a refusal end it', async () => {
  const refusal = new Error('no such request');
  expect(await asked(Promise.resolve('open'))).toEqual({ answer: 'open', times: 1 });
  expect(await asked(Promise.reject(refusal))).toEqual({ answer: refusal, times: 1 });
});

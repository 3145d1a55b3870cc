import { expect, test } from 'vitest';
import { SurveyQueue } from '../../../packages/gateway/src/http/inbox/survey-queue.ts';

/** A queue with a clock of its own, and computations that end when the test says so. */
function queueInTest() {
  const clock = { now: 0 };
  const queue = new SurveyQueue<string>({ keepMs: 100, mostWaiting: 2, now: () => clock.now });
  const started: { key: string; end: (answer: string) => void; fail: (error: Error) => void }[] = [];
  const ask = (key: string): Promise<string> =>
    queue.ask(key, () => {
      const { promise, resolve: end, reject: fail } = Promise.withResolvers<string>();
      started.push({ key, end, fail });
      return promise;
    });
  const settle = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { clock, ask, started, settle };
}

test('one computation runs at a time, and the same one only once', async () => {
  const { ask, started, settle } = queueInTest();
  const answers = [ask('a'), ask('a'), ask('b')];
  await settle();
  expect(started.map(({ key }) => key)).toEqual(['a']);
  started[0]!.end('A');
  await settle();
  expect(started.map(({ key }) => key)).toEqual(['a', 'b']);
  started[1]!.end('B');
  expect(await Promise.all(answers)).toEqual(['A', 'A', 'B']);
});

test('an answer is kept for a while', async () => {
  const { ask, started, settle, clock } = queueInTest();
  const first = ask('a');
  await settle();
  started[0]!.end('A');
  expect([await first, await ask('a')]).toEqual(['A', 'A']);
  clock.now = 100;
  void ask('a');
  await settle();
  expect(started).toHaveLength(2);
});

test('who comes when too many wait is refused, and may come again', async () => {
  const { ask, started, settle } = queueInTest();
  const waiting = ['a', 'b', 'c'].map(ask);
  await expect(ask('d')).rejects.toMatchObject({ code: 'rate_limited' });
  // The one that runs serves anybody.
  const same = ask('a');
  for (const index of [0, 1, 2]) {
    await settle();
    started[index]!.end('done');
  }
  expect(await Promise.all([...waiting, same])).toEqual(Array.from({ length: 4 }, () => 'done'));
  void ask('d');
  await settle();
  expect(started.at(-1)!.key).toBe('d');
});

test('a failure is not kept, and the next one runs', async () => {
  const { ask, started, settle } = queueInTest();
  const failing = ask('a');
  const next = ask('b');
  await settle();
  started[0]!.fail(new Error('the server is away'));
  await expect(failing).rejects.toThrow('the server is away');
  await settle();
  started[1]!.end('B');
  expect(await next).toBe('B');
  void ask('a');
  await settle();
  expect(started).toHaveLength(3);
});

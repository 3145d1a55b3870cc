import { expect, test } from 'vitest';
import { eventually, waitingUntil } from './eventually.ts';
import { inTime } from './in-time.ts';

const never = (): boolean => false;

test('a wait whose moment has passed ends, and what was too late is played again with four times the time', async () => {
  const given: number[] = [];
  const ended: string[] = [];
  const { played, seconds } = await inTime(0.1, async (each) => {
    given.push(each);
    if (given.length === 1)
      await eventually('what never comes', never).catch((error: Error) => ended.push(error.message));
    return 'done';
  });
  expect(ended).toEqual([expect.stringMatching(/^not within \d{1,3} ms: what never comes$/)]);
  expect(played).toBe('done');
  expect(given.slice(0, 2)).toEqual([0.1, 0.4]);
  expect(seconds).toBe(given.at(-1));
});

test('what is wrong in time is thrown at once', async () => {
  let plays = 0;
  const wrong = inTime(60, async () => {
    plays += 1;
    throw new Error('wrong');
  });
  await expect(wrong).rejects.toThrow('wrong');
  expect(plays).toBe(1);
});

test('what is too late each time fails, with the reason of the last time', async () => {
  const late = inTime(0.01, () => eventually('what never comes', never));
  await expect(late).rejects.toThrow(/too late each time: .* what never comes/);
});

test('a wait that fails says the last state', async () => {
  let state = 0;
  const wait = waitingUntil(Date.now(), () =>
    eventually(
      () => `state 0, not ${state}`,
      () => {
        state += 1;
        return false;
      },
    ),
  );
  await expect(wait).rejects.toThrow(/state 0, not [1-9]/);
});

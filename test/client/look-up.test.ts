import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { lookUp } from '../../src/client/server/look-up.ts';

/** Counts its calls; the call `nth` finds something, and the first one takes longer than a look-up. */
function slowProbe(nth: number): { probe: () => Promise<string | undefined>; calls: () => number } {
  let calls = 0;
  const probe = async () => {
    calls++;
    if (calls === 1) await sleep(60);
    return calls === nth ? 'found' : undefined;
  };
  return { probe, calls: () => calls };
}

test('one slow answer does not end a look-up', async () => {
  const last = slowProbe(4);
  const never = slowProbe(5);
  const answers = await Promise.all([lookUp(last.probe, 50), lookUp(never.probe, 50)]);
  expect(answers).toEqual(['found', undefined]);
  expect([last.calls(), never.calls()]).toEqual([4, 4]);
});

import { createContext, runInContext } from 'node:vm';
import { expect, test } from 'vitest';
import './limit-processor-time.ts';
import { slowness } from './processor-time.ts';

const timeout = 50;
const call = (code: string, globals: object): unknown => runInContext(code, createContext(globals), { timeout });

test('a call that takes more processor time than its limit fails as in the SDK', () => {
  const usedMs = (): number => process.threadCpuUsage().user / 1_000;
  const busyMs = 4 * timeout * slowness();
  const busy = 'for (const from = usedMs(); usedMs() < from + busyMs; );';
  expect(() => call(busy, { usedMs, busyMs })).toThrow(
    expect.objectContaining({ code: 'ERR_SCRIPT_EXECUTION_TIMEOUT', message: 'Script execution timed out after 50ms' }),
  );
});

test('a call that waits as long does not', () => {
  const wait = (): string => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * timeout);
  expect(call('wait()', { wait })).toBe('timed-out');
});

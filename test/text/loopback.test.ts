import { expect, test } from 'vitest';
import { isLoopbackAddress, isLoopbackHost } from '../../src/text/loopback.ts';

test.each(['127.0.0.1', '127.255.255.255', '::1', '[::1]'])('%s is an address of this machine', (host) => {
  expect([isLoopbackAddress(host), isLoopbackHost(host)]).toEqual([true, true]);
});

test.each(['localhost', 'LOCALHOST'])('%s is a name of this machine, but no address', (host) => {
  expect([isLoopbackAddress(host), isLoopbackHost(host)]).toEqual([false, true]);
});

test.each([
  '',
  '127',
  '127.1',
  '127.0.0.256',
  '127.0.0.1.5',
  '127.0.0.1.example.com',
  '127.0.0.1\n',
  '1127.0.0.1',
  '::127.0.0.1',
  'a.localhost',
  'localhost.example.com',
  '[127.0.0.1',
])('%j may be another machine', (host) => {
  expect(isLoopbackHost(host)).toBe(false);
});

import { expect, test } from 'vitest';
import { loadFault } from '../../../packages/cli/src/dev/worker-message.ts';
import { growth, squareGrowth } from '../../support/processor-time.ts';

function fault(...frames: string[]): string {
  const cause = new Error('no such module');
  cause.stack = ['Error: no such module', ...frames.map((frame) => `    at ${frame}`)].join('\n');
  return loadFault(new Error('agent.ts cannot be loaded: no such module', { cause }));
}

test.each([
  ['a frame of a function', 'read (file:///elsewhere/tools.ts:12:3)', /tools\.ts:12\)$/],
  ['a frame of a module', 'file:///elsewhere/tools.ts:12:3', /tools\.ts:12\)$/],
  ['an asynchronous frame', 'async file:///elsewhere/tools.ts:12:3', /tools\.ts:12\)$/],
  ['none of Node', 'finalizeResolution (node:internal/modules/esm/resolve:272:11)', /loaded: no such module$/],
])('the place of a fault: %s', (_, frame, sentence) => {
  expect(fault(frame)).toMatch(sentence);
});

test('a path with a percent sign, which is no address', () => {
  expect(fault('/elsewhere/100%/tools.ts:12:3')).toMatch(/100%\/tools\.ts:12\)$/);
});

test('a stack of line separators takes as much longer as it is longer', () => {
  expect(growth((size) => () => fault('\u2028'.repeat(size)), 500)).toBeLessThan(squareGrowth);
});

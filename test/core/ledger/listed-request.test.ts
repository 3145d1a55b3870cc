import { expect, test } from 'vitest';
import { argumentBytes, listed } from '../../../src/core/ledger/hidden-arguments.ts';
import { requestRecord } from '../../support/record-request.ts';

const requestWith = (body: string) => requestRecord(1, null, { arguments: { to: 'ann', body } }).request;
const edge = 32_000 - JSON.stringify({ to: 'ann', body: '' }).length;

test.each(['', 'x'.repeat(edge), 'é'.repeat(edge / 2)])('a list shows arguments of up to 32,000 bytes', (body) => {
  const request = requestWith(body);
  expect(listed(request)).toBe(request);
});

test.each(['x'.repeat(edge + 1), 'é'.repeat(edge / 2 + 1)])('beyond that, their names, size and digest', (body) => {
  const request = requestWith(body);
  expect(listed(request)).toEqual({
    ...request,
    arguments: {},
    argumentNames: ['to', 'body'],
    argumentBytes: Buffer.byteLength(JSON.stringify(request.arguments)),
    shown: 'part',
  });
});

test('the size of the same arguments is measured once', () => {
  let read = 0;
  const args = {
    get body() {
      read += 1;
      return 'x';
    },
  };
  expect([argumentBytes(args), argumentBytes(args)]).toEqual([12, 12]);
  expect(read).toBe(1);
});

import { expect, test } from 'vitest';
import { payloadNotKeptType, resultWithheldType, toolFailedType } from '../../src/core/base/tool-call.ts';
import { toolEnd } from '../../src/events/run-facts.ts';
import { sentences } from '../../src/core/ledger/sentences.ts';

test.each<[string, Parameters<typeof toolEnd>[0], ReturnType<typeof toolEnd>]>([
  ['a result', { result: 'paid' }, { content: 'paid', isError: false, ran: 'yes' }],
  [
    'a result that could not be kept is no error',
    { failure: { kind: 'application', type: payloadNotKeptType, message: 'no space' } },
    {
      content: 'the tool ran; its result cannot be given (no space); do not repeat it',
      isError: false,
      ran: 'yes',
    },
  ],
  [
    'a result that the check withholds is no error',
    { failure: { kind: 'application', type: resultWithheldType, message: 'it holds a key' } },
    {
      content: 'the tool ran; what it gave is withheld (it holds a key); do not repeat it',
      isError: false,
      ran: 'yes',
      withheld: true,
    },
  ],
  [
    'a failure of the tool',
    { failure: { kind: 'application', type: toolFailedType, message: 'no money' } },
    { content: 'Error: no money', isError: true, ran: 'yes' },
  ],
  [
    'a call that was cut off',
    { failure: { kind: 'other', message: '' } },
    { content: sentences.unknownOutcome, isError: true, ran: 'unknown' },
  ],
])('%s', (_, end, expected) => expect(toolEnd(end)).toEqual(expected));

import { describe, expect, test } from 'vitest';
import {
  instantMs,
  readClose,
  readDelegate,
  readExtend,
  readRevoke,
  readSetPolicy,
  readUserMessage,
} from '../../../src/core/messages/control.ts';

const requestId = '0123456789abcdef'.repeat(2);
const until = '2030-01-31T12:00:00Z';
const signature = { keyId: 'k', signedAt: until, value: 'v' };
const sender = { by: 'ann', reason: 'why', messageId: 'm-1', signature };
const readers = { readExtend, readDelegate, readRevoke, readSetPolicy, readUserMessage, readClose };

describe('valid messages are returned unchanged', () => {
  test.each<[keyof typeof readers, object]>([
    ['readExtend', { requestId, until }],
    ['readExtend', { requestId, until, ...sender }],
    ['readExtend', { requestId, until: '2030-01-31T12:00:00+00:00' }],
    ['readDelegate', { requestId, to: 'carl', ...sender }],
    ['readRevoke', { grants: 'all', ...sender }],
    ['readRevoke', { grants: ['grant-1', 'grant-2'] }],
    ['readSetPolicy', { mode: 'plan', ...sender }],
    ['readSetPolicy', { policy: { version: 1, rules: [] } }],
    ['readUserMessage', { content: 'And order 8?' }],
    ['readUserMessage', { retry: true, by: 'ann' }],
    ['readUserMessage', { stop: true, reason: 'enough' }],
    ['readUserMessage', { content: 'x'.repeat(100_000), by: 'ann', reason: 'why', messageId: 'm-1' }],
    ['readClose', { by: 'ann', reason: 'why', messageId: 'm-1' }],
    ['readClose', {}],
  ])('%s %j', (reader, message) => expect(readers[reader](message)).toEqual({ message }));

  test('an empty close', () => {
    expect([readClose(undefined), readClose(null)]).toEqual([{ message: {} }, { message: {} }]);
  });
  test('fields without a value do not count', () => {
    expect(readRevoke({ grants: 'all', by: undefined, channels: undefined })).toEqual({ message: { grants: 'all' } });
  });
});

describe('invalid ones are refused in one sentence', () => {
  const noInstant = "'until' must be an instant with its offset, such as 2030-01-31T12:00:00Z";
  const noGrants = `'grants' must be "all" or a list of 1 to 100 grant ids`;
  test.each<[keyof typeof readers, unknown, string, string?]>([
    ['readExtend', undefined, 'an extension is an object, not nothing'],
    ['readExtend', [requestId], 'an extension is an object, not a list'],
    ['readExtend', { until }, "'requestId' must be the 32 hex characters of the request"],
    ['readExtend', { requestId }, noInstant],
    ['readExtend', { requestId, until: 5 }, noInstant],
    ['readExtend', { requestId, until: '2030-01-31' }, noInstant],
    ['readExtend', { requestId, until: '2030-13-31T12:00:00Z' }, noInstant],
    ['readExtend', { requestId, until: '2030-01-31T12:00:00' }, noInstant],
    ['readExtend', { requestId, until, to: 'ann' }, "unknown field 'to'"],
    ['readExtend', { requestId, until, by: 7 }, "'by' must be text, not a number"],
    ['readExtend', { requestId, until, messageId: {} }, "'messageId' must be text, not an object"],
    [
      'readExtend',
      { requestId, until, messageId: 'm'.repeat(201) },
      "'messageId' is longer than 200 characters",
      'too_large',
    ],
    [
      'readExtend',
      { requestId, until, messageId: 'signature:v' },
      "'messageId' must not begin with 'signature:': ids that do are made of signatures",
    ],
    ['readExtend', { requestId, until, signature: 'x' }, "'signature' must be { keyId, signedAt, value }, all texts"],
    ['readDelegate', { requestId }, "'to' must be the name of one person"],
    ['readDelegate', { requestId, to: ' ' }, "'to' must be the name of one person"],
    ['readDelegate', { requestId, to: 'group:cfo' }, "'to' must be the name of one person"],
    ['readDelegate', { requestId, to: 'c'.repeat(201) }, "'to' is longer than 200 characters", 'too_large'],
    ['readRevoke', {}, noGrants],
    ['readRevoke', { grants: [] }, noGrants],
    ['readRevoke', { grants: [7] }, noGrants],
    ['readRevoke', { grants: Array.from({ length: 101 }, String) }, noGrants],
    ['readSetPolicy', {}, "a change of policy needs 'policy', 'mode' or 'channels'", 'policy_invalid'],
    ['readSetPolicy', { mode: 'lax' }, expect.stringMatching(/^'mode' must be one of default, /), 'policy_invalid'],
    ['readSetPolicy', { policy: 'x' }, "'policy' must be an object, not a string", 'policy_invalid'],
    ...[{}, [''], [7], Array.from({ length: 21 }, String), ['x'.repeat(65)]].map(
      (channels): [keyof typeof readers, unknown, string, string] => [
        'readSetPolicy',
        { channels },
        "'channels' must be a list of at most 20 names of channels",
        'policy_invalid',
      ],
    ),
    ['readUserMessage', undefined, 'a message of the user is an object, not nothing'],
    ['readUserMessage', 'hi', 'a message of the user is an object, not a string'],
    ['readUserMessage', [{ content: 'hi' }], 'a message of the user is an object, not a list'],
    ['readUserMessage', {}, "'content' must be text, not nothing"],
    ['readUserMessage', { stop: 'yes' }, "'stop' must be true, not a string"],
    ['readUserMessage', { retry: true, stop: true }, "give one of 'content', 'retry' and 'stop'"],
    ['readUserMessage', { retry: 1 }, "'retry' must be true, not a number"],
    ['readUserMessage', { retry: true, content: 'hi' }, "give one of 'content', 'retry' and 'stop'"],
    ['readUserMessage', { content: ['hi'] }, "'content' must be text, not a list"],
    ['readUserMessage', { content: ' \n' }, "'content' is empty"],
    ['readUserMessage', { content: 'hi', role: 'system' }, "unknown field 'role'"],
    ['readUserMessage', { content: 'hi', by: 7 }, "'by' must be text, not a number"],
    [
      'readUserMessage',
      { content: 'hi', signature },
      "a message of the user has no 'signature': nothing depends on who wrote it",
    ],
    ['readUserMessage', { content: 'x'.repeat(100_001) }, "'content' is longer than 100000 characters", 'too_large'],
    ['readClose', 'now', 'a close is an object, not a string'],
    ['readClose', { grants: 'all' }, "unknown field 'grants'"],
  ])('%s %j', (reader, value, message, code = 'invalid_message') => {
    expect(readers[reader](value)).toEqual({ problem: { code, message } });
  });
});

test.each([
  ['2030-01-31T12:00Z', Date.UTC(2030, 0, 31, 12)],
  ['2030-01-31T12:00:05.5Z', Date.UTC(2030, 0, 31, 12, 0, 5, 500)],
  ['2030-01-31T12:00:00+00:00', Date.UTC(2030, 0, 31, 12)],
  ['2030-01-31T12:00:00+01:00', Date.UTC(2030, 0, 31, 11)],
  ['2030-01-31T12:00:00-05:30', Date.UTC(2030, 0, 31, 17, 30)],
  ['2030-01-31T12:00:05.123456+00:00', Date.UTC(2030, 0, 31, 12, 0, 5, 123)],
  ['2030-01-31T12:00:05.123999999Z', Date.UTC(2030, 0, 31, 12, 0, 5, 123)],
  ['2030-01-31T12:00:05.1234567890Z', undefined],
  ['2030-01-31T12:00:00', undefined],
  ['2030-01-31T12:00:00+0000', undefined],
  ['2030-01-31T12:00:00+24:00', undefined],
  ['2030-01-31T12:00:00+00:60', undefined],
  ['now', undefined],
  [5, undefined],
])('instantMs of %j', (value, expected) => expect(instantMs(value)).toBe(expected));

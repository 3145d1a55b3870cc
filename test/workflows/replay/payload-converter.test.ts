import { describe, expect, test } from 'vitest';
import type { Payload } from '@temporalio/common';
import proto, { type temporal } from '@temporalio/proto';
import { isUndecodable } from '../../../src/core/base/undecodable.ts';
import { payloadConverter } from '../../../src/workflows/sandbox/payload-converter.ts';
import { isStrict, markStrict } from '../../../src/workflows/sandbox/strict-payloads.ts';

/**
 * The payload converter reads these payloads, or brands them instead of throwing (I5a). This is part of determinism:
 * changing a line here changes how old histories are read.
 */

const bytes = (text: string | Uint8Array): Uint8Array => (typeof text === 'string' ? Buffer.from(text) : text);
const payload = (encoding: string, data: string | Uint8Array): Payload => ({
  metadata: { encoding: bytes(encoding) },
  data: bytes(data),
});
const json = (data: string | Uint8Array): Payload => payload('json/plain', data);
/** A payload as it arrives in a message to a run. */
function asMessage(each: Payload): Payload {
  const signalWorkflow = { signalName: 'decide', input: [each] };
  markStrict([{ signalWorkflow }]);
  return signalWorkflow.input[0]!;
}

type Branded = { size: number; code: string; why: string };
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

describe('read alike by all parsers', () => {
  test.each<[string, Payload, unknown]>([
    ['JSON', json('{"a":[1,"x",null]}'), { a: [1, 'x', null] }],
    ['text', json('"\\ud83d\\ude00"'), '\u{1f600}'],
    ['nothing', payload('binary/null', ''), undefined],
    ['bytes', payload('binary/plain', 'raw'), new Uint8Array(Buffer.from('raw'))],
  ])('%s', (_name, each, value) => {
    expect(payloadConverter.fromPayload(each)).toEqual(value);
    expect(payloadConverter.fromPayload(asMessage(each))).toEqual(value);
  });

  test('a key with an escape, whatever this process has read before', () => {
    JSON.parse(JSON.stringify({ to: 'bob', 'amoun\\': 1 }));
    const value = { to: 'bob', amount: 2 };
    expect(payloadConverter.fromPayload(json('{"to":"bob","amoun\\u0074":2}'))).toEqual(value);
  });

  test.each<[string, Payload]>([
    ['bytes that are not JSON', json('{bad')],
    ['no data', { metadata: { encoding: bytes('json/plain') } }],
    ['no metadata', { data: bytes('1') }],
    ['an unknown encoding', payload('weird/encoding', '1')],
    ['protobuf of an unknown type', payload('json/protobuf', '{}')],
    ['201 levels', json(nested(201))],
  ])('branded: %s', (_name, each) => {
    for (const one of [each, asMessage(each)]) {
      const value = payloadConverter.fromPayload(one);
      expect(isUndecodable(value)).toBe(true);
      expect(value).toMatchObject({ code: 'undecodable', size: each.data?.length ?? 0, unread: false });
    }
  });
});

describe('read as JSON.parse does, but branded in a message', () => {
  test.each<[string, string | Uint8Array, unknown, Omit<Branded, 'size'>]>([
    ['a key twice', '{"a":1,"a":2}', { a: 2 }, { code: 'undecodable', why: 'message.a: expected each key once' }],
    [
      'an integer that no double holds',
      '[9007199254740993]',
      [9_007_199_254_740_992],
      { code: 'undecodable', why: 'message[0]: expected a number that a double holds exactly; send it as text' },
    ],
    [
      'a number past all doubles',
      '1e400',
      Infinity,
      { code: 'undecodable', why: 'message: expected a number that a double holds' },
    ],
    [
      'half a surrogate pair',
      '"\\ud83d"',
      '\ud83d',
      { code: 'undecodable', why: 'message: expected text without half a surrogate pair' },
    ],
    ['bytes that are not UTF-8', Uint8Array.of(0x22, 0xff, 0x22), '\ufffd', { code: 'undecodable', why: 'not UTF-8' }],
    [
      'in edited arguments',
      '{"modifiedArguments":{"n":9007199254740993}}',
      { modifiedArguments: { n: 9_007_199_254_740_992 } },
      {
        code: 'arguments_invalid',
        why: 'message.modifiedArguments.n: expected a number that a double holds exactly; send it as text',
      },
    ],
    [
      'in edited arguments, in a list',
      '[{"modifiedArguments":{"n":1,"n":2}}]',
      [{ modifiedArguments: { n: 2 } }],
      { code: 'arguments_invalid', why: 'message[0].modifiedArguments.n: expected each key once' },
    ],
  ])('%s', (_name, data, value, brand) => {
    expect(payloadConverter.fromPayload(json(data))).toEqual(value);
    const read = payloadConverter.fromPayload(asMessage(json(data)));
    expect(isUndecodable(read)).toBe(true);
    expect(read).toMatchObject({ ...brand, size: bytes(data).length });
  });
});

describe('strict for everything that anybody can send to a run', () => {
  const start = { workflowType: 'agentRun', arguments: [json('1')] };
  const by = proto.temporal.api.enums.v1.ContinueAsNewInitiator;
  const continued = (continuedInitiator: temporal.api.enums.v1.ContinueAsNewInitiator) => ({
    ...start,
    continuedFromExecutionRunId: 'earlier',
    continuedInitiator,
  });
  const messages = ['decide', 'setPolicy', 'revoke', 'extend', 'delegate', 'close'];
  type Job = Parameters<typeof markStrict>[0][number];

  test.each<[string, Job, boolean]>([
    ...messages.map((name): [string, Job, boolean] => [
      `signal ${name}`,
      { signalWorkflow: { signalName: name, input: [json('1')] } },
      true,
    ]),
    ...messages.map((name): [string, Job, boolean] => [
      `update ${name}`,
      { doUpdate: { name, input: [json('1')] } },
      true,
    ]),
    ['query approvals', { queryWorkflow: { queryType: 'approvals', arguments: [json('1')] } }, true],
    ['query receipt', { queryWorkflow: { queryType: 'receipt', arguments: [json('1')] } }, true],
    ['a start', { initializeWorkflow: start }, true],
    ['a retry', { initializeWorkflow: continued(by.CONTINUE_AS_NEW_INITIATOR_RETRY) }, true],
    ['a cron run', { initializeWorkflow: continued(by.CONTINUE_AS_NEW_INITIATOR_CRON_SCHEDULE) }, true],
    ['continue-as-new', { initializeWorkflow: continued(by.CONTINUE_AS_NEW_INITIATOR_WORKFLOW) }, false],
    ['a start by a run above', { initializeWorkflow: { ...start, parentWorkflowInfo: { workflowId: 'p' } } }, false],
    ['a start of another workflow', { initializeWorkflow: { ...start, workflowType: 'orders' } }, false],
    ['another signal', { signalWorkflow: { signalName: 'order', input: [json('1')] } }, false],
    ['another update', { doUpdate: { name: 'order', input: [json('1')] } }, false],
    ['what an activity answers', { resolveActivity: { result: { completed: { result: json('1') } } } }, false],
  ])('%s', (_name, job, strict) => {
    markStrict([job]);
    const [payloads] = [
      job.signalWorkflow?.input,
      job.doUpdate?.input,
      job.queryWorkflow?.arguments,
      job.initializeWorkflow?.arguments,
      [job.resolveActivity?.result?.completed?.result ?? {}],
    ].filter((each) => each != null);
    expect(payloads!.map(isStrict)).toEqual([strict]);
  });
});

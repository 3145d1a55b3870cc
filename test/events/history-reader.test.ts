import { defaultPayloadConverter } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';
import { describe, expect, test } from 'vitest';
import { auditedRun } from '../../src/client/audit/audited-run.ts';
import { permitMetadata } from '../../src/core/base/permit-metadata.ts';
import { unreadPayload } from '../../src/connection/server-error.ts';
import type { Fact } from '../../src/events/history-event.ts';
import { RunProjection } from '../../src/events/run-projection.ts';
import { readExecutions } from '../support/read-histories.ts';
import { type StoredRun, storedRuns } from './stored-runs.ts';

type Payload = temporal.api.common.v1.IPayload;

const runs = storedRuns();

function payloadsIn(value: unknown): Payload[] {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return [];
  if ('metadata' in value && 'data' in value) return [value as Payload];
  return Object.values(value).flatMap(payloadsIn);
}

/** Everything that is read of a run: an audit with its evidence and its journal, and its events. */
function readAll({ workflowId, executions }: StoredRun): void {
  const read = readExecutions(executions);
  auditedRun('default', workflowId, { executions: read, unread: 0 });
  const projection = new RunProjection(workflowId);
  for (const { runId, events } of read) for (const event of events) projection.add(runId, event);
}

describe('no reader of history throws for a payload that', () => {
  const encrypted = unreadPayload('encoded');
  test.each<[what: string, instead: Payload]>([
    ['cannot be decoded here', encrypted],
    ['is no JSON', { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{') }],
    ['is null', { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('null') }],
  ])('%s', (_, instead) => {
    for (const run of runs) {
      // Every fifth of them: all take too long for what they add.
      for (const payload of payloadsIn(run.executions).filter((_each, index) => index % 5 === 0)) {
        const { metadata, data } = payload;
        Object.assign(payload, instead);
        expect(() => readAll(run)).not.toThrow();
        Object.assign(payload, { metadata, data });
      }
    }
  });
});

const facts = runs.flatMap(({ executions }) => readExecutions(executions).flatMap(({ events }) => events));

test.each([
  ['an agent run', 'agentRun', null],
  ['a workflow of its own', 'settleOrder', undefined],
])('of %s that continues, nothing is taken up that its predecessor did not write', (_, name, unknown) => {
  const carriedBy = (writer: object): unknown => {
    const past = { writer, gate: {}, config: {}, state: { config: {} } };
    const started = {
      workflowType: { name },
      continuedExecutionRunId: 'before',
      input: { payloads: [{ input: '' }, past].map((each) => defaultPayloadConverter.toPayload(each)) },
    };
    const [execution] = readExecutions([{ events: [{ workflowExecutionStartedEventAttributes: started }] }]);
    const { what } = execution!.events[0]!;
    return what?.kind === 'started' ? what.carried : what;
  };
  expect(carriedBy({ runId: 'before' })).toMatchObject({ writer: { runId: 'before' } });
  expect(carriedBy({ runId: 'another' })).toBe(unknown);
});

test('an activity without a permit ran for no call, whatever its arguments claim', () => {
  const ranIn = (metadata: object): unknown[] => {
    const { data, ...first } = defaultPayloadConverter.toPayload({ callId: '1.1', digest: 'd' });
    const input = { payloads: [{ data, metadata: { ...first.metadata, ...metadata } }] };
    const events = [
      { workflowExecutionStartedEventAttributes: { workflowType: { name: 'settleOrder' } } },
      { activityTaskScheduledEventAttributes: { activityType: { name: 'pay' }, input } },
    ];
    return auditedRun('default', 'w', { executions: readExecutions([{ events }]), unread: 0 }).activities;
  };
  expect(ranIn({})).toEqual([]);
  expect(ranIn(permitMetadata({ callId: '2.1', digest: 'd' }))).toMatchObject([{ callId: '2.1', activity: 'pay' }]);
});

test('each event that ends an activity names the activity', () => {
  const ended = facts.flatMap(({ what }) => (what?.kind === 'ended' ? [what.activity.kind] : []));
  const kinds = ['config', 'edit', 'model', 'nested', 'other', 'parents', 'policy', 'tool', 'verified'];
  expect([...new Set(ended)].sort()).toEqual(kinds);
});

test('each kind of event is a fact of its own', () => {
  const kinds = new Set(facts.flatMap(({ what }) => what?.kind ?? []));
  const expected = {
    attempted: true,
    cancelled: true,
    completed: true,
    continued: true,
    ended: true,
    failed: true,
    message: true,
    reset: false,
    scheduled: true,
    started: true,
    task_completed: true,
    terminated: true,
    timed_out: false,
  } satisfies Record<Fact['kind'], boolean>;
  // No stored history was reset or timed out.
  const stored = Object.entries(expected).flatMap(([kind, isStored]) => (isStored ? [kind] : []));
  expect([...kinds].sort()).toEqual(stored);
});

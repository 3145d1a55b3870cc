import { expect, test } from 'vitest';
import { limitsOf, longestWaitMs, shortestReminderMs, type Limits } from '../../../src/core/policy/limits.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import type { AskingRule } from '../../../src/core/policy/ruling.ts';

const hour = 3_600_000;
const policy = (approval: Policy['approval']): Policy => ({ version: 1, rules: [], riskDefaults: {}, approval });

test.each<[string, Policy['approval'] | undefined, Policy['approval'] | undefined, number | null]>([
  ['no policy: five minutes', undefined, undefined, 5 * 60_000],
  ['nothing written: five minutes', {}, {}, 5 * 60_000],
  ['the run says', {}, { timeoutMs: hour }, hour],
  ['the ceiling says', { timeoutMs: hour }, {}, hour],
  ['without a ceiling the run says', undefined, { timeoutMs: hour }, hour],
  ['both say: the smaller', { timeoutMs: hour }, { timeoutMs: 2 * hour }, hour],
  ['both say: the smaller, the other way round', { timeoutMs: 2 * hour }, { timeoutMs: hour }, hour],
  ['never over 24 hours', {}, { timeoutMs: 48 * hour }, 24 * hour],
  ['never for ever', undefined, { timeoutMs: null }, 24 * hour],
  ['the ceiling permits more', { maxTimeoutMs: 72 * hour }, { timeoutMs: 48 * hour }, 48 * hour],
  ['the ceiling permits less', { maxTimeoutMs: hour }, { timeoutMs: 2 * hour }, hour],
  ['the ceiling permits less than the default', { maxTimeoutMs: 60_000 }, undefined, 60_000],
  ['a ceiling that permits for ever', { maxTimeoutMs: null }, { timeoutMs: null }, null],
  ['permitting for ever is not saying so', { maxTimeoutMs: null }, {}, 5 * 60_000],
  ['for ever is longer than any time', { maxTimeoutMs: null, timeoutMs: null }, { timeoutMs: hour }, hour],
  ['a run cannot permit itself more', {}, { timeoutMs: 48 * hour, maxTimeoutMs: null }, 24 * hour],
])('timeout: %s', (_, ceiling, run, expected) => {
  const layers = { ...(ceiling && { ceiling: policy(ceiling) }), ...(run && { run: policy(run) }) };
  expect(limitsOf(layers).timeoutMs).toBe(expected);
});

const asked = (layer: 'ceiling' | 'agent' | 'run', timeoutMs?: number | null) => ({
  rule: 'r',
  layer,
  ...(timeoutMs !== undefined && { timeoutMs }),
});
test.each<[string, Policy['approval'] | undefined, Policy['approval'] | undefined, AskingRule[], number | null]>([
  ['a rule says', undefined, {}, [asked('run', hour)], hour],
  ['a rule instead of its policy', undefined, { timeoutMs: 60_000 }, [asked('run', hour)], hour],
  ['an agent’s rule instead of its policy', undefined, { timeoutMs: 60_000 }, [asked('agent', hour)], hour],
  ['a rule that says nothing', undefined, { timeoutMs: hour }, [asked('run')], hour],
  ['two rules: the smaller', undefined, {}, [asked('run', 2 * hour), asked('run', hour)], hour],
  [
    'one of two says nothing: its policy speaks',
    undefined,
    { timeoutMs: 60_000 },
    [asked('run', hour), asked('run')],
    60_000,
  ],
  ['the other layer: the smaller', { timeoutMs: 60_000 }, {}, [asked('run', hour)], 60_000],
  ['a rule of the ceiling', { timeoutMs: 60_000 }, { timeoutMs: 2 * hour }, [asked('ceiling', hour)], hour],
  ['never over what the ceiling permits', {}, {}, [asked('run', 48 * hour)], 24 * hour],
  ['never for ever', {}, {}, [asked('run', null)], 24 * hour],
  ['for ever where the ceiling permits it', { maxTimeoutMs: null }, {}, [asked('run', null)], null],
])('timeout of an ask: %s', (_, ceiling, run, by, expected) => {
  const layers = { ...(ceiling && { ceiling: policy(ceiling) }), ...(run && { run: policy(run) }) };
  expect(limitsOf(layers, { ask: { always: 'tool', by } }).timeoutMs).toBe(expected);
});

test.each<[number | undefined, number | undefined, number]>([
  [undefined, undefined, 10],
  [20, undefined, 20],
  [undefined, 20, 20],
  [3, 20, 3],
  [20, 3, 3],
  [99, undefined, 50],
])('pending: ceiling %s, run %s: %i', (ceiling, run, expected) => {
  expect(limitsOf({ ceiling: policy({ maxPending: ceiling }), run: policy({ maxPending: run }) }).maxPending).toBe(
    expected,
  );
});

test('without any setting, the default applies', () => {
  expect(limitsOf({})).toEqual({
    timeoutMs: 5 * 60_000,
    maxPending: 10,
    maxRetriesAfterDeny: 3,
    denialsHoldFor: 'message',
    maxIrreversiblePerRun: null,
    includeArguments: true,
    redact: true,
    batch: 'parallel',
    cachedResults: true,
    deniedAs: 'result',
  });
});

type Approval = Policy['approval'];
test.each<[keyof Limits, Approval | undefined, Approval | undefined, unknown]>([
  ['maxRetriesAfterDeny', { maxRetriesAfterDeny: 5 }, {}, 5],
  ['maxRetriesAfterDeny', undefined, { maxRetriesAfterDeny: 5 }, 5],
  ['maxRetriesAfterDeny', { maxRetriesAfterDeny: 5 }, { maxRetriesAfterDeny: 2 }, 2],
  ['maxRetriesAfterDeny', { maxRetriesAfterDeny: 0 }, { maxRetriesAfterDeny: 2 }, 0],
  ['denialsHoldFor', { denialsHoldFor: 'run' }, { denialsHoldFor: 'message' }, 'run'],
  ['denialsHoldFor', { denialsHoldFor: 'message' }, { denialsHoldFor: 'run' }, 'run'],
  ['denialsHoldFor', {}, { denialsHoldFor: 'message' }, 'message'],
  ['maxIrreversiblePerRun', { maxIrreversiblePerRun: 0 }, {}, 0],
  ['maxIrreversiblePerRun', {}, { maxIrreversiblePerRun: 4 }, 4],
  ['maxIrreversiblePerRun', { maxIrreversiblePerRun: 7 }, { maxIrreversiblePerRun: 4 }, 4],
  ['includeArguments', { includeArguments: true }, { includeArguments: false }, false],
  ['includeArguments', { includeArguments: false }, { includeArguments: true }, false],
  ['includeArguments', { includeArguments: true }, {}, true],
  ['redact', undefined, { redact: false }, false],
  ['redact', {}, { redact: false }, true],
  ['redact', { redact: true }, { redact: false }, true],
  ['redact', { redact: false }, {}, false],
  ['redact', { redact: false }, undefined, false],
  ['redact', { redact: false }, { redact: false }, false],
  ['redact', { redact: false }, { redact: true }, true],
  ['batch', { batch: 'sequential' }, { batch: 'parallel' }, 'sequential'],
  ['batch', { batch: 'parallel' }, { batch: 'sequential' }, 'sequential'],
  ['batch', { batch: 'parallel' }, {}, 'parallel'],
  ['cachedResults', { cachedResults: true }, { cachedResults: false }, false],
  ['cachedResults', { cachedResults: false }, { cachedResults: true }, false],
  ['cachedResults', {}, { cachedResults: true }, true],
  ['deniedAs', { deniedAs: 'result' }, { deniedAs: 'error' }, 'error'],
  ['deniedAs', { deniedAs: 'error' }, { deniedAs: 'result' }, 'error'],
  ['deniedAs', {}, { deniedAs: 'result' }, 'result'],
])('%s: ceiling %j, run %j', (key, ceiling, run, expected) => {
  const layers = { ...(ceiling && { ceiling: policy(ceiling) }), ...(run && { run: policy(run) }) };
  expect(limitsOf(layers)[key]).toBe(expected);
});

test.each<[string, Policy['approval'] | undefined, Policy['approval'][] | undefined, number | null]>([
  ['nobody says', undefined, undefined, 24 * hour],
  ['the ceiling says', { maxTimeoutMs: hour }, undefined, hour],
  ['the ceiling says never', { maxTimeoutMs: null }, undefined, null],
  ['a parent that was a ceiling says less', { maxTimeoutMs: null }, [{}, { maxTimeoutMs: hour }], hour],
  ['a parent says nothing', { maxTimeoutMs: null }, [{}], null],
])('the longest wait: %s', (_, ceiling, parents, expected) => {
  const layers = { ...(ceiling && { ceiling: policy(ceiling) }), ...(parents && { parents: parents.map(policy) }) };
  expect(longestWaitMs(layers)).toBe(expected);
});

test.each<[string, Policy['approval'] | undefined, Policy['approval'][], number]>([
  ['nobody is protected', undefined, [{}], 0],
  ['a ceiling that says nothing', {}, [], 60_000],
  ['a ceiling says more', { minRemindMs: hour }, [], hour],
  ['a ceiling says less', { minRemindMs: 1_000 }, [{}], 1_000],
  ['a parent that was a ceiling says more', { minRemindMs: 1_000 }, [{ minRemindMs: hour }], hour],
  ['a parent alone was a ceiling', undefined, [{ minRemindMs: hour }], hour],
])('the shortest reminders: %s', (_, ceiling, parents, expected) => {
  const layers = { ...(ceiling && { ceiling: policy(ceiling) }), parents: parents.map(policy) };
  expect(shortestReminderMs(layers)).toBe(expected);
});

import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/agents/define-agent.ts';
import { defineTool } from '../../src/agents/define-tool.ts';
import { definitionOf } from '../../src/agents/registry.ts';
import { attributeNamesOf } from '../../src/connection/search-attributes.ts';
import { workflowType } from '../../src/contract.ts';
import { boundFacts } from '../../src/core/base/bound-preview.ts';
import { callDigest } from '../../src/core/base/digest.ts';
import { refusedBySecondGate } from '../../src/core/base/tool-call.ts';
import { scriptedModel } from '../../src/models/scripted.ts';
import { activitySide } from '../../src/worker/activity-side.ts';

/** The second gate takes a bound preview again, whatever wrote the permit. */

const args = { table: 'orders' };
const purge = defineTool({
  name: 'purge',
  description: 'Deletes the rows of a table.',
  input: z.object({ table: z.string() }),
  bind: 'preview',
  preview: () => ({ changes: [], facts: { rows: 60 } }),
  execute: () => 'purged',
});
const again = defineTool({
  name: 'again',
  description: 'May be repeated.',
  input: z.object({ table: z.string() }),
  idempotent: true,
  bind: 'preview',
  preview: () => ({ changes: [], facts: { rows: 60 } }),
  execute: () => 'done',
});
const plain = defineTool({ name: 'plain', description: 'Has none.', input: z.object({}), execute: () => 'done' });
const agent = defineAgent({
  name: 'clerk',
  instructions: 'Play.',
  model: scriptedModel([]),
  tools: [purge, again, plain],
});
const seen = boundFacts({ rows: 60 }, { rows: 60 });

/** What the worker does with the start of a call, with these members of its permit. */
function start(more: object, tool = purge, given: object = args, attempt = 1): Promise<unknown> {
  const { inbound } = activitySide({ agents: [agent] }, attributeNamesOf(undefined), undefined);
  const environment = new MockActivityEnvironment(
    { activityType: tool.name, workflowType, attempt },
    { logger: new DefaultLogger('ERROR', () => undefined), interceptors: [() => ({ inbound })] },
  );
  const { definition } = definitionOf(tool);
  const permit = {
    workflowId: environment.context.info.workflowExecution!.workflowId,
    firstExecutionRunId: 'first',
    callId: '1.1',
    digest: callDigest({ tool: tool.name, args: given as never, definition }),
    definition,
    agent: 'clerk',
    ...more,
  };
  return environment.run(async () => 'started', permit, given).catch((error: unknown) => error);
}

const changed = (changes: string[]) => ({
  type: 'preview_changed',
  nonRetryable: true,
  details: [refusedBySecondGate, { definition: { name: 'purge', bind: 'preview' }, checked: { args }, changes }],
});
const withoutPreview = changed(['The approval was given without a preview that it could bind']);

test('a call whose preview holds starts', async () => {
  expect(await start({ outcome: 'approved', bound: seen })).toBe('started');
});

test.each<[string, unknown, unknown]>([
  ['other facts', boundFacts({ rows: 90 }, { rows: 90 }), changed(['rows: 90 → 60'])],
  ['a forged digest beside the true facts', { ...seen, digest: '0'.repeat(64) }, changed([expect.any(String)])],
  ['the true digest beside forged facts, which decide nothing', { ...seen, facts: { rows: '1' } }, 'started'],
  ['a preview that is not finished', 'pending', withoutPreview],
  ['a preview that failed', 'unknown', withoutPreview],
  ['no member for it, as of a run before the tool bound its preview', undefined, { type: 'definition_changed' }],
  ['a text that is none of these', 'seen', { type: 'forbidden' }],
  ['facts without a digest', { facts: {} }, { type: 'forbidden' }],
  ['a fact that is no text', { ...seen, facts: { rows: 60 } }, { type: 'forbidden' }],
  [
    'more facts than fit',
    { ...seen, facts: Object.fromEntries(Array.from({ length: 30 }, (_, n) => [n, ''])) },
    { type: 'forbidden' },
  ],
])('a permit of an approved call with %s', async (_, bound, end) => {
  const ended = await start({ outcome: 'approved', bound });
  expect({ ended }).toMatchObject({ ended: end });
});

test('a call that a policy allowed, or whose preview is hidden from reviewers, starts without a look', async () => {
  expect(await start({ outcome: 'allowed' })).toBe('started');
  expect(await start({ outcome: 'approved', bound: 'hidden' })).toBe('started');
});

test('a permit that binds a preview of a tool without one starts as before', async () => {
  expect(await start({ outcome: 'approved', bound: seen }, plain as never, {})).toBe('started');
});

test('a later attempt whose preview has changed does not run, and may have run before', async () => {
  const other = boundFacts({ rows: 90 }, { rows: 90 });
  expect(await start({ outcome: 'approved', bound: other }, purge, args, 2)).toMatchObject({ type: 'outcome_unknown' });
  expect(await start({ outcome: 'approved', bound: other }, again, args, 2)).toMatchObject({ type: 'outcome_unknown' });
  expect(await start({ outcome: 'approved', bound: seen }, again, args, 2)).toBe('started');
});

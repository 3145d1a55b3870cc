import { expect, test } from 'vitest';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { z } from 'zod';
import { createPreview, type PreviewInput } from '../../src/activities/preview.ts';
import { defineTool } from '../../src/agents/define-tool.ts';
import type { PreviewContext, Tool } from '../../src/agents/definitions.ts';
import { createRegistry, definitionOf } from '../../src/agents/registry.ts';
import type { CallPreview } from '../../src/contract.ts';
import { jsonDigest } from '../../src/core/base/digest.ts';
import type { Change } from '../../src/core/base/call-preview.ts';

let executions = 0;
const tool = (preview?: (args: { path: string }, context: PreviewContext) => unknown, timeoutMs?: number): Tool =>
  defineTool({
    name: 'write',
    description: 'Writes.',
    input: z.object({ path: z.string() }),
    preview: preview as (args: object) => Change[],
    ...(timeoutMs !== undefined && { previewTimeoutMs: timeoutMs }),
    execute: () => executions++,
  });
const change: Change = { kind: 'text', name: 'a', before: 'x', after: 'y' };
const definition = definitionOf(tool()).definition;
const input: PreviewInput = {
  requestId: '0'.repeat(32),
  agent: 'clerk',
  caller: { userId: 'ann', groups: ['sales'] },
  tool: 'write',
  definition,
  args: { path: 'a' },
};

const ask = (
  shown: Tool,
  more: Partial<PreviewInput> = {},
  environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') }),
): Promise<CallPreview> =>
  environment.run(createPreview(createRegistry({ agents: [], tools: [shown] })), { ...input, ...more });

test('the preview gets the arguments and who asks; the tool itself does not run', async () => {
  const seen: unknown[] = [];
  const shown = tool((args, { agent, caller, workflowId, log, signal }) => {
    seen.push(args, agent, caller, typeof workflowId, typeof log?.info, signal.aborted);
    return [change];
  });
  expect(await ask(shown)).toEqual({ state: 'ready', changes: [change] });
  expect(seen).toEqual([{ path: 'a' }, 'clerk', { userId: 'ann', groups: ['sales'] }, 'string', 'function', false]);
  expect(executions).toBe(0);
});

test('a preview that binds says what counts, and one that does not says nothing of it', async () => {
  const facts = { rows: 60 };
  const bound = { ...tool(() => ({ changes: [change], facts })), bind: 'preview' as const };
  expect(await ask(bound)).toEqual({
    state: 'ready',
    changes: [change],
    bound: { digest: jsonDigest(facts), facts: { rows: '60' } },
  });
  expect(await ask(tool(() => ({ changes: [change], facts })))).toEqual({ state: 'ready', changes: [change] });
});

test('without facts, all changes count, also those that do not fit', async () => {
  const table: Change = { kind: 'table', name: 'rows', columns: ['n'], rows: [{ before: [1], after: [2] }] };
  const removed: Change = { kind: 'text', name: 'b', before: 'x\ny', after: null };
  const large: Change = { kind: 'text', name: 'c', before: null, after: 'x'.repeat(70_000) };
  const all = [change, table, removed, large];
  const preview = await ask({ ...tool(() => all), bind: 'preview' });
  expect(preview).toMatchObject({
    bound: {
      digest: jsonDigest(all as never),
      facts: { a: '1 line', rows: '1 row changed', b: '2 lines, removed', c: 'new, 1 line' },
    },
  });
});

test.each<[string, () => unknown, string]>([
  ['has other members', () => ({ changes: [], fact: {} }), "expected { changes, facts }, without 'fact'"],
  ['has facts that are no object', () => ({ changes: [], facts: [] }), 'facts: expected an object, not a list'],
  ['throws', () => Promise.reject(new Error('no such file')), 'no such file'],
  ['throws a text', () => Promise.reject('gone'), 'gone'],
  ['throws half a pair', () => Promise.reject(new Error('a\uD83D')), 'a\uFFFD'],
  ['throws a long text', () => Promise.reject(new Error('m'.repeat(301))), `${'m'.repeat(300)}…`],
  ['gives no changes', () => 'done', 'expected a list of changes, not a string'],
])('a preview that %s has failed', async (_, preview, message) => {
  expect(await ask(tool(preview))).toEqual({ state: 'failed', message });
});

test('a preview that takes too long is told so, and has failed', async () => {
  let signal: AbortSignal | undefined;
  const shown = tool((_, context) => {
    ({ signal } = context);
    return new Promise(() => {});
  }, 20);
  expect(await ask(shown)).toEqual({ state: 'failed', message: 'it took longer than 20 ms' });
  expect(signal?.aborted).toBe(true);
});

test('arguments that the tool does not take are not previewed', async () => {
  const message = 'arguments.path: expected string, received number';
  const shown = tool(() => [change]);
  expect(await ask(shown, { args: { path: 7 } })).toEqual({ state: 'failed', message });
});

test.each<[string, Tool, Partial<PreviewInput>]>([
  ['no such tool', tool(() => [change]), { tool: 'other' }],
  ['a tool without a preview', tool(), {}],
  ['another definition of it', tool(() => [change]), { definition: '0'.repeat(64) }],
])('a worker with %s leaves it to another one', async (_, shown, more) => {
  await expect(ask(shown, more)).rejects.toMatchObject({
    message: `this worker has another tool '${more.tool ?? 'write'}' than the run recorded`,
    nonRetryable: false,
  });
});

test('a cancelled activity gives no preview', async () => {
  const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
  const shown = tool(() => {
    environment.cancel();
    return new Promise(() => {});
  });
  await expect(ask(shown, {}, environment)).rejects.toMatchObject({ name: 'CancelledFailure' });
});

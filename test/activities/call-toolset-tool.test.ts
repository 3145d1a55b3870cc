import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { callToolsetTool } from '../../src/activities/call-tool.ts';
import { findTools } from '../../src/activities/load-agent.ts';
import { defineAgent } from '../../src/agents/define-agent.ts';
import { defineTool } from '../../src/agents/define-tool.ts';
import { defineToolset } from '../../src/agents/define-toolset.ts';
import type { Tool } from '../../src/agents/definitions.ts';
import { createRegistry, definitionOf } from '../../src/agents/registry.ts';
import type { Permit } from '../../src/contract.ts';
import { scriptedModel } from '../../src/models/scripted.ts';
import { CountersignPlugin } from '../../src/worker.ts';

const noteOf = (description: string): Tool =>
  defineTool({ name: 'files__note', description, input: z.object({}), execute: () => `noted: ${description}` });

let listed: Tool[] | undefined = [];
const files = defineToolset({
  name: 'files',
  open: () => ({
    list: async () => {
      if (listed === undefined) throw new Error('it is away');
      return { tools: listed };
    },
    close: async () => undefined,
  }),
});
const look = defineTool({ name: 'look', description: '', input: z.object({}), execute: () => 'seen' });
const agent = defineAgent({ name: 'a', instructions: '', model: scriptedModel([]), tools: [files, look] });
const registry = createRegistry({ agents: [agent] });

async function run(activityType: string, admitted: Tool): Promise<unknown> {
  const { definition } = definitionOf(admitted);
  const permit = { workflowId: 'w', callId: '1.1', digest: '', definition, outcome: 'allowed', agent: 'a' } as Permit;
  const environment = new MockActivityEnvironment({ activityType });
  return environment
    .run(callToolsetTool(registry.toolsets, 1_000), permit, {})
    .catch(({ type, message, nonRetryable }) => ({ type, message, nonRetryable }));
}

test('it runs the tool that the second gate has let pass, and no other', async () => {
  const first = noteOf('first');
  listed = [first];
  expect(await run('files__note', first)).toBe('noted: first');
  listed = [noteOf('second')];
  expect(await run('files__note', first)).toEqual({
    type: 'tool_unavailable',
    nonRetryable: true,
    message: expect.stringMatching(/^tool 'files__note' has changed since this run recorded it/),
  });
  listed = undefined;
  expect(await run('files__note', first)).toMatchObject({
    type: 'tool_unavailable',
    message: "'files' cannot be used now: it is away",
  });
});

test('an activity that no toolset has is none of this worker, as without toolsets', async () => {
  expect(await run('other', look)).toMatchObject({ type: 'NotFoundError', nonRetryable: false });
});

test('the model is told why a tool of a toolset cannot be looked up', async () => {
  listed = undefined;
  const { toolNamed, whyNot } = await findTools(registry, ['files__note', 'look']);
  expect([toolNamed('files__note'), whyNot('files__note')]).toEqual([
    undefined,
    "'files' cannot be used now: it is away",
  ]);
  expect([toolNamed('look'), whyNot('look')]).toEqual([look, undefined]);
});

test('a worker with a toolset has no other activity for all names, and no other tool with such a name', () => {
  const options = { taskQueue: 'q', workflowsPath: 'workflows.ts', activities: { default: () => null } };
  expect(() => new CountersignPlugin({ agents: [agent] }).configureWorker(options)).toThrow(
    "the worker has an activity 'default' already",
  );
  expect(() => new CountersignPlugin({}).configureWorker(options)).not.toThrow();
  expect(() => createRegistry({ agents: [agent], tools: [noteOf('own')] })).toThrow(
    "tool name 'files__note' belongs to a toolset; rename one",
  );
  expect(
    () => new CountersignPlugin({ agents: [agent], gated: { files__note: {} }, workflowTypes: ['orders'] }),
  ).toThrow("gated 'files__note' belongs to a toolset; rename one");
});

import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { defineTool } from '../../../src/agents/define-tool.ts';
import { promptScripted } from '../../support/prompt-scripted.ts';
import { eventually } from '../../support/eventually.ts';
import { type World, openWorld } from '../../support/world.ts';

/** What is approved is what runs (I8), however many tools have changed since. */

const others = Array.from({ length: 11 }, (_, index) => `other_${index}`);

function agentOf(folder: string, version: string) {
  const tool = (name: string) =>
    defineTool({
      name,
      description: `Does ${name}, ${version}.`,
      input: z.object({ to: z.string() }),
      execute: ({ to }) => {
        appendFileSync(join(folder, 'ran.log'), `${name} ${to} ${version}\n`);
        return 'done';
      },
    });
  return defineAgent({
    name: 'tester',
    instructions: 'Play your script.',
    model: promptScripted(),
    tools: ['pay', ...others].map(tool),
  });
}

let world: World;
beforeEach(async () => {
  world = await openWorld({ agentsIn: (folder) => [agentOf(folder, 'first')] });
});
afterEach(() => world.close());

test('an approved call is asked about again after twelve tools of its run have changed', async () => {
  const call = (tool: string, to: string) => ({ tool, args: { to } });
  const turn = [call('pay', 'mallory'), call('pay', 'ann'), ...others.map((tool) => call(tool, 'x'))];
  const policy = { version: 1, rules: [{ pattern: '*', action: 'ask' }], approval: { max_pending: 50 } };
  const run = await world.start([{ calls: turn }, { text: 'done' }], { policy });
  const [mallory, ann, ...rest] = await run.open(turn.length);
  const approve = (requests: (typeof mallory)[]): Promise<void> =>
    run.handle.signal(
      'decide',
      requests.map((request) => ({ requestId: request!.requestId, approved: true })),
    );
  const askedAgain = (count: number) =>
    eventually(`${count} calls are asked about again`, async () => {
      const again = (await run.open()).filter(({ replaces }) => replaces?.by === 'definition');
      return again.length >= count && again;
    });
  await world.stopWorker();
  await world.startWorker({ agents: [agentOf(world.folder, 'second')] });
  await approve([ann]);
  await askedAgain(1);
  await approve(rest);
  await askedAgain(turn.length - 1);
  await approve([mallory]);
  const again = await askedAgain(turn.length).catch(() => []);
  const ran = world.ran();
  await run.handle.terminate();
  expect(ran).toEqual([]);
  expect(again.some(({ replaces }) => replaces?.requestId === mallory!.requestId)).toBe(true);
});

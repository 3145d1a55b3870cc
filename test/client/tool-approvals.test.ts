/** `approvals(tool)`. The compiler checks the types: an expected error that does not occur fails `npm run typecheck`. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/agents/define-tool.ts';
import { type World, openWorld } from '../support/world.ts';

const pay = defineTool({
  name: 'pay',
  description: 'Pays money.',
  input: z.object({ to: z.string(), amount: z.number() }),
  execute: () => 'paid',
});

let world: World;
let workflowId: string;
const ids = { pay: '', echo: '' };
beforeAll(async () => {
  world = await openWorld();
  const run = await world.start([
    {
      calls: [
        { tool: 'pay', args: { to: 'ann', amount: 20 } },
        { tool: 'echo', args: { text: 'hi' } },
      ],
    },
    { text: 'done' },
  ]);
  ({ workflowId } = run);
  for (const { toolName, requestId } of await run.open(2)) ids[toolName as keyof typeof ids] = requestId;
});
afterAll(async () => {
  await world.client.closeRun(workflowId);
  await world.close();
});

test('of a tool: only its requests, with arguments of its type', async () => {
  const { approvals } = world.client;
  const { approvals: rows } = await approvals(pay).list({ workflowId });
  expect(rows.map(({ requestId }) => requestId)).toEqual([ids.pay]);
  const request = await approvals(pay).get(ids.pay, { workflowId });
  if (request.shown === 'part') throw new Error('all of it is shown');
  const { to, amount }: { to: string; amount: number } = request.arguments;
  expect([to, amount]).toEqual(['ann', 20]);
  // @ts-expect-error -- the tool has no such argument
  expect(request.arguments.orderId).toBeUndefined();
  // @ts-expect-error -- the tool is given
  await approvals(pay).list({ workflowId, tool: 'echo' });
  await expect(approvals(pay).get(ids.echo, { workflowId })).rejects.toMatchObject({
    code: 'unknown_request',
    message: `Request ${ids.echo} is about tool 'echo', not 'pay'.`,
  });
});

test('by the type alone, with the name or without', async () => {
  const { approvals } = world.client;
  const named = approvals<typeof pay>('pay');
  expect((await named.list({ workflowId })).approvals).toHaveLength(1);
  const request = await named.get(ids.pay, { workflowId });
  if (request.shown === 'all') expect(request.arguments.amount.toFixed(2)).toBe('20.00');
  // @ts-expect-error -- not all may be shown, and then there are no arguments to rely on
  expect(request.arguments.amount.toFixed(2)).toBe('20.00');
  expect((await approvals<typeof pay>().list({ workflowId })).approvals).toHaveLength(2);
});

test('the whole inbox stays as it is', async () => {
  const { approvals } = await world.client.approvals.list({ workflowId });
  expect(approvals).toHaveLength(2);
  const { arguments: args } = await world.client.approvals.get(ids.echo, { workflowId });
  expect(args).toEqual({ text: 'hi' });
});

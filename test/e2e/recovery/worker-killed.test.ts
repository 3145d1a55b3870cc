import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApprovalRequest } from '../../../src/contract.ts';
import { eventually } from '../../support/eventually.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { killAll } from '../../support/ready-process.ts';
import { spawnWorker } from '../../support/worker-process.ts';
import type { RunInTest, World } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** kill -9 of the worker at each stage of a call (I7): nothing is lost, and no tool runs twice. */

let world: World;
beforeAll(async () => {
  world = await openWorld({ worker: false });
});
afterAll(async () => {
  await killAll();
  await world.close();
});

const worker = (maxConcurrentActivityTaskExecutions?: number) =>
  spawnWorker({
    address: sharedAddress(),
    taskQueue: world.taskQueue,
    folder: world.folder,
    ...(maxConcurrentActivityTaskExecutions === undefined ? {} : { maxConcurrentActivityTaskExecutions }),
  });
const count = (line: string): number => world.ran().filter((each) => each === line).length;
const allowHold = { version: 1, rules: [{ pattern: 'hold*', action: 'allow' }] };

describe('a worker dies in the middle of four runs, and another takes them up', () => {
  const paying = (to: string, amount: number): Promise<RunInTest> =>
    world.start([{ calls: [{ tool: 'pay', args: { to, amount } }] }, { text: '{{lastResult}}' }]);
  const holding = (tool: string, name: string): Promise<RunInTest> =>
    world.start([{ calls: [{ tool, args: { name } }] }, { text: '{{lastResult}}' }], { policy: allowHold });

  let waits: { run: RunInTest; request: ApprovalRequest };
  let decided: RunInTest;
  let holds: RunInTest;
  let holdsAgain: RunInTest;
  beforeAll(async () => {
    const first = await worker();
    const run = await paying('a', 1);
    decided = await paying('b', 2);
    holds = await holding('hold', 'mid');
    holdsAgain = await holding('hold_again', 'again');
    waits = { run, request: (await run.open())[0]! };
    const [request] = await decided.open();
    await eventually('both tools run', () => count('start mid') === 1 && count('start again') === 1);
    await first.kill();
    await decided.handle.signal('decide', { requestId: request!.requestId, approved: true });
    writeFileSync(join(world.folder, 'release-again'), '');
    await worker();
  });
  afterAll(killAll);

  test('between request and decision: the request waits for the next worker', async () => {
    const { run, request } = waits;
    expect((await run.open())[0]).toEqual(request);
    await run.handle.signal('decide', { requestId: request.requestId, approved: true });
    expect((await run.result()).output).toBe('paid 1 to a');
    expect(count('pay a 1')).toBe(1);
  });

  test('a decision sent while no worker is alive is kept, and the tool runs once', async () => {
    expect((await decided.result()).output).toBe('paid 2 to b');
    expect(count('pay b 2')).toBe(1);
  });

  test('during a tool: unknown, and not repeated', async () => {
    const { output, outcomes } = await holds.result();
    expect(output).toBe(
      'Unknown: the tool was started but its outcome is not known. Do not assume that it did nothing.',
    );
    expect(outcomes).toMatchObject([{ toolName: 'hold', outcome: 'allowed', ran: 'unknown' }]);
    expect(count('start mid')).toBe(1);
  });

  test('during an idempotent tool: repeated', async () => {
    expect((await holdsAgain.result()).output).toBe('held again');
    expect(count('start again')).toBe(2);
  });
});

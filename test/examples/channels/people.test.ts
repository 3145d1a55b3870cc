/** The examples in which a person answers: each on a real server, with a real run. */
import { afterEach, beforeEach, describe, expect, vi, test } from 'vitest';
import development from '../../../examples/channels/development.ts';
import ownScreen, { screenChannel, type Waiting } from '../../../examples/channels/own-screen.ts';
import { desk } from '../../../examples/channels/queue-desk.ts';
import { policy, shop as shopAgent } from '../../../examples/channels/shop.ts';
import { closeShop, handOver, tighten } from '../../../examples/channels/switching.ts';
import terminalExample from '../../../examples/channels/terminal.ts';
import { followRun } from '../../../examples/channels/web-page.ts';
import { approvalQueue, conditional, consoleChannel } from '../../../src/channels.ts';
import { startGateway } from '../../../packages/gateway/src/index.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { recordedChannel } from '../../workflows/channels/recorded-channel.ts';
import { openShop, outcomesOf, runShop } from './shop-world.ts';
import { TypedTerminal } from '../../channels/typed-terminal.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
function closed<Opened extends { close(): Promise<unknown> }>(opened: Opened): Opened {
  closing.push(() => opened.close());
  return opened;
}

const plain = { agents: [shopAgent], policy };
/** A worker with the shop and no channel. Each test has runs of its own. */
const world = forAllTests(() => openShop(plain));
async function startShop(): Promise<string> {
  const { workflowId } = await world.client.start('shop', 'My lamp came broken');
  return workflowId;
}

const approvedAndDenied = ['replace_item: approved', 'delete_account: denied'];

describe('terminal', () => {
  test('has a time-out of its own, and no more than the terminal', () => {
    expect(terminalExample.channels.terminal).toMatchObject({ timeoutMs: 120_000 });
    expect(Object.keys(terminalExample.channels.terminal)).toEqual(['timeoutMs', 'resolve']);
  });

  test('each request of the turn is asked about, one after the other', async () => {
    const terminal = new TypedTerminal();
    const channels = { terminal: consoleChannel({ input: terminal.input, output: terminal.output }) };
    const { outcomes } = closed(await runShop({ ...terminalExample, channels }));
    const answer = (shown: string): string => (shown.includes('delete_account') ? 's' : 'a');
    await terminal.answers(answer, answer);
    expect(await outcomes()).toEqual(approvedAndDenied);
  });
});

describe('development', () => {
  test('what is worse than medium goes to the terminal, the rest is approved', async () => {
    expect(development.channels.desk.timeoutMs).toBe(120_000);
    const terminal = new TypedTerminal();
    const otherwise = consoleChannel({ input: terminal.input, output: terminal.output });
    const channels = { desk: conditional({ below: 'high', otherwise }) };
    const { outcomes } = closed(await runShop({ ...development, channels }));
    await terminal.answers('d');
    expect(await outcomes()).toEqual(approvedAndDenied);
    expect(terminal.shown).not.toContain('replace_item');
  });
});

describe('own screen', () => {
  test('without a terminal it is headless, which denies what would ask', async () => {
    expect(ownScreen).toMatchObject({ policy: { mode: 'headless' }, channels: {} });
    const { outcomes } = closed(await runShop(ownScreen));
    expect(await outcomes()).toEqual(['replace_item: denied_by_policy', 'delete_account: denied_by_policy']);
  });

  test('the screen is asked about what cannot be undone, and is told when it is over', async () => {
    const shown: Waiting[] = [];
    const channels = { screen: screenChannel((waiting) => shown.push(waiting)) };
    const { outcomes } = closed(await runShop({ ...plain, channels }));
    const waiting = await eventually('a request on the screen', () => shown[0]);
    expect(waiting.request.toolName).toBe('delete_account');
    waiting.answer({ approved: false, reason: 'No' });
    expect(await outcomes()).toEqual(approvedAndDenied);
  });

  test('a screen that goes away decides nothing', async () => {
    const shown: Waiting[] = [];
    const { run, outcomes } = closed(
      await runShop({ ...plain, channels: { screen: screenChannel((waiting) => shown.push(waiting)) } }),
    );
    const { signal } = await eventually('a request on the screen', () => shown[0]);
    const [open] = await eventually('one open request', async () => {
      const requests = await run.open();
      return requests.length === 1 && requests;
    });
    expect(signal.aborted).toBe(false);
    await run.handle.signal('decide', { requestId: open!.requestId, approved: true });
    expect(await outcomes()).toEqual(['replace_item: approved', 'delete_account: approved']);
    await eventually('the end on the screen', () => signal.aborted);
  });
});

describe('queue', () => {
  const printed: string[] = [];
  beforeEach(() => {
    vi.spyOn(console, 'log').mockImplementation((line: string) => void printed.push(line));
  });

  test('a desk answers one after the other, edits included', async () => {
    const workflowId = await startShop();
    const said = ['maybe', 'edit', '{ "orderId": "o-17", "item": "shade" }'];
    const ask = async (): Promise<string> => (printed.at(-1)!.startsWith('delete_account') ? 'no' : said.shift()!);
    const stop = new AbortController();
    const queue = approvalQueue(world.client, { workflowId, reviewerId: 'desk' });
    const working = desk(queue, ask, stop.signal);
    const result = await world.run(workflowId).result();
    stop.abort(new Error('the desk closes'));
    await expect(working).rejects.toThrow('the desk closes');
    expect(outcomesOf(result)).toEqual(approvedAndDenied);
    expect(printed).toContain('replace_item {"orderId":"o-17","item":"lamp"}, for nobody');
    expect(said).toEqual([]);
    const transcript = await world.run(workflowId).handle.query<{ content: string }[]>('transcript');
    expect(transcript.map(({ content }) => content)).toContainEqual(
      expect.stringContaining('shade of o-17 sent again'),
    );
  });

  test('approve all: what was shown', async () => {
    const workflowId = await startShop();
    const queue = approvalQueue(world.client, { workflowId });
    await eventually('two requests', async () => (await queue.pending()).length === 2);
    expect((await queue.approveAll('Looked through.')).map(({ outcome }) => outcome)).toEqual(['approved', 'approved']);
    expect(outcomesOf(await world.run(workflowId).result())).toEqual([
      'replace_item: approved',
      'delete_account: approved',
    ]);
  });

  test('deny all: whatever waits', async () => {
    const workflowId = await startShop();
    await world.run(workflowId).open(2);
    const receipts = await approvalQueue(world.client, { workflowId }).denyAll('The shop is closed.');
    expect(receipts.map(({ outcome }) => outcome)).toEqual(['denied', 'denied']);
  });
});

test('web page: it sees the requests of the run, and answers them', async () => {
  const gateway = await startGateway({ client: world.client, port: 0, log: () => undefined });
  closing.push(() => gateway.stop());
  const workflowId = await startShop();
  const lines: string[] = [];
  const ask = async ({ toolName }: { toolName: string }) => ({
    approved: toolName !== 'delete_account',
    reason: 'Why not',
  });
  await followRun({ gateway: gateway.url, ask, show: (line) => lines.push(line) }, workflowId);
  expect(lines.toSorted()).toEqual([
    'Done, as far as I was allowed to.',
    'delete_account: denied',
    'replace_item: approved',
  ]);
});

describe('switching', () => {
  test('the shop closes: what is open is denied', async () => {
    const workflowId = await startShop();
    await world.run(workflowId).open(2);
    const { settled = [] } = await closeShop(world.client, workflowId);
    expect(settled.map(({ outcome }) => outcome)).toEqual(['superseded', 'superseded']);
    const { status } = await world.run(workflowId).result();
    expect(status).toBe('completed');
  });

  test('a stricter mode leaves what is open to people', async () => {
    const workflowId = await startShop();
    await world.run(workflowId).open(2);
    expect(await tighten(world.client, workflowId)).toMatchObject({ accepted: true });
    const queue = approvalQueue(world.client, { workflowId });
    expect(await queue.pending()).toHaveLength(2);
    await queue.denyAll();
  });

  test('another channel takes over: it answers what is open, and the first one is not asked any more', async () => {
    const [day, night] = [
      recordedChannel(),
      recordedChannel({ resolve: () => ({ approved: false, reason: 'At night' }) }),
    ];
    const two = closed(await openShop({ ...plain, channels: { day, night }, routes: { default: ['day'] } }));
    const { workflowId } = await two.client.start('shop', 'My lamp came broken');
    await eventually('the first channel thinks about both', () => day.asked.length === 2);
    expect(await handOver(two.client, workflowId, 'night')).toMatchObject({ accepted: true });
    expect(outcomesOf(await two.run(workflowId).result())).toEqual(['replace_item: denied', 'delete_account: denied']);
    await eventually('the first channel is stopped', () => day.asked.every(({ signal }) => signal.aborted));
    expect(night.notified).toHaveLength(2);
  });

  test('a channel that the worker does not have takes nothing over', async () => {
    const workflowId = await startShop();
    await world.run(workflowId).open(2);
    await expect(handOver(world.client, workflowId, 'fax')).rejects.toMatchObject({ code: 'policy_invalid' });
    await closeShop(world.client, workflowId);
  });
});

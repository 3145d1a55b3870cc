/** Recorded runs of agents with an output, checks, cached results, files, advisors, sums and prices. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { defineAgent } from '../../../../src/agents/define-agent.ts';
import { eventually } from '../../../support/eventually.ts';
import { continuedAsNew, finished, pay, yes, type RecordedRun, once, oneTaskMore, no } from './play-runs.ts';
import { reconcilingAgents } from '../../agent/reconciling-agent.ts';
import { testAgent } from '../../../support/test-agent.ts';
import type { WorldOptions } from '../../../support/world.ts';
import { defineTool } from '../../../../src/agents/define-tool.ts';
import type { ApprovalRequest, Message } from '../../../../src/contract.ts';
import type { AdvisorAnswer } from '../../../../src/agents/advisor.ts';
import type { JsonObject } from '../../../../src/core/base/tool-call.ts';
import { costlyModel, costlyPrices } from '../../../support/costly-model.ts';

const withOutput = (historyEvents: number): WorldOptions => ({
  continueAsNewAfter: { historyEvents },
  agentsIn: (folder) => {
    const { instructions, model, tools } = testAgent(folder);
    return [defineAgent({ name: 'tester', instructions, model, tools, output: z.object({ total: z.number() }) })];
  },
});

/** The model is asked again for an output. */
export const recordedOutputs: RecordedRun[] = [
  {
    name: 'output-asked-again',
    world: withOutput(8_000),
    play: async (world) => {
      const run = await world.start([
        { text: 'Seven.' },
        { calls: [pay()] },
        { text: '{"total":"7"}' },
        { text: '{"total":7}' },
      ]);
      await run.handle.signal('decide', yes((await run.open())[0]!));
      return finished(run);
    },
  },
  {
    name: 'output-in-second-execution',
    world: withOutput(20),
    play: async (world) => {
      const run = await world.start([{ text: 'no' }, { calls: [pay()] }, { text: 'no' }, { text: 'no' }]);
      await run.handle.signal('decide', yes((await run.open())[0]!));
      return finished(run);
    },
  },
  {
    name: 'session-with-an-output',
    world: withOutput(8_000),
    play: async (world) => {
      const turns = ['no', '{"total":1}', 'no', 'no', 'no', '{"total":2}'].map((text) => ({ text }));
      const run = await world.start(turns, { session: true });
      const answered = (turn: number): Promise<unknown> =>
        eventually(`turn ${turn}`, async () => {
          const status = await run.status();
          return (status.failedTurn?.turn ?? status.turn) === turn && status.awaitsMessage === true;
        });
      await answered(2);
      await run.handle.signal('message', { content: 'And now?' });
      await answered(5);
      await run.handle.signal('message', { content: 'As JSON.' });
      await answered(6);
      await run.handle.signal('close');
      return finished(run);
    },
  },
];

/** A session whose inputs are refused and whose results are withheld, over two executions. */
export const recordedChecks: RecordedRun[] = [
  {
    name: 'checks-of-a-session',
    world: {
      continueAsNewAfter: { historyEvents: 40 },
      agentsIn: (folder) => {
        const { instructions, model, tools } = testAgent(folder);
        const read = defineTool({
          name: 'read',
          description: 'Reads.',
          input: z.object({ path: z.string() }),
          risk: 'read_only',
          execute: ({ path }) => path,
          checkResult: (result) => (result === 'secret' ? 'it is secret' : undefined),
        });
        return [
          defineAgent({
            name: 'tester',
            instructions,
            model,
            tools: [...tools, read],
            checkInput: (messages) => (messages.some(({ content }) => content === 'bad') ? 'it is bad' : undefined),
          }),
        ];
      },
    },
    play: async (world) => {
      const reads = { calls: ['secret', 'open', 'secret', 'open'].map((path) => ({ tool: 'read', args: { path } })) };
      const run = await world.start([{ text: 'one' }, reads, reads, { text: 'two' }], { session: true });
      const awaits = (turn: number, code?: string): Promise<unknown> =>
        eventually(`turn ${turn}, ${code}`, async () => {
          const status = await run.status();
          return status.awaitsMessage === true && status.turn === turn && status.failedTurn?.code === code;
        });
      await awaits(1);
      await run.handle.signal('message', { content: 'bad' });
      await awaits(1, 'input_refused');
      await run.handle.signal('message', { retry: true });
      await eventually('the second refusal', async () => (await run.status()).counts.refused === 2);
      await awaits(1, 'input_refused');
      await run.handle.signal('message', { content: 'good' });
      await awaits(4);
      await run.handle.signal('close');
      return finished(run);
    },
  },
];

/** A session whose calls are answered by earlier results, over several executions. */
export const recordedResults: RecordedRun[] = [
  {
    name: 'results-that-answer-equal-calls',
    world: {
      continueAsNewAfter: { historyEvents: 40 },
      agentsIn: (folder) => {
        const { name, instructions, model, tools } = testAgent(folder);
        const reads = (['run', 'session'] as const).map((cache) =>
          defineTool({
            name: `read_${cache}`,
            description: 'Reads.',
            input: z.object({ path: z.string() }),
            risk: 'read_only',
            cache,
            execute: ({ path }) => path,
          }),
        );
        return [defineAgent({ name, instructions, model, tools: [...tools, ...reads] })];
      },
    },
    play: async (world) => {
      const read = (cache: string, path: string) => ({ tool: `read_${cache}`, args: { path } });
      const some = { calls: [read('run', 'a'), read('session', 'a'), read('session', 'b'), read('run', 'b')] };
      const turns = [some, some, { text: 'one' }, some, { calls: [pay()] }, some, { text: 'two' }];
      const rules = [{ pattern: 'read_session', action: 'ask' }];
      const run = await world.start(turns, { session: true, policy: { version: 1, rules } });
      const approve = async (count: number): Promise<void> => {
        for (const each of await run.open(count)) await run.handle.signal('decide', yes(each));
      };
      await approve(2);
      await run.awaitsUser(3);
      await run.handle.signal('message', { content: 'And now?' });
      // The payment, and after it what it may have changed.
      await approve(1);
      await approve(2);
      await run.awaitsUser(7);
      await run.handle.signal('close');
      return finished(run);
    },
  },
];

const picture = { mediaType: 'image/png', url: 'data:image/png;base64,iVBORw0K', filename: 'cat.png' };
const address = { mediaType: 'image/png', url: 'https://files.example.com/cat.png' };

/** A session with files in its input and its messages, over two executions. */
export const recordedFiles: RecordedRun[] = [
  {
    name: 'files-of-a-session',
    world: {
      continueAsNewAfter: { historyEvents: 40 },
      agentsIn: (folder) => {
        const { instructions, model, tools } = testAgent(folder);
        const files = { types: ['image/png'], hosts: ['files.example.com'] };
        return [defineAgent({ name: 'tester', instructions, model, tools, files })];
      },
    },
    play: async (world) => {
      const looks = { calls: ['1', '2', '3', '4'].map((what) => ({ tool: 'look', args: { what } })) };
      const script = [{ text: 'one' }, looks, looks, { text: 'two' }, { text: 'three' }];
      const input: Message[] = [{ role: 'user', content: JSON.stringify(script), files: [picture, address] }];
      const run = await world.start([], { input, session: true });
      await run.awaitsUser(1);
      await run.handle.signal('message', {
        content: 'This? And that?',
        files: [{ ...picture, at: 6 }],
        messageId: 'm-1',
      });
      await run.awaitsUser(4);
      await run.handle.signal('message', { content: 'No', files: [{ ...picture, url: 'javascript:alert(1)' }] });
      await eventually('the refusal', async () => (await run.status()).counts.refused === 1);
      await run.handle.signal('message', { content: '', files: [picture] });
      await run.awaitsUser(5);
      await run.handle.signal('close');
      return finished(run);
    },
  },
];

const advisor = { name: 'triage', may_approve: true };
const advised: JsonObject = { rules: [{ id: 'advised', pattern: '*', action: 'ask', ask: { advisor } }] };
const withAdvisor = (historyEvents: number): WorldOptions => ({
  continueAsNewAfter: { historyEvents },
  advisors: { triage: ({ args }) => args['answer'] as unknown as AdvisorAnswer },
});
const echo = (answer: object) => ({ tool: 'echo', args: { answer } });
const advisedCalls = [
  echo({ answer: 'approve', reason: 'Fine.' }),
  echo({ answer: 'deny', reason: 'No.' }),
  echo({ answer: 'ask', severity: 'critical', reason: 'Look twice.' }),
  echo({ answer: 'always' }),
];

const ofAdvised = (name: string, historyEvents: number): RecordedRun => ({
  name,
  world: withAdvisor(historyEvents),
  play: async (world) => {
    const run = await world.start(once(...advisedCalls), { policy: advised });
    for (const request of await run.open(2)) await run.handle.signal('decide', yes(request));
    return finished(run);
  },
});

/** Calls go to an advisor first. Each call says in its arguments what the advisor answers. */
export const recordedAdvisors: RecordedRun[] = [
  ofAdvised('advised', 8_000),
  ofAdvised('advised-in-second-execution', 20),
];

const fits = "sum('pay', 'amount') + args.amount <= 100.0";
export const payingUpTo100: JsonObject = { rules: [{ id: 'fits', pattern: 'pay', when: fits, action: 'allow' }] };

/** The rules add up what the run pays. It continues as new, is changed, and counts on. */
export const recordedSums: RecordedRun[] = [
  {
    name: 'sums',
    world: { continueAsNewAfter: { historyEvents: 30 } },
    play: async (world) => {
      // 60 runs. People are asked about 60 and 30, and approve 30. So 10 fits, and they are asked about 20.
      const turns = [{ calls: [pay(60), pay(60), pay(30)] }, { calls: [pay(10), pay(20)] }, { text: 'paid' }];
      const run = await world.start(turns, { policy: payingUpTo100 });
      const [over, another] = await run.open(2);
      await run.handle.signal('decide', no(over!, 'too much'));
      await run.handle.signal('decide', yes(another!));
      const [last] = await run.open();
      await run.handle.signal('decide', yes(last!));
      return finished(run);
    },
  },
];

const look = { calls: [{ tool: 'look', args: { what: 'sea' } }] };

/** A run reaches a limit of its cost, is let go on, and continues as new. */
export const recordedCosts: RecordedRun[] = [
  {
    name: 'cost',
    world: {
      continueAsNewAfter: { historyEvents: 30 },
      policy: { version: 1, prices: costlyPrices, limits: { cost: { ask: 0.02, end: 1 } } },
      agentsIn: (folder) => [{ ...testAgent(folder), model: costlyModel('costly-1') }],
    },
    play: async (world) => {
      const run = await world.start([look, look, look, { text: 'done' }]);
      const [asked] = await run.open();
      await run.handle.signal('decide', yes(asked!));
      return finished(run);
    },
  },
];

/** A call whose outcome is unknown is asked about, in a second execution. */
export const recordedUnknown: RecordedRun[] = [true, undefined].map((waiting) => ({
  name: 'outcome-unknown',
  ...(waiting && { waiting }),
  world: {
    agentsIn: reconcilingAgents,
    policy: { version: 1, rules: [{ pattern: '*', action: 'allow' }] },
    continueAsNewAfter: { historyEvents: 60 },
  },
  play: async (world) => {
    const calls = [0, 1].map((index) => ({ tool: 'odd', args: { name: `odd-${index}`, how: 'breaks' } }));
    const run = await world.start(once(...calls));
    const open = await run.open(2);
    await continuedAsNew(world, run);
    await oneTaskMore(world, run);
    if (waiting) return run;
    writeFileSync(join(world.folder, 'odd-0.works'), '');
    const decisionOf = (request: ApprovalRequest) =>
      request.arguments['name'] === 'odd-0' ? yes(request) : no(request, 'it is paid');
    await run.handle.signal('decide', open.map(decisionOf));
    return finished(run);
  },
}));

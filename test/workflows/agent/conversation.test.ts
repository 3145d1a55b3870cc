import { afterAll, beforeAll, expect, test } from 'vitest';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import type { ApprovalRequest, Message, Receipt } from '../../../src/contract.ts';
import { eventually } from '../../support/eventually.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { testAgent } from '../../support/test-agent.ts';
import { claudeThinks } from '../../models/wire/anthropic.ts';
import { startWireServer, wireFormats, type WireServer, type WireTurn } from '../../models/wire/wire-server.ts';
import { openWorld, type RunInTest, type World } from '../../support/world.ts';

/**
 * Long conversations with models whose servers refuse every transcript that breaks the provider's rules. People decide,
 * write, stop, edit and let requests expire meanwhile, and the run continues as new. Nothing is lost, and nothing is there
 * twice. `npm run test:conversation` plays 200 turns with each provider.
 */
const turnsOfUser = Number(process.env['COUNTERSIGN_TEST_CONVERSATION'] ?? 8);

/** What a turn of the user is to be, and what the run is to remember of it. */
interface Segment {
  /** What the model answers: to the user, and after each round of calls. */
  answers: WireTurn[];
  /** What people do, once the model has been asked. */
  happens: (run: RunInTest) => Promise<void>;
  /** After the user's message. A tool's line is the beginning of its content. */
  transcript: string[];
  /** The lines of tools that ran. */
  ran: string[];
}

const pay = (to: string, amount = 1) => ({ name: 'pay', args: { to, amount } });
const paid = (to: string, amount = 1) => `tool: paid ${amount} to ${to}`;
const nothing = async (): Promise<void> => undefined;

function tell(run: RunInTest, message: object): Promise<Receipt> {
  return run.handle.executeUpdate<Receipt, [object]>('message', { args: [message] });
}

async function request(run: RunInTest, to: string): Promise<ApprovalRequest> {
  return eventually(`the request to pay ${to}`, async () =>
    (await run.open()).find((each) => each.arguments['to'] === to),
  );
}

async function decide(run: RunInTest, to: string, decision: object): Promise<void> {
  await run.handle.signal('decide', { requestId: (await request(run, to)).requestId, ...decision });
}

/** Sends refused signals until the run has continued as new. */
async function continueAsNew(run: RunInTest): Promise<void> {
  const { executions } = await run.status();
  await eventually('the run continues as new', async () => {
    await run.handle.signal('noise');
    return (await run.status()).executions > executions;
  });
}

const kinds: Record<string, (name: string) => Segment> = {
  'an answer': (name) => ({
    answers: [{ reasoning: `Easy: ${name}.`, text: `It is ${name}.` }],
    happens: nothing,
    transcript: [`assistant: It is ${name}.`],
    ran: [],
  }),
  'an allowed call': (name) => ({
    answers: [{ text: 'Let me look.', calls: [{ name: 'look', args: { what: name } }] }, { text: `Seen ${name}.` }],
    happens: nothing,
    transcript: ['assistant: Let me look.', `tool: saw ${name}`, `assistant: Seen ${name}.`],
    ran: [`look ${name}`],
  }),
  approved: (name) => ({
    answers: [{ reasoning: 'To pay.', calls: [pay(name)], callId: 'look:0' }, { text: `Paid ${name}.` }],
    happens: (run) => decide(run, name, { approved: true }),
    transcript: ['assistant: ', paid(name), `assistant: Paid ${name}.`],
    ran: [`pay ${name} 1`],
  }),
  'approved with words': (name) => ({
    answers: [{ reasoning: 'To pay.', calls: [pay(name)] }, { text: `Paid ${name}.` }],
    happens: (run) => decide(run, name, { approved: true, reason: `Only\n"${name}" <tool_result>` }),
    transcript: [
      'assistant: ',
      String.raw`tool: A reviewer approved this call and wrote: "Only\n\"${name}\" <tool_result>".`,
      `assistant: Paid ${name}.`,
    ],
    ran: [`pay ${name} 1`],
  }),
  'approved after the run continued as new': (name) => ({
    answers: [{ reasoning: 'To pay, later.', text: 'I pay.', calls: [pay(name)] }, { text: `Paid ${name}.` }],
    happens: async (run) => {
      await request(run, name);
      await continueAsNew(run);
      await decide(run, name, { approved: true });
    },
    transcript: ['assistant: I pay.', paid(name), `assistant: Paid ${name}.`],
    ran: [`pay ${name} 1`],
  }),
  'denied, edited and expired beside each other': (name) => ({
    answers: [
      {
        reasoning: 'Much to pay.',
        text: ' \n',
        calls: [pay(`${name}-no`), pay(`${name}-more`, 2), pay(`late ${name}`)],
      },
      { reasoning: 'All told.', text: `Paid some ${name}.` },
    ],
    happens: async (run) => {
      await decide(run, `${name}-no`, { approved: false, reason: 'not now' });
      await decide(run, `${name}-more`, { approved: true, modifiedArguments: { to: `${name}-more`, amount: 3 } });
    },
    transcript: [
      'assistant:  \n',
      'tool: Denied: not now',
      'tool: A reviewer changed the arguments before the tool ran: amount: 2 became 3.',
      'tool: Denied: no decision within 1s',
      `assistant: Paid some ${name}.`,
    ],
    ran: [`pay ${name}-more 3`],
  }),
  'approved after the user wrote': (name) => ({
    answers: [
      { text: 'I pay.', calls: [pay(name)] },
      { reasoning: 'More words.', text: `Paid ${name}, and read.` },
    ],
    happens: async (run) => {
      await request(run, name);
      await tell(run, { content: `Also ${name}`, messageId: `also-${name}` });
      await tell(run, { content: `Also ${name}`, messageId: `also-${name}` });
      await decide(run, name, { approved: true });
    },
    transcript: ['assistant: I pay.', paid(name), `user: Also ${name}`, `assistant: Paid ${name}, and read.`],
    ran: [`pay ${name} 1`],
  }),
  'withdrawn because the user wrote': (name) => ({
    answers: [{ reasoning: 'To pay.', text: 'I pay.', calls: [pay(`fickle ${name}`)] }, { text: `Not paid ${name}.` }],
    happens: async (run) => {
      await request(run, `fickle ${name}`);
      await tell(run, { content: `Stay ${name}`, messageId: `stay-${name}` });
    },
    transcript: [
      'assistant: I pay.',
      'tool: Cancelled: the user has written since',
      `user: Stay ${name}`,
      `assistant: Not paid ${name}.`,
    ],
    ran: [],
  }),
  stopped: (name) => ({
    answers: [{ reasoning: 'To pay.', text: 'I pay.', calls: [pay(name), { name: 'look', args: { what: name } }] }],
    happens: async (run) => {
      await request(run, name);
      await eventually('the call beside it has run', () => world.ran().includes(`look ${name}`));
      await eventually('the call beside it has ended', async () => {
        const { raw } = await run.handle.describe();
        return (raw.pendingActivities ?? []).every(({ activityType }) => activityType?.name !== 'look');
      });
      await tell(run, { stop: true });
    },
    transcript: ['assistant: I pay.', 'tool: Cancelled: the user stopped this turn', `tool: saw ${name}`],
    ran: [`look ${name}`],
  }),
};

/** Every kind as often as any other, in another order with each provider. */
function segmentsOf(format: string): Segment[] {
  const random = seededRandom(wireFormats.findIndex((each) => each === format) + 1);
  const all = Object.values(kinds);
  return random
    .shuffled(Array.from({ length: turnsOfUser }, (_, turn) => all[turn % all.length]!))
    .map((make, turn) => make(`${format}-${turn}`));
}

const servers = new Map<string, WireServer>();
let world: World;

beforeAll(async () => {
  for (const format of wireFormats) {
    const answers = segmentsOf(format).flatMap((segment) => segment.answers);
    servers.set(format, await startWireServer(format, [{ text: 'Welcome.' }, ...answers]));
  }
  world = await openWorld({
    continueAsNewAfter: { historyEvents: 100 },
    agentsIn: (folder) => {
      const { tools } = testAgent(folder);
      return wireFormats.map((format, index) =>
        defineAgent({
          name: format,
          instructions: 'Be brief.',
          model: servers.get(format)!.model,
          tools,
          maxTurns: 1_000,
          modelCall: { stream: index % 2 === 0 ? 'on' : 'off', providerOptions: claudeThinks },
          policy: {
            version: 1,
            // A long conversation has more than the usual three.
            approval: { max_retries_after_deny: 100 },
            rules: [
              { pattern: 'pay', action: 'ask' },
              { pattern: 'pay:late *', action: 'ask', ask: { timeout: '1s' } },
              { pattern: 'pay:fickle *', action: 'ask', ask: { when_user_writes: 'withdraw' } },
            ],
          },
        }),
      );
    },
  });
});
afterAll(async () => {
  await world.close();
  await Promise.all([...servers.values()].map((server) => server.close()));
});

const awaitsUser = (run: RunInTest, what: string): Promise<unknown> =>
  eventually(`${what}: the run awaits its user`, async () => {
    const { awaitsMessage, failedTurn } = await run.status();
    if (failedTurn !== undefined) throw new Error(`${what}: ${JSON.stringify(failedTurn)}`);
    return awaitsMessage === true;
  });

test.concurrent.each(wireFormats)('%s: nothing is lost, and nothing is there twice', async (format) => {
  const { workflowId } = await world.client.start(format, 'Hello', { session: true });
  const run = world.run(workflowId);
  const segments = segmentsOf(format);
  const expected = ['user: Hello', 'assistant: Welcome.'];
  const { refusals, requests } = servers.get(format)!;
  await awaitsUser(run, 'Hello');
  for (const [turn, { happens, transcript }] of segments.entries()) {
    const content = `Turn ${turn}`;
    const message = { content, messageId: `m-${turn}` };
    await tell(run, message);
    // A page sends again what it has no answer to.
    await run.handle.signal('message', message);
    await happens(run);
    await awaitsUser(run, `${format}, ${content}`);
    expected.push(`user: ${content}`, ...transcript);
  }
  expect(refusals).toEqual([]);
  expect(requests).toHaveLength(1 + segments.reduce((count, { answers }) => count + answers.length, 0));
  const messages = await run.handle.query<Message[]>('transcript');
  const lines = messages.map(({ role, content }) => `${role}: ${content}`);
  expect(
    lines.map((line, index) => (line.startsWith('tool: A reviewer') ? line.slice(0, expected[index]?.length) : line)),
  ).toEqual(expected);
  const mine = world.ran().filter((line) => line.includes(`${format}-`));
  expect(mine.toSorted()).toEqual(segments.flatMap(({ ran }) => ran).toSorted());
  expect((await run.status()).executions).toBeGreaterThan(2);
  const told = [];
  for await (const event of world.client.events(workflowId, { follow: false })) {
    if (event.type === 'RunItemEvent' && event.item.type === 'message')
      told.push(`${event.item.role}: ${event.item.content}`);
  }
  expect(told).toEqual(
    lines.filter((line) => !line.startsWith('tool:') && line.slice('assistant:'.length).trim() !== ''),
  );
  await run.handle.signal('close');
  await run.result();
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type ChatThread,
  hashOf,
  keyOf,
  turnOf,
  workflowOf,
} from '../../../packages/gateway/src/http/chat/chat-thread.ts';
import { agUiInput, aiSdkBody, byHeader, chat, type ChatEvent, eventsOf } from './chat-calls.ts';
import { eventually } from '../../support/eventually.ts';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';
import { pay } from '../../support/team.ts';
import type { Calls, RunInTest, Turns } from '../../support/world.ts';

/** A thread is a session: what was done in it is done once, and what was said is said once. */

let world: GatewayWorld;
beforeAll(async () => {
  const rules = [
    { pattern: 'pay', action: 'allow' },
    { pattern: 'hold', action: 'allow' },
    { pattern: 'wipe', action: 'ask', ask: { allow_self: true } },
  ];
  world = await openGatewayWorld({ agentPolicy: { version: 1, rules } }, { authenticator: byHeader() });
});
afterAll(() => world.close());

interface Protocol {
  name: string;
  path: string;
  /** The body in which the user has said these texts, under ids of their own. */
  body: (threadId: string, said: [id: string, text: string][], more?: object) => object;
  /** A new thread whose user says a script. */
  begin: (turns: Turns) => { threadId: string; script: string };
  textOf: (events: ChatEvent[]) => string;
}

const aiSdk: Protocol = {
  name: 'AI SDK',
  path: '/ai-sdk/tester',
  body: (id, said, more) => ({
    id,
    messages: said.map(([each, text]) => ({ id: each, role: 'user', parts: [{ type: 'text', text }] })),
    trigger: 'submit-message',
    ...more,
  }),
  begin: (turns) => {
    const { id, messages } = aiSdkBody(turns);
    return { threadId: id, script: messages[0]!.parts[0]!.text };
  },
  textOf: (events) => events.flatMap((each) => (each.type === 'text-delta' ? [String(each['delta'])] : [])).join(''),
};
const agUi: Protocol = {
  name: 'AG-UI',
  path: '/ag-ui/tester',
  body: (threadId, said, more) => ({
    threadId,
    runId: crypto.randomUUID(),
    messages: said.map(([id, content]) => ({ id, role: 'user', content })),
    ...more,
  }),
  begin: (turns) => {
    const { threadId, messages } = agUiInput(turns);
    return { threadId, script: messages[0]!.content };
  },
  textOf: (events) =>
    events.flatMap((each) => (each.type === 'TEXT_MESSAGE_CONTENT' ? [String(each['delta'])] : [])).join(''),
};

function thread(threadId: string, person = 'ann'): ChatThread {
  const principal = { id: person, key: `token:${person}` } as ChatThread['principal'];
  return { client: world.client, principal, agent: 'tester', threadId };
}

const sessionOf = (threadId: string, session = 0): RunInTest => world.run(workflowOf(thread(threadId), session));

/** Waits until a session has recorded what its user says. */
const hasTaken = ({ handle }: RunInTest, text: string): Promise<boolean> =>
  eventually(`the session has '${text}'`, async () => {
    const { events } = await handle.fetchHistory();
    return events!.some((event) => {
      const { acceptedRequest } = event.workflowExecutionUpdateAcceptedEventAttributes ?? {};
      // A session that was slow to answer got it by signal, too.
      const said = acceptedRequest?.input?.args ?? event.workflowExecutionSignaledEventAttributes?.input;
      return said?.payloads?.some(({ data }) => Buffer.from(data!).includes(text));
    });
  });

/** Waits until visibility has an open run. */
const visible = ({ workflowId }: RunInTest): Promise<boolean> =>
  eventually('visibility has the run', async () => {
    const { connection, namespace } = world.client.session;
    const query = `WorkflowId = "${workflowId}" AND ExecutionStatus = "Running"`;
    const { executions } = await connection.workflowService.listWorkflowExecutions({ namespace, query });
    return executions.length > 0;
  });

const paid = (to: string): string[] => world.ran().filter((line) => line.startsWith(`pay ${to} `));

describe.each([aiSdk, agUi])('$name', ({ path, body, begin, textOf }) => {
  const to = path.slice(1, 3);

  test('three messages are one conversation, and what was paid in the first is paid once', async () => {
    const turns = [{ calls: [pay(`${to}-once`)] }, { text: 'Paid.' }, { text: 'At nine.' }, { text: 'Bye.' }];
    const { threadId, script } = begin(turns);
    const messages: [string, string][] = [];
    const answers = [];
    for (const [id, text] of [
      ['a', script],
      ['b', 'Thanks! When do you open?'],
      ['c', 'bye'],
    ] as const) {
      messages.push([id, text]);
      answers.push(textOf(await chat(world, path, body(threadId, messages))));
    }
    expect(answers).toEqual(['Paid.', 'At nine.', 'Bye.']);
    expect(paid(`${to}-once`)).toHaveLength(1);
    const session = sessionOf(threadId);
    expect(await session.transcript()).toEqual([
      'assistant: ',
      `tool: paid 1 to ${to}-once`,
      'assistant: Paid.',
      'user: Thanks! When do you open?',
      'assistant: At nine.',
      'user: bye',
      'assistant: Bye.',
    ]);
    await session.handle.terminate();
  });

  test('a stop ends the turn for every tab, and what waited is not sent with the next message', async () => {
    const calls: Calls = [
      pay(`${to}-first`),
      { tool: 'wipe', args: {} },
      { tool: 'hold', args: { name: `${to}-stop` } },
    ];
    const { threadId, script } = begin([{ calls }, { text: 'Fine.' }]);
    const first = body(threadId, [['a', script]]);
    const stop = (person = 'ann') => world.call('POST', `${path}/${threadId}/stop`, undefined, { 'x-person': person });
    // No reviewer: the stream stays open while it waits.
    const tabs = [1, 2].map(() => chat(world, path, first, 'ann:starter'));
    const session = sessionOf(threadId);
    await eventually('it waits, and a tool runs', async () => {
      const isOpen = await session.open().catch(() => undefined);
      return isOpen && world.ran().includes(`start ${to}-stop`);
    });
    expect((await stop('bob')).status).toBe(204);
    expect(await session.status()).toMatchObject({ counts: { open: 1 } });
    const held = chat(
      world,
      path,
      body(threadId, [
        ['a', script],
        ['b', 'and wipe again'],
      ]),
      'ann:starter',
    );
    await hasTaken(session, 'and wipe again');
    expect((await stop()).status).toBe(204);
    for (const told of await Promise.all([...tabs, held])) {
      expect(told.at(-1)).toMatchObject(
        to === 'ai' ? { type: 'abort', reason: 'The user stopped this turn.' } : { type: 'RUN_ERROR', code: 'stopped' },
      );
    }
    expect((await stop()).status).toBe(204);
    // The page is opened again: nothing runs, and it is told so.
    const again = await chat(world, path, body(threadId, [['b', 'and wipe again']]));
    expect(again.at(-1)).toMatchObject({ type: to === 'ai' ? 'abort' : 'RUN_ERROR' });
    const next = await chat(world, path, body(threadId, [['c', 'No. Are you there?']]));
    expect(textOf(next)).toBe('Fine.');
    expect(world.ran()).not.toContain('wipe');
    expect(world.ran()).not.toContain(`end ${to}-stop`);
    const { outcomes } = await session.status();
    expect(outcomes).toMatchObject([
      { callId: '1.1', outcome: 'allowed', ran: 'yes' },
      { callId: '1.3', outcome: 'allowed', ran: 'unknown' },
      { callId: '1.2', outcome: 'cancelled', ran: 'no' },
    ]);
    await session.handle.terminate();
  });

  test('a front end that sends the last message only is understood', async () => {
    const { threadId, script } = begin([{ text: 'one' }, { text: 'two' }]);
    expect(textOf(await chat(world, path, body(threadId, [['a', script]])))).toBe('one');
    expect(textOf(await chat(world, path, body(threadId, [['b', 'more']])))).toBe('two');
    await sessionOf(threadId).handle.terminate();
  });

  test('the same message again joins, also at the same time; the same words again are another message', async () => {
    const { threadId, script } = begin([{ text: 'one' }, { text: 'two' }, { text: 'three' }]);
    const first = body(threadId, [['a', script]]);
    const both = await Promise.all([chat(world, path, first), chat(world, path, first)]);
    expect(both.map(textOf)).toEqual(['one', 'one']);
    for (const id of ['b', 'b', 'c']) await chat(world, path, body(threadId, [[id, 'again']]));
    // An earlier turn is told to its end, and no further.
    expect(textOf(await chat(world, path, body(threadId, [['b', 'again']])))).toBe('two');
    expect(await sessionOf(threadId).transcript()).toEqual([
      'assistant: one',
      'user: again',
      'assistant: two',
      'user: again',
      'assistant: three',
    ]);
    await sessionOf(threadId).handle.terminate();
  });

  test('an edited message keeps its id, and is said as well', async () => {
    const { threadId, script } = begin([{ text: 'one' }, { text: 'two' }, { text: 'three' }]);
    await chat(world, path, body(threadId, [['a', script]]));
    for (const text of ['Pay bob', 'Pay ann']) await chat(world, path, body(threadId, [['b', text]]));
    expect((await sessionOf(threadId).transcript()).filter((line) => line.startsWith('user'))).toEqual([
      'user: Pay bob',
      'user: Pay ann',
    ]);
    await sessionOf(threadId).handle.terminate();
  });

  test('a session that has ended is followed by another, which knows what was said; nothing is said again', async () => {
    const { threadId, script } = begin([
      { calls: [pay(`${to}-closed`)] },
      { text: 'Paid.' },
      { text: 'Still here.' },
    ] as Turns);
    const first = body(threadId, [['a', script]]);
    await chat(world, path, first);
    await world.client.closeRun(sessionOf(threadId).workflowId);
    await sessionOf(threadId).result();
    const repeated = await chat(world, path, first);
    expect(textOf(repeated)).toBe('Paid.');
    expect(textOf(await chat(world, path, body(threadId, [['b', 'And now?']])))).toBe('Still here.');
    expect(paid(`${to}-closed`)).toHaveLength(1);
    expect(await sessionOf(threadId, 1).transcript()).toEqual([
      'assistant: ',
      `tool: paid 1 to ${to}-closed`,
      'assistant: Paid.',
      'user: And now?',
      'assistant: Still here.',
    ]);
    await sessionOf(threadId, 1).handle.terminate();
  });

  test('a turn that failed says why, and the same message again has it tried again', async () => {
    const { threadId, script } = begin([{ error: { status: 401 } }]);
    const first = body(threadId, [['a', script]]);
    for (const count of [1, 2]) {
      const events = JSON.stringify(await chat(world, path, first));
      expect(events).toContain('refused the request (401)');
      const { executions } = await world.client.historyChain(sessionOf(threadId).workflowId);
      const failures = executions.flatMap(({ events: all }) =>
        all.filter((each) => each.activityTaskFailedEventAttributes),
      );
      expect(failures).toHaveLength(count);
    }
    expect(textOf(await chat(world, path, body(threadId, [['b', 'hello?']])))).toBe('');
    await sessionOf(threadId).handle.terminate();
  });

  test('a run that an older gateway started is joined, and not said again to a session', async () => {
    const { threadId, script } = begin([{ calls: [pay(`${to}-older`)] }, { text: 'Paid.' }] as Turns);
    const turn = turnOf([script]);
    const idempotencyKey = `chat:${hashOf(['token:ann', 'tester', threadId, turn])}`;
    const run = await world.client.start('tester', [{ role: 'user', content: script }], { idempotencyKey });
    expect(run.workflowId).toBe(workflowOf(thread(threadId), turn));
    await run.result();
    expect(textOf(await chat(world, path, body(threadId, [['a', script]])))).toBe('Paid.');
    expect(paid(`${to}-older`)).toHaveLength(1);
    await expect(world.client.run(sessionOf(threadId).workflowId).status()).rejects.toMatchObject({
      code: 'run_not_found',
    });
  });
});

describe('AI SDK: regenerate and resume', () => {
  const { path, body, begin, textOf } = aiSdk;
  const resume = (threadId: string, person = 'ann'): Promise<Response> =>
    world.call('GET', `${path}/${encodeURIComponent(threadId)}/stream`, undefined, { 'x-person': person });

  test('regenerate asks for another answer, once for each answer', async () => {
    const { threadId, script } = begin(['one', 'two', 'three', 'four'].map((text) => ({ text })));
    await chat(world, path, body(threadId, [['a', script]]));
    await chat(world, path, body(threadId, [['b', 'more']]));
    const again = body(threadId, [['b', 'more']], { trigger: 'regenerate-message' });
    expect(textOf(await chat(world, path, again))).toBe('three');
    expect((await sessionOf(threadId).transcript()).slice(-2)).toEqual(['user: more', 'assistant: three']);
    // Also of a session that has ended, which takes nothing any more.
    await world.client.closeRun(sessionOf(threadId).workflowId);
    await sessionOf(threadId).result();
    expect((await resume(threadId)).status).toBe(204);
    expect(textOf(await chat(world, path, again))).toBe('four');
    expect((await sessionOf(threadId, 1).transcript()).slice(-2)).toEqual(['user: more', 'assistant: four']);
    await sessionOf(threadId, 1).handle.terminate();
  });

  test('the open session of a thread is found whose first one retention has removed', async () => {
    const { threadId, script } = begin([
      { text: 'one' },
      { calls: [{ tool: 'wipe', args: {} }] },
      { text: 'end' },
    ] as Turns);
    // A front end that has lost what it was given knows no session by its ids.
    const caller = { userId: 'ann', groups: [] };
    const idempotencyKey = keyOf(thread(threadId), 3);
    await world.client.start('tester', script, { idempotencyKey, caller, session: true });
    await visible(sessionOf(threadId, 3));
    await eventually('the first turn is over', async () => (await sessionOf(threadId, 3).status()).awaitsMessage);
    await chat(world, path, body(threadId, [['b', 'wipe']]));
    await sessionOf(threadId, 3).open();
    expect((await resume(threadId)).status).toBe(200);
    await expect(world.client.show(sessionOf(threadId).workflowId)).rejects.toMatchObject({ code: 'run_not_found' });
    await sessionOf(threadId, 3).handle.terminate();
  });

  test('resume: 204 where nothing runs, else what runs now, and nothing of other people', async () => {
    const { threadId, script } = begin([
      { text: 'one' },
      { calls: [{ tool: 'wipe', args: {} }] },
      { text: 'wiped' },
    ] as Turns);
    expect((await resume(threadId)).status).toBe(204);
    await chat(world, path, body(threadId, [['a', script]]));
    expect((await resume(threadId)).status).toBe(204);
    const asked = await chat(world, path, body(threadId, [['b', 'wipe']]));
    const response = await resume(threadId);
    expect(response.status).toBe(200);
    const resumed = eventsOf(await response.text());
    const typesOf = (events: ChatEvent[]): string[] => events.map(({ type }) => type);
    expect(typesOf(resumed)).toEqual(typesOf(asked));
    expect(resumed[0]).toEqual(asked[0]);
    expect((await resume(threadId, 'bob')).status).toBe(204);
    await sessionOf(threadId).handle.terminate();
  });
});

test('what comes while a request is open waits, and is answered after it', async () => {
  const { path, body, begin, textOf } = aiSdk;
  const { threadId, script } = begin([{ calls: [{ tool: 'wipe', args: {} }] }, { text: 'wiped' }] as Turns);
  await chat(world, path, body(threadId, [['a', script]]));
  const [request] = await sessionOf(threadId).open();
  const later = chat(world, path, body(threadId, [['b', 'Are you done?']]), 'ann:starter,viewer');
  await hasTaken(sessionOf(threadId), 'Are you done?');
  await world.client.decide({ requestId: request!.requestId, approved: true, reviewerId: 'bob' });
  expect(textOf(await later)).toBe('wiped');
  expect(await sessionOf(threadId).transcript()).toEqual([
    'assistant: ',
    'tool: wiped',
    'user: Are you done?',
    'assistant: wiped',
  ]);
  await sessionOf(threadId).handle.terminate();
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ApprovalDetails } from '../../../src/contract.ts';
import { instantText } from '../../../src/text/instant-text.ts';
import type { SlackMessageInTest } from './slack-server.ts';
import { openSlackWorld, type SlackWorld } from './slack-world.ts';
import { once, pay, rule } from '../../support/team.ts';
import type { Calls } from '../../support/world.ts';

let world: SlackWorld;
beforeAll(async () => {
  const rules = ['pay', 'echo'].flatMap(
    (pattern) => rule(pattern, 'ask', { ask: { reviewers: ['ann', 'bob'] } })['rules'],
  );
  world = await openSlackWorld({ ann: ['reviewer'], bob: ['reviewer'] }, { policy: { version: 1, rules } });
});
afterAll(() => world.close());
beforeEach(() => {
  for (const list of [world.slack.ephemerals, world.slack.messages, world.slack.calls]) list.splice(0);
});

interface Asked {
  requests: ApprovalDetails[];
  read: () => Promise<ApprovalDetails[]>;
}
/** The requests of a run with these calls: of the same one for all tests, because the channel changes no run. */
const asked = new Map<string, Promise<Asked>>();
function ask(...calls: Calls): Promise<Asked> {
  const key = JSON.stringify(calls);
  const requests = asked.get(key) ?? askAnew(calls);
  asked.set(key, requests);
  return requests;
}
async function askAnew(calls: Calls): Promise<Asked> {
  const run = await world.start(once(...calls));
  const open = await run.open(calls.length);
  const read = () => Promise.all(open.map(({ requestId }) => world.details(run, requestId)));
  return { requests: await read(), read };
}
const textOf = ({ blocks }: SlackMessageInTest): string => JSON.stringify(blocks);
const openIn = ({ blocks }: SlackMessageInTest): string[] =>
  blocks.flatMap(({ type, block_id: id = '' }) =>
    type === 'actions' && id !== 'run' ? [id.slice('open.'.length, 37)] : [],
  );
const settledIn = ({ blocks }: SlackMessageInTest): string[] =>
  blocks.flatMap(({ block_id: id = '' }) => (id.startsWith('settled.') ? [id.slice('settled.'.length)] : []));

describe('ten asks of one turn in one message', () => {
  test('three are answered: their buttons go, the others keep theirs, and every button is for its own request', async () => {
    const [ann, bob] = [await world.linked('ann'), await world.linked('bob')];
    const names = Array.from({ length: 10 }, (_, index) => `payee-${index}`);
    const { requests, read } = await ask(...names.map((name, index) => pay(name, index)));
    const sent = await world.notify(requests);
    expect(world.slack.messages).toHaveLength(1);
    const [message] = world.slack.posts as [SlackMessageInTest];
    expect(openIn(message)).toEqual(requests.map(({ requestId }) => requestId));
    for (const name of names) expect(textOf(message)).toContain(name);
    expect(JSON.stringify(sent).length).toBeLessThan(4_000);

    const answered = [requests[2]!, requests[5]!, requests[9]!];
    for (const [index, { requestId }] of answered.entries()) {
      const user = index === 1 ? bob : ann;
      await world.deliver(world.slack.click(user, message, 'approve', requestId));
    }
    await Promise.all([world.toldTo(ann, 2), world.toldTo(bob)]);
    const now = await read();
    const isAnswered = ({ requestId }: ApprovalDetails): boolean =>
      answered.some((each) => each.requestId === requestId);
    expect(now.filter(({ settled }) => settled !== undefined).map(({ requestId }) => requestId)).toEqual(
      answered.map(({ requestId }) => requestId),
    );

    // As three workers may do it, each with what it knew.
    const settled = now.filter(isAnswered);
    await Promise.all(
      settled.map((each) => {
        const known = now.map((other) =>
          other.requestId === each.requestId ? other : requests.find(({ requestId }) => requestId === other.requestId)!,
        );
        return world.settle(each, sent, known);
      }),
    );
    expect(openIn(message)).toEqual(requests.filter((each) => !isAnswered(each)).map(({ requestId }) => requestId));
    expect(settledIn(message)).toEqual(answered.map(({ requestId }) => requestId));
    const outcome = (requestId: string): string =>
      JSON.stringify(message.blocks.find(({ block_id: id }) => id === `settled.${requestId}`));
    expect(outcome(answered[1]!.requestId)).toContain('bob (claimed)');
    expect(outcome(answered[2]!.requestId)).toContain(instantText(settled[2]!.settled!.settledAt));

    // A message that is older than the settlement changes nothing of it.
    const before = textOf(message);
    const late = { ...settled[1]!.settled!, reviewerId: 'eve', outcome: 'denied' as const };
    await world.settle({ ...settled[1]!, settled: late }, sent, requests);
    expect(textOf(message)).toBe(before);
  });

  test('what does not fit beside the others is in the thread', async () => {
    const long = 'x'.repeat(2_500);
    const { requests } = await ask(pay('bob'), { tool: 'echo', args: { text: long } }, pay('carl'));
    await world.notify(requests);
    const [message, ...thread] = world.slack.messages as [SlackMessageInTest, ...SlackMessageInTest[]];
    expect(openIn(message)).toHaveLength(3);
    expect(textOf(message)).toContain('This is a part: the thread has the whole card.');
    expect(thread.length).toBeGreaterThan(0);
    expect(thread.every(({ thread_ts: ts }) => ts === message.ts)).toBe(true);
    expect(thread.map(textOf).join('')).toContain('x'.repeat(1_000));
  });

  test('more than ten take more messages', async () => {
    const { requests } = await ask(pay('bob'));
    const many = Array.from({ length: 13 }, (_, index) => {
      return { ...requests[0]!, requestId: `${index}`.padStart(8, '0').padEnd(32, 'a') };
    });
    const sent = await world.notify(many);
    expect(world.slack.posts.map((message) => openIn(message).length)).toEqual([10, 3]);
    const settled = { outcome: 'expired' as const, runs: false, settledAt: '2030-01-01T00:00:00Z' };
    await world.settle({ ...many[11]!, settled }, sent, many);
    expect(settledIn(world.slack.posts[0]!)).toEqual([]);
    expect(settledIn(world.slack.posts[1]!)).toEqual([many[11]!.requestId]);
  });
});

test('texts of a run are no markup of Slack', async () => {
  const { requests } = await ask(pay('<!channel> <@U1> *bold* <https://evil.example|bank> \u202E'));
  await world.notify(requests);
  const [{ text, blocks }] = world.slack.posts as [SlackMessageInTest];
  expect(text).toBe('Approval of pay, asked by tester');
  const plain = blocks
    .filter(({ type }) => type === 'rich_text')
    .every(({ elements = [] }) =>
      elements.every((section) =>
        section.elements!.every((each) => ['text', 'date'].includes((each as { type: string }).type)),
      ),
    );
  expect(plain).toBe(true);
  expect(JSON.stringify(blocks)).toContain('\\\\u{202E}');
  expect(JSON.stringify(blocks)).not.toContain('mrkdwn');
});

describe('Slack that fails', () => {
  test.each(['down', 'after'] as const)('%s: a second attempt leaves one message', async (kind) => {
    const { requests } = await ask(pay('bob'));
    const key = randomUUID();
    world.slack.fail('chat.postMessage', kind);
    await expect(world.notify(requests, { key })).rejects.toThrow(
      /^Slack did not carry out chat.postMessage for channel C0001: /,
    );
    expect(world.slack.calls).toEqual(['chat.postMessage']);
    const sent = await world.notify(requests, { key, attempt: 2 });
    expect(world.slack.posts).toHaveLength(1);
    expect(sent).toMatchObject({ messages: [{ ts: world.slack.posts[0]!.ts }] });
    // The raw call stands in the thread, once.
    const replies = world.slack.messages.length - 1;
    expect(replies).toBeGreaterThan(0);
    await world.notify(requests, { key, attempt: 3 });
    expect(world.slack.messages).toHaveLength(1 + replies);
  });

  test('a thread that was begun is completed', async () => {
    const { requests } = await ask(pay('bob'));
    const key = randomUUID();
    await world.notify(requests, { key });
    const complete = world.slack.messages.splice(1);
    await world.notify(requests, { key, attempt: 2 });
    expect(world.slack.messages.slice(1).map(textOf)).toEqual(complete.map(textOf));
  });

  test.each<[string, (key: string) => Record<string, unknown> | undefined]>([
    ['with the same key', (key) => ({ key: `${key}.0` })],
    ['without a payload in its metadata', () => undefined],
  ])('a message of another app %s does not keep ours from being sent', async (_what, payloadOf) => {
    const { requests } = await ask(pay('bob'));
    const key = randomUUID();
    const metadata = { event_type: 'countersign_request', event_payload: payloadOf(key) };
    const ts = `${Math.floor(Date.now() / 1_000)}.000001`;
    world.slack.messages.push({ ts, channel: 'C0001', text: 'x', blocks: [], bot_id: 'B9999', metadata });
    await world.notify(requests, { key, attempt: 2 });
    expect(world.slack.posts.map(({ bot_id: id }) => id)).toEqual(['B9999', 'B0001']);
  });

  test('a call that is refused for its rate does not wait in its slot: the error says for how long', async () => {
    const { requests } = await ask(pay('bob'));
    world.slack.fail('chat.postMessage', 'away for an hour');
    await expect(world.notify(requests)).rejects.toMatchObject({ retryAfterMs: 3_600_000 });
    await world.notify(requests, { attempt: 2 });
    expect(world.slack.posts).toHaveLength(1);
  });

  test('a message that Slack refuses as it is goes out in its short form, with a link and without buttons', async () => {
    const { requests } = await ask(pay('bob'));
    world.slack.fail('chat.postMessage', { error: 'msg_too_long' });
    const sent = await world.notify(requests);
    const [post] = world.slack.posts;
    expect(JSON.stringify(post!.blocks)).toContain(`digest ${requests[0]!.digest.slice(0, 12)}`);
    expect(JSON.stringify(post!.blocks)).not.toContain('"approve"');
    await world.settle(
      { ...requests[0]!, settled: { outcome: 'denied', runs: false, settledAt: '2030-01-01T00:00:00Z' } },
      sent,
    );
    expect(JSON.stringify(world.slack.posts[0]!.blocks)).toContain('denied');
  });

  test('says what to do', async () => {
    const { requests } = await ask(pay('bob'));
    const { slackChannel } = await import('../../../src/adapters/slack/slack-channel.ts');
    const elsewhere = slackChannel({ ...world.settings, channel: 'C9999' });
    const context = {
      step: { kind: 'asked' },
      key: 'k',
      attempt: 1,
      requests,
      signal: new AbortController().signal,
    } as const;
    await expect(elsewhere.notify!(requests[0]!, context)).rejects.toThrow(
      'Slack did not carry out chat.postMessage for channel C9999: channel_not_found; check the id of the channel, and invite the app to it if it is private.',
    );
    const unknown = slackChannel({ ...world.settings, token: 'xoxb-another-token' });
    const refusal = await Promise.resolve(unknown.notify!(requests[0]!, context)).catch((error: unknown) => error);
    expect(String(refusal)).toMatch(/invalid_auth; check the token\.$/);
    expect(JSON.stringify(refusal)).not.toContain('another-token');
  });
});

describe('a request that still waits', () => {
  test('is named in the thread of its message and in the channel, once', async () => {
    const { requests } = await ask(pay('bob'));
    const sent = (await world.notify(requests))!;
    const before = world.slack.messages.length;
    const key = randomUUID();
    const step = { kind: 'escalated', to: ['bob', 'group:finance'] } as const;
    for (const attempt of [1, 2]) await world.notify(requests, { sent, step, key, attempt });
    expect(world.slack.messages).toHaveLength(before + 1);
    const { thread_ts: thread, ...reminder } = world.slack.messages.at(-1)!;
    expect(thread).toBe(world.slack.posts[0]!.ts);
    expect(JSON.stringify(reminder.blocks)).toContain('Escalated to bob, group:finance.');
  });

  test('is shown in full where it was not shown before', async () => {
    const { requests } = await ask(pay('bob'));
    await world.notify(requests, { step: { kind: 'escalated', to: ['bob'] } });
    expect(openIn(world.slack.posts[0]!)).toEqual([requests[0]!.requestId]);
  });
});

const settled = { outcome: 'expired' as const, runs: false, settledAt: '2030-01-01T00:00:00Z' };
const callsOf = (method: string): number => world.slack.calls.filter((each) => each === method).length;

describe('a message whose thread could not be completed, in any attempt', () => {
  async function failing(): Promise<{ requests: ApprovalDetails[] }> {
    const { requests } = await ask(pay('bob'));
    const key = randomUUID();
    world.slack.failReplies = true;
    for (const attempt of [1, 2, 3, 4, 5]) {
      const attempts = world.notify(requests, { key, attempt });
      await expect(attempts).rejects.toThrow(/^Slack did not carry out chat.postMessage/);
    }
    world.slack.failReplies = false;
    expect(world.slack.messages).toHaveLength(1);
    return { requests };
  }

  test('loses its buttons once the request is settled', async () => {
    const { requests } = await failing();
    await world.settle({ ...requests[0]!, settled }, undefined);
    const [message] = world.slack.posts as [SlackMessageInTest];
    expect([openIn(message), settledIn(message)]).toEqual([[], [requests[0]!.requestId]]);
  });

  test('is not posted once more by a reminder', async () => {
    const { requests } = await failing();
    await world.notify(requests, { step: { kind: 'reminded' } });
    expect(world.slack.posts).toHaveLength(1);
    expect(world.slack.messages[1]).toMatchObject({ thread_ts: world.slack.posts[0]!.ts });
  });
});

describe('calls of the API', () => {
  test('ten requests that are settled together take two, however many workers write', async () => {
    const { requests } = await ask(...Array.from({ length: 10 }, (_, index) => pay(`payee-${index}`)));
    const sent = await world.notify(requests);
    const all = requests.map((each) => ({ ...each, settled }));
    world.slack.calls.splice(0);
    for (const each of all) await world.settle(each, sent, all);
    expect(world.slack.calls).toEqual(['conversations.history', 'chat.update']);
    expect(settledIn(world.slack.posts[0]!)).toHaveLength(10);

    const { slackChannel } = await import('../../../src/adapters/slack/slack-channel.ts');
    const other = slackChannel(world.settings);
    const context = { key: 'k', attempt: 1, requests: all, signal: new AbortController().signal };
    for (const each of all) await other.settled!(each, settled, { ...context, ...(sent !== undefined && { sent }) });
    expect([callsOf('conversations.history'), callsOf('chat.update')]).toEqual([2, 1]);
  });

  test('a message is found on a later page of the history', async () => {
    const { requests } = await ask(pay('bob'));
    const key = randomUUID();
    await world.notify(requests, { key });
    for (const to of ['carl', 'dora'])
      await world.notify([{ ...requests[0]!, requestId: randomUUID().replaceAll('-', ''), arguments: { to } }]);
    const before = world.slack.messages.length;
    world.slack.largestPage = 1;
    await world.notify(requests, { key, attempt: 2 });
    world.slack.largestPage = 1_000;
    expect(world.slack.messages).toHaveLength(before);
  });
});

test('texts with entities are written back as they were, and each message has a title of its own', async () => {
  const { requests } = await ask(pay('Smith & <Sons>'), pay('Q&amp;A'));
  const sent = await world.notify(requests);
  const [first, second] = requests.map((each) => ({ ...each, settled: { ...settled, reason: 'x < y & z' } }));
  await world.settle(first!, sent, [first!, requests[1]!]);
  await world.settle(second!, sent, [first!, second!]);
  const [message] = world.slack.posts as [SlackMessageInTest];
  expect(settledIn(message)).toHaveLength(2);
  expect(textOf(message)).toContain('Smith & <Sons>');
  expect(textOf(message)).toContain('x < y & z');
  expect(textOf(message)).not.toMatch(/&amp;(?:amp|lt|gt);|&lt;|&gt;/);
  expect(message.text).toBe('2 approvals of pay, asked by tester');
});

test('more requests than a message holds: an update leaves each message its own title', async () => {
  const { requests } = await ask(pay('bob'));
  const many = Array.from({ length: 11 }, (_, index) => {
    return { ...requests[0]!, requestId: `${index}`.padStart(8, '0').padEnd(32, 'b') };
  });
  const sent = await world.notify(many);
  await world.settle({ ...many[10]!, settled }, sent, many);
  expect(world.slack.posts.map(({ text }) => text)).toEqual([
    '10 approvals of pay, asked by tester',
    'Approval of pay, asked by tester',
  ]);
});

test.each([
  ['without replies', false],
  ['with replies, of which Slack keeps a tombstone', true],
])('a message that somebody deleted is left alone: %s', async (_, hasReplies) => {
  const { requests } = await ask(pay('bob'));
  const sent = await world.notify(requests);
  if (!hasReplies) world.slack.messages.splice(1);
  world.slack.remove(world.slack.posts[0]!);
  world.slack.calls.splice(0);
  await world.settle({ ...requests[0]!, settled }, sent);
  expect(world.slack.calls).toEqual(['conversations.history']);
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { slackApp, slackChannel } from '../../../src/adapters/slack/slack-channel.ts';
import type {
  SlackChannelSettings,
  SlackSettings,
  SocketListening,
} from '../../../src/adapters/slack/slack-settings.ts';
import type { ChatApp, ChatConnection, ChatDecision, ChatGateway } from '../../../src/channels/chat-app.ts';
import { channelRequest, notifyContext } from '../../channels/channel-request.ts';
import { eventually } from '../../support/eventually.ts';
import { SlackServer, type SlackMessageInTest } from './slack-server.ts';

let slack: SlackServer;
let settings: SlackChannelSettings & SocketListening;
let message: SlackMessageInTest;
let decisions: ChatDecision[];
let lines: string[];
let connections: ChatConnection[];
/** Decisions wait for it. */
let held: Promise<void> | undefined;
const ann = { id: 'UANN' };

beforeEach(async () => {
  slack = await SlackServer.start();
  [decisions, lines, connections, held] = [[], [], [], undefined];
  settings = {
    name: 'team',
    token: slack.token,
    appToken: slack.appToken,
    channel: slack.channel,
    gatewayUrl: 'https://approvals.example.com',
    apiUrl: slack.apiUrl,
  };
  const request = channelRequest();
  await slackChannel(settings).notify!(request, notifyContext([request]));
  message = slack.posts[0]!;
  slack.calls.splice(0);
});
afterEach(async () => {
  await Promise.all(connections.map((each) => each.close()));
  await slack.close();
});

const gateway: ChatGateway = {
  personOf: async () => ({
    id: 'ann',
    decide: async (_workflowId, decision) => {
      await held;
      decisions.push(decision);
      return { requestId: decision.requestId, accepted: true, outcome: 'approved', message: 'It counts.' };
    },
  }),
  linkUrl: async () => 'https://approvals.example.com/slack/link',
  request: async () => channelRequest(),
  log: (line) => void lines.push(line),
};
function connect(entries: readonly SlackSettings[] = [settings]): ChatApp {
  const app = slackApp(entries);
  connections.push(app.connect!(gateway));
  return app;
}
function payloadOf({ body }: { body: string }): unknown {
  return JSON.parse(new URLSearchParams(body).get('payload')!);
}
const click = (): unknown => payloadOf(slack.click(ann, message, 'approve'));
const told = (count = 1) =>
  eventually('what was told', () => slack.ephemerals.length >= count && slack.ephemerals.map(({ text }) => text));
const counts = 'Your answer counts: approved. You answered as ann.';

test('an app over Socket Mode takes nothing over HTTP, and opens one connection for all its entries', async () => {
  const app = connect([settings, { ...settings, name: 'other' }]);
  expect(Object.keys(app).toSorted()).toEqual(['connect', 'drain']);
  await slack.sockets.connected();
  expect(await slack.sockets.send(click())).toEqual({});
  expect(await told()).toEqual([counts]);
  expect(slack.sockets.opened).toBe(1);
  expect(lines.at(-1)).toBe("Slack's Socket Mode is connected, for team, other.");
});

test('a connection that ends while a click is on its way: the decision counts once and is told once', async () => {
  connect();
  await slack.sockets.connected();
  const holding = Promise.withResolvers<void>();
  held = holding.promise;
  const [first] = slack.sockets.open;
  const answer = slack.sockets.send(click());
  await sleep(100);
  slack.sockets.refresh();
  // The next one is there at once.
  await eventually('the next connection', () => slack.sockets.opened === 2 && !slack.sockets.open.includes(first!));
  holding.resolve();
  expect(await answer).toBeUndefined();
  expect(await told()).toEqual([counts]);
  expect(await slack.sockets.send(click())).toEqual({});
  expect(await told(2)).toEqual([counts, counts]);
  expect(decisions).toHaveLength(2);
  // A refresh is nothing that an operator has to know.
  expect(lines).toHaveLength(1);
});

test('what is wrong with an edit is told by message if the connection ends before it can be shown in the window', async () => {
  connect();
  await slack.sockets.connected();
  await slack.sockets.send(payloadOf(slack.click(ann, message, 'edit')));
  const [view] = await eventually('the window', () => slack.views.length > 0 && slack.views);
  const wrong = payloadOf(slack.submit(ann, view!, '{'));
  expect(await slack.sockets.send(wrong)).toMatchObject({
    response_action: 'errors',
    errors: { answer: expect.any(String) },
  });
  expect(slack.ephemerals).toEqual([]);
  const [over] = slack.sockets.open;
  slack.sockets.frame(
    JSON.stringify({ envelope_id: 'no-body', type: 'interactive', payload: wrong, accepts_response_payload: false }),
    over,
  );
  expect((await told())[0]).toMatch(/^arguments/);
});

test('the same envelope twice is one decision', async () => {
  connect();
  await slack.sockets.connected();
  const payload = click();
  await slack.sockets.send(payload, { id: 'same' });
  await slack.sockets.send(payload, { id: 'same' });
  await told(2);
  expect(new Set(decisions.map(({ decisionId }) => decisionId)).size).toBe(1);
});

test('of two gateways either one takes a click', async () => {
  connect();
  connect();
  await slack.sockets.connected(2);
  for (const over of slack.sockets.open) expect(await slack.sockets.send(click(), { over })).toEqual({});
  expect(await told(2)).toEqual([counts, counts]);
  expect(decisions).toHaveLength(2);
});

test('frames that are no answers are acknowledged or ignored', async () => {
  connect([settings, { ...settings, name: 'elsewhere', appToken: 'xapp-of-another-app' }]);
  await slack.sockets.connected();
  slack.sockets.frame('{');
  slack.sockets.frame('"hello"');
  for (const type of ['slash_commands', 'interactive', 'something_new']) {
    expect(await slack.sockets.send({ type: 'view_closed' }, { type })).toEqual({});
  }
  expect(await slack.sockets.send(null)).toEqual({});
  expect(await slack.sockets.send({ event: { type: 'message' } }, { type: 'events_api' })).toEqual({});
  expect(decisions).toEqual([]);
  // A button of an entry whose app is another one.
  const text = JSON.stringify(click()).replace(String.raw`[\"team\"`, String.raw`[\"elsewhere\"`);
  await slack.sockets.send(JSON.parse(text));
  expect(await told()).toEqual(['Nothing was changed: the gateway does not have this channel any more.']);
});

describe('Slack that does not let the gateway in', () => {
  test.each<[string, (() => void)[], RegExp]>([
    ['answers 500', [() => slack.fail('apps.connections.open', 'status-500')], /status code: 500|500/],
    ['cannot be reached', [() => slack.fail('apps.connections.open', 'down')], /is not connected, for team: /],
    [
      'has an error',
      [() => slack.fail('apps.connections.open', { error: 'internal_error' })],
      /is not connected, for team: internal_error\.$/,
    ],
    [
      'does not know the token, then does',
      [() => slack.fail('apps.connections.open', { error: 'invalid_auth' })],
      /invalid_auth; check the app-level token\.$/,
    ],
    ['has had too many', [() => slack.fail('apps.connections.open', 'rate-limited')], /is not connected/],
  ])('%s: it tries again, says why once, and comes back', async (_, faults, problem) => {
    for (const fault of faults) fault();
    connect();
    await slack.sockets.connected();
    expect(await slack.sockets.send(click())).toEqual({});
    expect(lines).toEqual([expect.stringMatching(problem), "Slack's Socket Mode is connected, for team."]);
  });

  test('Socket Mode is switched off: its log says what to do', async () => {
    connect();
    await slack.sockets.connected();
    slack.sockets.refresh('link_disabled');
    await eventually('the line', () => lines.length >= 2);
    expect(lines[1]).toBe(
      "Slack's Socket Mode is not connected, for team: link_disabled; enable Socket Mode in the settings of the app.",
    );
  });

  test('a token that stays wrong is tried ever more rarely, and named once', async () => {
    const wrong: SlackSettings = { ...settings, appToken: 'xapp-wrong' };
    // Waits are spread by chance, here not.
    vi.spyOn(Math, 'random').mockReturnValue(0);
    connections.push(slackApp([wrong]).connect!(gateway));
    const calledMs: number[] = [];
    for (const count of [1, 2, 3, 4, 5]) {
      await eventually(`call ${count}`, () => slack.calls.length >= count);
      calledMs.push(Date.now());
    }
    // Each wait is twice as long as the one before.
    const waits = calledMs.slice(1).map((atMs, index) => atMs - calledMs[index]!);
    expect(waits[3]! / waits[0]!).toBeGreaterThan(1.2);
    expect(lines).toEqual([expect.stringContaining('invalid_auth')]);
    expect(lines[0]).not.toContain('xapp-wrong');
  });
});

test('no failure of a connection ends the process', async () => {
  // Jest hides a rejection that nobody handles; in a process of its own it is the end.
  const code = `
    import { slackApp } from ${JSON.stringify(new URL('../../../src/adapters/slack/slack-channel.ts', import.meta.url).href)};
    const gateway = { log: (line) => console.log(line) };
    const connection = slackApp([${JSON.stringify(settings)}]).connect(gateway);
    process.stdin.once('data', () => connection.close().then(() => process.stdin.unref()));
  `;
  slack.fail('apps.connections.open', 'status-500');
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code]);
  const ended = once(child, 'exit');
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => output.push(String(data)));
  await slack.sockets.connected();
  slack.sockets.frame('{');
  const [socket] = slack.sockets.open;
  socket!.terminate();
  await eventually('the next connection', () => slack.sockets.opened === 2 && slack.sockets.open.length === 1);
  slack.fail('apps.connections.open', 'down');
  slack.sockets.refresh();
  await eventually('the one after', () => slack.sockets.opened === 3 && slack.sockets.open.length === 1);
  child.stdin.write('stop\n');
  expect(await ended).toEqual([0, null]);
  expect(output.join('')).not.toMatch(/UnhandledPromiseRejection|at .*:\d+:\d+/);
  expect(slack.sockets.open).toEqual([]);
});

describe('a gateway that stops', () => {
  async function close(): Promise<void> {
    await Promise.all(connections.splice(0).map((each) => each.close()));
  }
  /** The gateway's own limits for Slack never come: only its stop ends what it waits for. */
  function withoutTimeouts(): void {
    vi.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal);
  }

  test('closes its connection, and waits for the click that it has taken', async () => {
    const app = connect();
    await slack.sockets.connected();
    const holding = Promise.withResolvers<void>();
    held = holding.promise;
    await slack.sockets.send(click());
    await close();
    await eventually('the end of the connection', () => slack.sockets.open.length === 0);
    let isDrained = false;
    const drained = app.drain().then(() => {
      isDrained = true;
    });
    await sleep(100);
    expect(isDrained).toBe(false);
    holding.resolve();
    await drained;
    expect(slack.ephemerals.map(({ text }) => text)).toEqual([counts]);
  });

  test('while it waits for Slack', async () => {
    slack.fail('apps.connections.open', 'away for an hour');
    connect();
    await eventually('the line', () => lines.length === 1);
    await close();
    expect(slack.calls).toHaveLength(1);
  });

  test('while Slack does not say hello', async () => {
    withoutTimeouts();
    slack.sockets.saysHello = false;
    connect();
    await eventually('a connection', () => slack.sockets.opened === 1);
    await close();
  });

  test('while Slack does not answer', async () => {
    withoutTimeouts();
    const release = slack.hold('apps.connections.open');
    connect();
    await eventually('a call', () => slack.calls.length === 1);
    await close();
    release();
    await sleep(200);
    expect(slack.sockets.opened).toBe(0);
  });
});

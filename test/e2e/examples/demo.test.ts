import { afterEach, expect, test } from 'vitest';
import {
  chunk,
  reply,
  startChatServer,
  startStream,
  toolDelta,
  usageChunk,
} from '../../support/chat-completions-server.ts';
import { DemoProcess, type DemoProcessOptions } from './demo-process.ts';
import { eventually } from '../../support/eventually.ts';

/** `npm run demo` as people and scripts use it. */

const demos: DemoProcess[] = [];

function demo(words: string[], options: DemoProcessOptions = {}): DemoProcess {
  const started = new DemoProcess(words, options);
  demos.push(started);
  return started;
}

afterEach(async () => {
  for (const each of demos.splice(0)) await each.dispose();
});

test('--yes plays from start to end, for people', async () => {
  const { ended, stdout, stderr, left } = await finished(demo(['--yes'], { input: '' }));
  expect({ ended, stderr, left }).toEqual({ ended: 0, stderr: '', left: [] });
  const expected = [
    /server {3}Temporal on 127\.0\.0\.1:\d+/,
    /model {4}scripted: examples\/tidy\/turns\.yaml \(set OPENAI_API_KEY for a real one\)/,
    /✓ allow {2}list_files\(\)\n +the default for tools that only read/,
    /✓ allow {2}move_file\(from: IMG_0412\.jpg/,
    /✗ deny {3}run_command\(program: rm, .*\n +rule no-rm: Delete with delete_file/,
    /\? ask {4}delete_file\(path: report \(copy\)\.txt\)\n +rule deleting: A deleted file is gone/,
    /kill -9 {2}worker \d+ is dead/,
    /inbox {4}still open: delete_file/,
    /worker {3}process \d+ takes over/,
    /decision approved by --yes/,
    /counted {2}delete_file ran once/,
    /look {5}http:\/\/127\.0\.0\.1:\d+\/namespaces\/default\/workflows\/run-tidy-[0-9a-f]+\n +npm run countersign -- show run-tidy-/,
    /nothing is left behind\./,
  ];
  let rest = stdout;
  for (const part of expected) {
    expect(rest).toMatch(part);
    rest = rest.slice(rest.search(part));
  }
  expect(stdout.split('\n').length).toBeLessThan(45);
});

test('--json reports the same for programs, and --keep leaves the UI open until Ctrl-C', async () => {
  const ran = demo(['--yes', '--json', '--keep'], { input: '' });
  const [links] = await eventually('the links', () => ran.eventsOf('links').length > 0 && ran.eventsOf('links'));
  expect((await fetch(String(links!.url))).status).toBe(200);
  ran.interrupt();
  const { ended, left } = await finished(ran);
  expect({ ended, left }).toEqual({ ended: 0, left: [] });
  expect(ran.stdout.split('\n').filter((line) => line !== '' && !line.startsWith('{'))).toEqual([]);
  // Killed before listed, listed before the next worker.
  const names = ran.events.map(({ event }) => event);
  const middle = ['worker', 'run', 'killed', 'listed', 'worker', 'asking', 'decided', 'counted', 'result', 'gone'];
  expect(names.filter((name) => middle.includes(name))).toEqual(middle);
  expect(ran.eventsOf('ruling').map(({ action, tool }) => `${String(action)} ${String(tool)}`)).toEqual([
    'allow list_files',
    'allow move_file',
    'allow move_file',
    'deny run_command',
    'ask delete_file',
  ]);
  const [first, second] = ran.eventsOf('worker');
  expect(first?.pid).not.toBe(second?.pid);
  expect(ran.eventsOf('counted')).toMatchObject([{ tool: 'delete_file', times: 1 }]);
});

test('an empty or unknown answer approves nothing; at the end of input it denies and says how to approve', async () => {
  const ran = demo(['--json'], { input: '\nmaybe\nA\n' });
  const { ended, left } = await finished(ran);
  expect({ ended, left }).toEqual({ ended: 0, left: [] });
  expect(ran.stderr).toContain('Please answer a (approve) or d (deny).');
  expect(ran.eventsOf('nobody')).toHaveLength(1);
  expect(ran.eventsOf('decided')).toMatchObject([{ approved: false }]);
  expect(ran.eventsOf('counted')).toMatchObject([{ tool: 'delete_file', times: 0 }]);
  expect(ran.eventsOf('result')).toMatchObject([{ output: expect.stringContaining('Denied: Nobody was there') }]);
});

test.each(['server', 'killed', 'asking'])('Ctrl-C after %s: exit code 130, and nothing is left', async (name) => {
  const ran = demo(['--json']);
  await eventually(name, () => ran.eventsOf(name).length > 0);
  ran.interrupt();
  ran.interrupt(); // npm forwards the signal that the terminal has already sent.
  const { ended, left, stderr } = await finished(ran);
  expect({ ended, left, stderr: stderr.includes('Error') }).toEqual({ ended: 130, left: [], stderr: false });
});

test('a real model is used if one is named; each request is asked about, and its worker dies once', async () => {
  const server = await startChatServer();
  const turns = [
    [{ id: 'one', name: 'delete_file', arguments: '{"path":"todo.txt"}' }],
    [{ id: 'two', name: 'run_command', arguments: '{"program":"ls"}' }],
  ];
  server.answer((response, { body }) => {
    const calls = turns[body.messages.filter(({ role }) => role === 'assistant').length];
    if (body.model !== 'a-model') return reply(response, 404, {});
    const stream = startStream(response);
    if (calls === undefined) stream.send(chunk({ content: 'All tidy.' }), chunk({}, 'stop'));
    else stream.send(...calls.map((call, index) => toolDelta(index, call)), chunk({}, 'tool_calls'));
    stream.send(usageChunk(1, 1));
    stream.done();
  });
  try {
    const env = { OPENAI_BASE_URL: server.baseURL, OPENAI_API_KEY: 'a-key', COUNTERSIGN_MODEL: 'a-model' };
    const ran = demo(['--json'], { input: 'y\nn\n', env });
    const { ended, left } = await finished(ran);
    expect({ ended, left }).toEqual({ ended: 0, left: [] });
    expect(ran.eventsOf('folder')).toMatchObject([{ model: 'a-model', scripted: false }]);
    expect(ran.eventsOf('killed')).toHaveLength(1);
    expect(ran.eventsOf('counted')).toMatchObject([
      { tool: 'delete_file', times: 1 },
      { tool: 'run_command', times: 0 },
    ]);
    expect(ran.eventsOf('result')).toMatchObject([{ status: 'completed', output: 'All tidy.' }]);
    expect(server.requests[0]?.headers.authorization).toBe('Bearer a-key');
    expect(ran.stdout).not.toContain('a-key');
  } finally {
    await server.close();
  }
});

test.each([
  [['--quick'], {}, 2, `error: The demo knows --yes, --keep, --json and --help, not '--quick'.\n`],
  [['--yes'], { OPENAI_BASE_URL: 'nonsense' }, 1, /^error: .*baseURL must be an http or https URL.*\n$/],
  [
    ['--yes'],
    { COUNTERSIGN_TEMPORAL_BINARY: '/nowhere' },
    1,
    /^error: COUNTERSIGN_TEMPORAL_BINARY names \/nowhere, .*\n$/,
  ],
])('%j with %j: one sentence', async (words, env, exitCode, sentence) => {
  const ran = demo(words, { input: '', env });
  const { ended, left, stderr } = await finished(ran);
  expect({ ended, left }).toEqual({ ended: exitCode, left: [] });
  expect(stderr).toMatch(sentence);
});

async function finished(ran: DemoProcess) {
  const ended = await ran.ended();
  return { ended, stdout: ran.stdout, stderr: ran.stderr, left: await ran.left() };
}

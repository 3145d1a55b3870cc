import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventPrinter } from '../../../packages/cli/src/runs/run-views.ts';
import type { RawResponseEvent, RecordedEvent, RunEvent, RunItem } from '../../../src/events/run-event.ts';
import { eventually } from '../../support/eventually.ts';
import { temporal } from '../../support/temporal-cli.ts';
import { type World, openWorld } from '../../support/world.ts';
import { cli, jsonLines, startCli, terminal } from './support.ts';

/** `countersign watch`, `countersign runs` and `countersign show --events`. */

function printed(events: readonly RunEvent[], width = 60): string {
  let text = '';
  const output = {
    ...terminal(width),
    line: (line: string) => {
      text += `${line}\n`;
    },
    write: (part: string) => {
      text += part;
    },
  };
  const print = eventPrinter(output, {});
  for (const event of events) void print(event);
  return text;
}

const place = { id: 'a.1.0', workflowId: 'run-1', at: '2026-01-02T03:04:05.000Z' };
const item = (of: RunItem): RecordedEvent => ({ type: 'RunItemEvent', ...place, item: of });
const says = (content: string, more: { outputProblem?: string } = {}): RecordedEvent =>
  item({ type: 'message', role: 'assistant', content, turn: 1, ...more });
const token = (offset: number, delta: string, hidden?: number): RawResponseEvent => ({
  type: 'RawResponseEvent',
  workflowId: 'run-1',
  at: place.at,
  turn: 1,
  offset,
  delta,
  ...(hidden !== undefined && { hidden }),
});

describe('what people see', () => {
  test.each<[name: string, events: RunEvent[], text: string]>([
    [
      'messages',
      [item({ type: 'message', role: 'user', content: 'a\nb' }), says('c')],
      'user      a\nb\nmodel     c\n',
    ],
    ['what was streamed is not repeated', [token(0, 'hel'), token(3, 'lo'), says('hello')], 'model     hello\n'],
    ['what was streamed in part is', [token(0, 'hel'), says('hello')], 'model     hel\nmodel     hello\n'],
    [
      'hidden text is counted, and shown in the end',
      [token(5, 'lo', 5), says('hihello')],
      'model     (5 characters before this are not shown) lo\nmodel     hihello\n',
    ],
    [
      'a final answer that does not fit, streamed or not',
      [says('c', { outputProblem: 'output: no\n' }), token(0, 'hello'), says('hello', { outputProblem: 'output: no' })],
      'model     c\n(asked again: output: no\\n)\nmodel     hello\n(asked again: output: no)\n',
    ],
    [
      'an answer that starts over',
      [token(0, 'hel'), token(0, ''), token(0, 'bye'), says('bye')],
      'model     hel\nthe model starts over\nmodel     bye\n',
    ],
    [
      'a call and its result, cut to the line',
      [
        item({ type: 'tool_call', callId: '1.1', toolName: 'pay', arguments: { to: 'x'.repeat(100) } }),
        item({ type: 'tool_result', callId: '1.1', toolName: 'pay', content: 'paid\n', isError: false, ran: 'yes' }),
      ],
      `call      1.1 pay {"to":"${'x'.repeat(34)}…\nresult    1.1 pay: paid\\n\n`,
    ],
    [
      'a result that is withheld',
      [
        item({
          type: 'tool_result',
          callId: '1.1',
          toolName: 'pay',
          content: 'the tool ran',
          isError: false,
          ran: 'yes',
          withheld: true,
        }),
      ],
      'withheld  1.1 pay: the tool ran\n',
    ],
    [
      'the result of an earlier call',
      [
        item({
          type: 'tool_result',
          callId: '2.1',
          toolName: 'look',
          content: 'seen',
          isError: false,
          ran: 'no',
          resultOf: '1.1',
        }),
      ],
      'cached    2.1 look, as 1.1: seen\n',
    ],
    [
      'text that would move the cursor',
      [
        says('\u001b[2J\rx'),
        token(0, '\u001b[2J'),
        item({ type: 'tool_call', callId: '1.1', toolName: '\u001b[1m\n', arguments: {} }),
        item({ type: 'handoff', from: 'a\u202e', to: 'b' }),
      ],
      'model     \\u{001B}[2J\\rx\nmodel     \\u{001B}[2J\ncall      1.1 \\u{001B}[1m\\n {}\nhandoff   a\\u{202E} hands the run over to b\n',
    ],
    [
      'nested run, gap, end',
      [
        item({ type: 'nested_run', callId: '1.1', workflowId: 'run-1/1.1' }),
        { type: 'gap', ...place, reason: 'retention', message: 'Gone.' },
        {
          type: 'RunCompleteEvent',
          ...place,
          status: 'failed',
          output: '',
          failure: { code: 'internal', message: 'why' },
        },
      ],
      'nested    1.1: countersign watch run-1/1.1\ngap       Gone.\nfailed    why\n',
    ],
    [
      'a decision',
      [
        {
          type: 'ApprovalResultEvent',
          ...place,
          requestId: 'f'.repeat(32),
          callId: '1.1',
          toolName: 'pay',
          decision: 'approved_always',
          reason: 'fine',
          reviewerId: 'ann',
          ran: 'pending',
        },
      ],
      'decided   1.1 pay approved always by ann: fine\n',
    ],
  ])('%s', (_name, events, text) => {
    expect(printed(events)).toBe(text);
  });
});

let world: World;
let flags: string[];
beforeAll(async () => {
  world = await openWorld();
  flags = ['--address', world.client.session.address];
});
afterAll(() => world.close());

const pay = { calls: [{ tool: 'pay', args: { to: 'ann', amount: 1 } }] };

test('watch follows a run to its end, and --after goes on from any event', async () => {
  const run = await world.start([pay, { text: 'done' }]);
  const watching = startCli(['watch', run.workflowId, '--json', ...flags]);
  await watching.shows('ApprovalRequestEvent');
  const [request] = await run.open();
  await world.client.decide({ requestId: request!.requestId, approved: true });
  const whole = await watching.ended;
  expect([whole.code, whole.stderr]).toEqual([0, '']);
  const events = jsonLines(whole);
  expect(events.at(-1)).toMatchObject({ type: 'RunCompleteEvent', status: 'completed', output: 'done' });
  const middle = events[2]!['id'] as string;
  const rest = await cli(['watch', run.workflowId, '--after', middle, '--json', 'id,type', ...flags]);
  expect(jsonLines(rest)).toEqual(events.slice(3).map(({ id, type }) => ({ id, type })));
  const shown = await cli(['show', run.workflowId, '--events', ...flags]);
  expect(jsonLines(shown)).toEqual(events);
});

test('Ctrl-C leaves the run alone and says how to go on', async () => {
  const run = await world.start([pay, { text: 'done' }]);
  const watching = startCli(['watch', run.workflowId, '--no-tokens', ...flags]);
  await watching.shows('ApprovalRequestEvent');
  watching.child.kill('SIGINT');
  const { code, stdout, stderr } = await watching.ended;
  expect(code).toBe(130);
  const { id } = JSON.parse(stdout.trim().split('\n').at(-1)!) as { id: string };
  expect(stderr).toContain(`countersign watch ${run.workflowId} --after ${id} --address`);
  await world.client.closeRun(run.workflowId);
});

test.each<[string[], number, RegExp]>([
  [['watch', 'no-such-run'], 3, /There is no run 'no-such-run'/],
  [['show', 'no-such-run', '--events'], 3, /There is no run 'no-such-run'/],
])('%j', async (words, code, message) => {
  const result = await cli([...words, ...flags]);
  expect([result.code, result.stdout]).toEqual([code, '']);
  expect(result.stderr).toMatch(message);
});

test.each<[string[], RegExp]>([
  [['show'], /Name the run/],
  [['show', '--file', 'x.json'], /add --events/],
  [['show', 'run-1', '--events', '--file', 'x.json'], /either a run or --file/],
  [
    ['show', '--events', '--file', '/no/such.json'],
    /The history \/no\/such\.json cannot be read: there is no such file/,
  ],
  [['runs', '--status', 'nonsense'], /Allowed choices/],
  [['runs', '--limit', '0'], /whole number from 1/],
])('refuses %j', async (words, message) => {
  const { code, stderr } = await cli(words);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});

test('an id that is no id of the run, and a file that is no history, are refused in one sentence', async () => {
  const run = await world.start([{ text: 'done' }]);
  await run.result();
  const watched = await cli(['watch', run.workflowId, '--after', 'x.1.0', ...flags]);
  expect([watched.code, watched.stderr.trim().split('\n').length]).toEqual([1, 1]);
  expect(watched.stderr).toContain(`'x.1.0' is not the id of an event of run '${run.workflowId}'`);
  const file = join(mkdtempSync(join(tmpdir(), 'countersign-test-')), 'history.json');
  for (const text of ['', '[]', '{"events":[{}]}', '{"events":5}', 'null']) {
    writeFileSync(file, text);
    const { code, stderr } = await cli(['show', '--events', '--file', file]);
    expect([text, code]).toEqual([text, 1]);
    expect(stderr).toContain('This is no history of a workflow');
  }
});

/** Temporal's UI can export a history like this. */
function withDecodedPayloads(text: string): string {
  return JSON.stringify(
    JSON.parse(text),
    (_name, value: { metadata?: { encoding?: string }; data?: string } | null) => {
      const { metadata, data } = value ?? {};
      const isPayload = metadata?.encoding !== undefined && typeof data === 'string';
      return isPayload ? (JSON.parse(Buffer.from(data, 'base64').toString()) as unknown) : value;
    },
  );
}

describe('the events of an exported history', () => {
  test.each<[string, string[], (text: string) => string]>([
    ['as the command line prints it', [], (text) => text],
    ['with plain payloads', ['--no-json-shorthand-payloads'], (text) => text],
    ['with payloads that a tool has decoded', [], withDecodedPayloads],
  ])('%s', async (_name, more, change) => {
    const run = await world.start([pay, { text: 'done' }]);
    const [request] = await run.open();
    await world.client.decide({ requestId: request!.requestId, approved: true });
    await run.result();
    const exported = await temporal(['workflow', 'show', '--workflow-id', run.workflowId, '--output', 'json', ...more]);
    expect(exported.exitCode).toBe(0);
    const file = join(mkdtempSync(join(tmpdir(), 'countersign-test-')), 'history.json');
    writeFileSync(file, change(exported.stdout));
    const fromFile = await cli(['show', '--events', '--file', file]);
    const live = await cli(['show', run.workflowId, '--events', ...flags]);
    expect(jsonLines(fromFile)).toEqual(jsonLines(live));
    expect(jsonLines(live)).toHaveLength(7);
  });
});

test('runs: by state and agent, page by page, the newest first', async () => {
  const waiting = await world.start([pay, { text: 'done' }]);
  await waiting.open();
  const done = await world.start([{ text: 'done' }]);
  await done.result();
  const ids = async (...words: string[]): Promise<unknown[]> => {
    const result = await cli(['runs', '--limit', '1000', ...words, ...flags]);
    expect(result.code).toBe(0);
    return jsonLines(result).map(({ workflowId }) => workflowId);
  };
  await eventually('the list', async () => (await ids('--status', 'waiting')).includes(waiting.workflowId));
  await eventually('the list', async () => (await ids('--status', 'completed')).includes(done.workflowId));
  expect(await ids('--status', 'running')).not.toContain(waiting.workflowId);
  expect(await ids('--agent', 'absent-agent')).toEqual([]);
  expect(await ids('--agent', 'tester')).toEqual(expect.arrayContaining([waiting.workflowId, done.workflowId]));
  const one = await cli(['runs', '--limit', '1', ...flags]);
  expect(jsonLines(one)).toHaveLength(1);
  expect(one.stderr).toContain('There are more');
  const rows = jsonLines(await cli(['runs', '--limit', '1000', ...flags]));
  const row = rows.find(({ workflowId }) => workflowId === waiting.workflowId);
  expect(row).toMatchObject({ status: 'waiting', open: 1, agent: 'tester', workflowType: 'agentRun' });
  await world.client.closeRun(waiting.workflowId);
});

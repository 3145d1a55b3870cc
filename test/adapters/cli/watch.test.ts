import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { watchApprovals } from '../../../packages/cli/src/inbox/watch-approvals.ts';
import type { ApprovalList, UnreadRun } from '../../../src/client/inbox/list-approvals.ts';
import { ProblemError } from '../../../src/core/base/problem.ts';
import type { ApprovalSummary } from '../../../src/contract.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { openWorld } from '../../support/world.ts';
import { cli, jsonLines, startCli, terminal } from './support.ts';
import { requestRow } from '../../support/requests.ts';

const row = (id: string, more: Partial<ApprovalSummary> = {}): ApprovalSummary =>
  requestRow({ requestId: id.repeat(32), digest: id.repeat(64), ...more });

const [a, b] = [row('a'), row('b')];
const later = row('a', { deadline: '2026-01-03T00:00:00.000Z' });
const lost = new ProblemError({ code: 'server_unreachable', message: 'No server \u001b[2J.' });

/** Watches these lists, one look after another, and returns what was printed. */
async function watched(
  looks: (ApprovalList | Error)[],
  output = terminal(),
): Promise<{ out: unknown[]; err: string[] }> {
  const stop = new AbortController();
  const printed = { out: [] as unknown[], err: [] as string[] };
  const list = async (): Promise<ApprovalList> => {
    const look = looks.shift()!;
    if (looks.length === 0) stop.abort();
    if (look instanceof Error) throw look;
    return look;
  };
  const recording = {
    ...output,
    line: (text: string) => void printed.out.push(text),
    json: (value: object) => void printed.out.push(value),
    note: (text: string) => void printed.err.push(text),
  };
  await watchApprovals(list, recording, { intervalMs: 1, stop: stop.signal });
  return printed;
}

const all = (...approvals: ApprovalSummary[]): ApprovalList => ({ approvals, unread: [], more: 0 });
const unreadRun = { workflowId: 'run-1', requestIds: [a.requestId], message: 'No codec \u001b[2J.' };

describe('JSON: one value for each change', () => {
  const json = { ...terminal(), forPeople: false };
  const said = async (looks: (ApprovalList | Error)[]) => {
    const { out, err } = await watched(looks, json);
    const changes = out.map((each) => {
      const { change, ...request } = each as ApprovalSummary & { change: string };
      return [change, request];
    });
    return { changes, err };
  };

  test.each<[string, (ApprovalList | Error)[], [string, ApprovalSummary | UnreadRun][]]>([
    ['nothing', [all(), all()], []],
    [
      'what is there at first',
      [all(a, b), all(a, b)],
      [
        ['appeared', a],
        ['appeared', b],
      ],
    ],
    [
      'appeared, changed, gone',
      [all(), all(a), all(later), all()],
      [
        ['appeared', a],
        ['changed', later],
        ['gone', later],
      ],
    ],
    [
      'gone before appeared',
      [all(a), all(b)],
      [
        ['appeared', a],
        ['gone', a],
        ['appeared', b],
      ],
    ],
    [
      'the same id in two runs',
      [all(a, { ...a, workflowId: 'x' }), all(a)],
      [
        ['appeared', a],
        ['appeared', { ...a, workflowId: 'x' }],
        ['gone', { ...a, workflowId: 'x' }],
      ],
    ],
    [
      'not gone while some cannot be read',
      [all(a), { ...all(), more: 1 }, all(a), all()],
      [
        ['appeared', a],
        ['gone', a],
      ],
    ],
    ['not gone while the server does not answer', [all(a), lost, all(a)], [['appeared', a]]],
  ])('%s', async (_name, looks, changes) => {
    expect((await said(looks)).changes).toEqual(changes);
  });

  test('an outage is reported once, and again after it has ended', async () => {
    const { err } = await said([all(), lost, lost, all(), lost, all()]);
    expect(err).toEqual(['No server \\u{001B}[2J.', 'No server \\u{001B}[2J.']);
  });

  test('a first list that cannot be read is an error, and so is a mistake of this program', async () => {
    await expect(watched([lost, all()])).rejects.toBe(lost);
    await expect(watched([all(), new TypeError('x'), all()])).rejects.toThrow('x');
  });
});

describe('a terminal: the list in place', () => {
  const top = '\u001b[H\u001b[J';
  const table = 'REQUEST   LEFT      CALL\n';
  const line = (id: string): string => `${id.repeat(8)}  no limit  Pay\n${' '.repeat(20)}agent clerk\n`;
  const end = 'Ctrl-C stops it.';

  test('drawn again only if it has changed', async () => {
    const { out } = await watched([all(), all(), all(a), all(a), lost, all(a)]);
    expect(out).toEqual([
      `${top}Nothing waits for approval.\n${end}`,
      `${top}${table}${line('a')}${end}`,
      `${top}${table}${line('a')}No server \\u{001B}[2J.\n${end}`,
      `${top}${table}${line('a')}${end}`,
    ]);
  });

  test('a run that cannot be read', async () => {
    const { out } = await watched([
      { ...all(b), unread: [unreadRun] },
      { ...all(), unread: [unreadRun] },
    ]);
    const sentence = `${a.requestId}: No codec \\u{001B}[2J.\n`;
    expect(out).toEqual([`${top}${table}${line('b')}${sentence}${end}`, `${top}${sentence}${end}`]);
  });

  test('as many rows as fit', async () => {
    const { out } = await watched([{ ...all(a, b, row('c')), more: 2 }, all(a)], { ...terminal(), height: 8 });
    expect(out[0]).toBe(`${top}${table}${line('a')}${line('b')}3 more are not shown.\n${end}`);
  });
});

test.each<[string[], string]>([
  [['--interval', '3s'], '--interval says how often --watch looks: add --watch.'],
  [['--watch', '--limit', '3'], "option '--watch' cannot be used with option '--limit <n>'"],
  [
    ['--watch', '--interval', '10ms'],
    "option '--interval <duration>' argument '10ms' is invalid. It must be at least 1s.",
  ],
])('%j: exit 2', async (flags, sentence) => {
  expect(await cli(['approvals', ...flags])).toEqual({ code: 2, stdout: '', stderr: `error: ${sentence}\n` });
});

describe('in a process of its own', () => {
  const world = forAllTests(() => openWorld());

  test('a request appears and is gone; Ctrl-C ends it with 0; history gets nothing', async () => {
    const call = { calls: [{ tool: 'pay', args: { to: 'ann', amount: 5 } }] };
    const run = await world.start([call, { text: 'done' }], { policy: { rules: [{ pattern: 'pay', action: 'ask' }] } });
    const { requestId } = (await run.open())[0]!;
    const events = async () => (await run.handle.describe()).historyLength;
    const before = await events();
    const flags = ['--run', run.workflowId, '--interval', '1s', '--json', 'change,requestId'];
    const watching = startCli(['approvals', '--watch', ...flags]);
    await watching.shows('appeared');
    expect(await events()).toBe(before);
    expect((await cli(['deny', requestId, '--run', run.workflowId])).code).toBe(0);
    await watching.shows('gone');
    watching.child.kill('SIGINT');
    const result = await watching.ended;
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(jsonLines(result)).toEqual(['appeared', 'gone'].map((change) => ({ change, requestId })));
  });

  test('a run that does not exist: exit 3, at once', async () => {
    expect(await cli(['approvals', '--watch', '--run', `nowhere-${randomUUID()}`])).toMatchObject({
      code: 3,
      stdout: '',
    });
  });
});

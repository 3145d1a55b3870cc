import { describe, expect, vi, test } from 'vitest';
import { WorkerLog } from '../../../packages/cli/src/serve/worker-log.ts';
import { waitingMessage } from '../../../src/core/ledger/waiting-for.ts';
import { terminal } from './support.ts';

const requestId = 'a'.repeat(32);
const notice = {
  requestId,
  workflowId: 'run-1',
  toolName: 'pay',
  argumentNames: ['to'],
  agentName: 'clerk',
  riskLevel: 'write',
  severity: 'medium',
  reason: 'why\u001b[2J',
  deadline: null,
  reviewers: ['ann'],
};
const added = { namespace: 'default', runId: 'x', [Symbol.for('log_timestamp')]: 1n };

function logged(forPeople: boolean): { log: WorkerLog; lines: string[] } {
  const lines: string[] = [];
  const output = { ...terminal(), forPeople, note: (text: string) => void lines.push(text) };
  return { log: new WorkerLog(output, { namespace: 'agents' }), lines };
}

test.each([
  [[], 1],
  [['desk'], 0],
])('carried by the channels %j: a line says so if there are none', (channels, count) => {
  const { log, lines } = logged(true);
  log.info(waitingMessage, { ...notice, ...added, channels });
  expect(lines.join('\n').split('no channel carries it: only the inbox has it').length - 1).toBe(count);
  const program = logged(false);
  program.log.info(waitingMessage, { ...notice, ...added, channels });
  expect(JSON.parse(program.lines[0]!)).toMatchObject({ channels });
});

test('for people: the call, and how to look and answer', () => {
  const { log, lines } = logged(true);
  log.info(waitingMessage, { ...notice, ...added });
  expect(lines).toEqual([
    [
      'waiting for approval: pay(to): why\\u{001B}[2J',
      `  look:    countersign approvals show ${requestId} --namespace agents`,
      `  answer:  countersign approve ${requestId} --namespace agents   or   countersign deny ${requestId} --namespace agents`,
    ].join('\n'),
  ]);
});

test('elsewhere: one JSON value, without what the logger adds', () => {
  const { log, lines } = logged(false);
  log.info(waitingMessage, { ...notice, ...added });
  expect(lines.map((line) => JSON.parse(line))).toEqual([{ change: 'appeared', ...notice }]);
  expect(lines.join('')).not.toContain('\u001b');
});

describe('other lines', () => {
  test.each<[boolean, 'info' | 'warn']>([
    [false, 'info'],
    [true, 'warn'],
  ])('written: %s, level %s', (isWritten, level) => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const { log, lines } = logged(true);
    log[level]('something else');
    const written = write.mock.calls.length;
    write.mockRestore();
    expect([lines, written]).toEqual([[], isWritten ? 1 : 0]);
  });
});

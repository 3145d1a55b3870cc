import { describe, expect, test } from '@jest/globals';
import { renderApproval, renderApprovals, renderWaiting } from '../../../src/adapters/cli/approval-views.ts';
import type { Output } from '../../../src/adapters/cli/output.ts';
import { renderResult, renderRun } from '../../../src/adapters/cli/run-views.ts';
import type { ApprovalDetails, ApprovalSummary } from '../../../src/contract.ts';

/** A terminal without colours. */
const output: Output = {
  forPeople: true,
  line: () => undefined,
  json: () => undefined,
  note: () => undefined,
  style: (_format, text) => text,
};

const hostile = 'x\u202e\u001b[2J\u200b\u0007\u{e0041}';
const nowMs = Date.parse('2026-01-02T03:00:00.000Z');
const requestId = '0123456789abcdef0123456789abcdef';

const row: ApprovalSummary = {
  requestId,
  workflowId: 'run-1',
  toolName: 'delete_file',
  riskLevel: 'destructive',
  agentName: 'tidy',
  callerUserId: null,
  rule: 'prod',
  reason: 'Production needs a person',
  requestedAt: '2026-01-02T02:59:00.000Z',
  deadline: '2026-01-02T03:04:09.500Z',
  digest: 'd'.repeat(64),
  argumentNames: ['path'],
  severity: 'high',
  shown: 'part',
};

const request: ApprovalDetails = {
  ...row,
  arguments: { path: '/tmp/a\nb', deep: { list: [1, null] } },
  assessment: {
    severity: 'high',
    reasons: [],
    affectedResources: [],
    reversible: false,
    recommendations: [],
    requiresApproval: true,
  },
  contextSummary: 'I will tidy up.',
  lineage: [],
  metadata: {},
  reviewers: [],
  shown: 'all',
};

describe('renderApprovals', () => {
  test('a table with what is needed to choose', () => {
    const other = { ...row, requestId: 'f'.repeat(32), deadline: null, argumentNames: ['a'.repeat(40)] };
    const past = { ...row, deadline: '2026-01-02T02:00:00.000Z', toolName: 'pay' };
    expect(renderApprovals(output, [row, other, past], nowMs).split('\n')).toEqual([
      'REQUEST                           TOOL         ARGUMENTS                       RISK         LEFT      AGENT  RUN',
      `${requestId}  delete_file  path                            destructive  4m10s     tidy   run-1`,
      `${'f'.repeat(32)}  delete_file  ${'a'.repeat(29)}…  destructive  no limit  tidy   run-1`,
      `${requestId}  pay          path                            destructive  passed    tidy   run-1`,
    ]);
  });

  test('nothing of a run reaches the terminal unescaped', () => {
    const bad = {
      ...row,
      requestId: hostile,
      toolName: hostile,
      agentName: hostile,
      workflowId: hostile,
      argumentNames: [hostile],
    };
    expect(renderApprovals(output, [bad as ApprovalSummary], nowMs)).toMatch(/^[\x20-\x7e\n…]+$/);
  });
});

describe('renderApproval', () => {
  test('everything a reviewer needs, and how to answer', () => {
    expect(renderApproval(output, request, { address: '127.0.0.1:1' }, nowMs).split('\n')).toEqual([
      `request   ${requestId}`,
      'run       run-1',
      'agent     tidy',
      'tool      delete_file',
      'risk      destructive (severity high)',
      'rule      prod',
      'reason    Production needs a person',
      'context   I will tidy up.',
      'asked     2026-01-02T02:59:00.000Z',
      'deadline  2026-01-02T03:04:09.500Z (4m10s)',
      `digest    ${'d'.repeat(64)}`,
      '',
      'arguments',
      '{',
      '  "path": "/tmp/a\\nb",',
      '  "deep": {',
      '    "list": [',
      '      1,',
      '      null',
      '    ]',
      '  }',
      '}',
      '',
      `approve:  countersign approve ${requestId} --run run-1 --address 127.0.0.1:1`,
      `deny:     countersign deny ${requestId} --run run-1 --address 127.0.0.1:1`,
    ]);
  });

  test('a settled one says how, and offers no answer', () => {
    const settled = {
      outcome: 'denied',
      runs: false,
      reason: 'no',
      reviewerId: 'ann',
      settledAt: '2026-01-02T02:59:30.000Z',
    } as const;
    const shown = renderApproval(output, { ...request, rule: null, settled }, {}, nowMs);
    expect(shown).toContain('rule      none: a risk default asks\n');
    expect(shown).toContain('settled   denied at 2026-01-02T02:59:30.000Z\nby        ann\nbecause   no\n');
    expect(shown).not.toContain('countersign approve');
  });

  test('nothing of a run reaches the terminal unescaped, nor a command that it changed', () => {
    const bad = {
      ...request,
      workflowId: hostile,
      agentName: hostile,
      toolName: hostile,
      rule: hostile,
      reason: hostile,
      callerUserId: hostile,
      contextSummary: hostile,
      requestedAt: hostile,
      deadline: hostile,
      digest: hostile,
      arguments: { [hostile]: hostile },
      settled: { outcome: 'denied', runs: false, reason: hostile, reviewerId: hostile, settledAt: hostile } as const,
    };
    expect(renderApproval(output, bad, {}, nowMs)).toMatch(/^[\x20-\x7e\n]+$/);
    const { settled: _, ...open } = bad;
    const shown = renderApproval(output, open, {}, nowMs);
    expect(shown).toMatch(/^[\x20-\x7e\n]+$/);
    expect(shown).toContain(`approve:  countersign approve ${requestId}\n`);
  });

  test.each([
    ['run-1', 'run-1'],
    ["it's; rm -rf $HOME", "'it'\\''s; rm -rf $HOME'"],
    ['$(date)', "'$(date)'"],
  ])('the command to type is quoted for a shell: %j', (workflowId, word) => {
    expect(renderApproval(output, { ...request, workflowId }, {}, nowMs)).toContain(
      `countersign deny ${requestId} --run ${word}`,
    );
  });
});

test('renderWaiting: one request in a run that goes on', () => {
  expect(renderWaiting(output, { ...row, reason: `why${hostile}` }, {}).split('\n')).toEqual([
    'waiting for approval: delete_file(path): whyx\\u{202E}\\u{001B}[2J\\u{200B}\\u{0007}\\u{E0041}',
    `  look:    countersign approvals show ${requestId}`,
    `  answer:  countersign approve ${requestId}   or   countersign deny ${requestId}`,
  ]);
});

describe('renderRun', () => {
  const usage = { inputTokens: 120, outputTokens: 40 };
  const outcomes = [{ callId: '1.1', toolName: 'read', outcome: 'allowed', ran: 'yes' } as const];

  test('a waiting run', () => {
    const view = {
      workflowId: 'run-1',
      status: 'waiting' as const,
      taskQueue: 'countersign',
      startedAt: '2026-01-02T02:00:00.000Z',
      open: [row],
      more: 2,
      run: {
        workflowId: 'run-1',
        agent: 'tidy',
        status: 'waiting' as const,
        turn: 1,
        links: 1,
        usage,
        counts: { calls: 5, asks: 2, open: 1, denials: 1, refused: 3 },
        outcomes,
        refused: { last: [], total: 3 },
      },
    };
    expect(renderRun(output, view, nowMs).split('\n').slice(0, 14)).toEqual([
      'run         run-1',
      'status      waiting',
      'agent       tidy',
      'started     2026-01-02T02:00:00.000Z',
      'task queue  countersign',
      'turns       1 (links of the chain: 1)',
      'calls       5, asked 2, open 1, denied 1; decisions refused 3',
      'tokens      120 in, 40 out',
      '',
      'CALL  TOOL  OUTCOME  RAN',
      '1.1   read  allowed  yes',
      '',
      'waiting for approval',
      'REQUEST                           TOOL         ARGUMENTS  RISK         LEFT   AGENT  RUN',
    ]);
    expect(renderRun(output, view, nowMs)).toMatch(/\nand 2 more$/);
  });

  test('one that cannot be asked, and one that failed, say why', () => {
    const view = { workflowId: hostile, taskQueue: hostile, startedAt: '2026', open: [], more: 0 };
    const alone = renderRun(output, { ...view, status: 'running', note: `No worker ${hostile}` }, nowMs);
    expect(alone).toContain('note        No worker x\\u{202E}');
    const failure = { code: 'internal' as const, message: `it broke ${hostile}` };
    const failed = renderRun(output, { ...view, status: 'failed', closedAt: '2027', failure }, nowMs);
    expect(failed).toContain('failed      it broke x\\u{202E}');
    expect(alone + failed).toMatch(/^[\x20-\x7e\n]+$/);
  });

  test('the result of a run keeps its lines and nothing else', () => {
    const result = { status: 'completed' as const, output: `one\ntwo ${hostile}`, usage, outcomes };
    expect(renderResult(output, result).split('\n')).toEqual([
      'CALL  TOOL  OUTCOME  RAN',
      '1.1   read  allowed  yes',
      '',
      'one',
      'two x\\u{202E}\\u{001B}[2J\\u{200B}\\u{0007}\\u{E0041}',
    ]);
    expect(renderResult(output, { ...result, status: 'limit', outcomes: [] })).toMatch(/^The run ended as limit\.\n/);
  });
});

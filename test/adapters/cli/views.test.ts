import { describe, expect, test } from 'vitest';
import { renderApprovals, renderInbox, renderWaiting } from '../../../packages/cli/src/inbox/approval-views.ts';
import { renderCard, renderRow } from '../../../packages/cli/src/inbox/card-view.ts';
import { escapeText } from '../../../src/core/base/text.ts';
import { instantText, terminalClock } from '../../../src/text/instant-text.ts';
import { renderResult, renderRun } from '../../../packages/cli/src/runs/run-views.ts';
import { renderChanges } from '../../../packages/cli/src/answers/decide.ts';
import { renderGrants } from '../../../packages/cli/src/answers/grants.ts';
import type { ApprovalDetails, ApprovalSummary, Grant, Settlement } from '../../../src/contract.ts';
import { terminal } from './support.ts';
import { requestDetails, requestRow } from '../../support/requests.ts';

const output = terminal();

const hostile = 'x\u202e\u001b[2J\u200b\u0007\u{e0041}';
const nowMs = Date.parse('2026-01-02T03:00:00.000Z');
const requestId = '0123456789abcdef0123456789abcdef';

const row = requestRow({
  requestId,
  toolName: 'delete_file',
  riskLevel: 'destructive',
  agentName: 'tidy',
  rule: 'prod',
  reason: 'Production needs a person',
  requestedAt: '2026-01-02T02:59:00.000Z',
  deadline: '2026-01-02T03:04:09.500Z',
  argumentNames: ['path'],
  severity: 'high',
});

const request = requestDetails({
  ...row,
  arguments: { path: '/tmp/a\nb', deep: { list: [1, null] } },
  assessment: {
    severity: 'high',
    reasons: ['it deletes a file', 'the file is outside of the folder'],
    affectedResources: ['file:/tmp/a', 'file:/tmp/b'],
    reversible: false,
    recommendations: ['look for a backup'],
    requiresApproval: true,
  },
  contextSummary: 'I will tidy up.',
  shown: 'all',
  always: { widest: 'call' },
});

describe('renderApprovals', () => {
  test('a table with the data needed to choose', () => {
    const other = {
      ...row,
      requestId: 'f'.repeat(32),
      deadline: null,
      severity: 'medium' as const,
      reviewers: ['group:finance', 'rita'],
      callerUserId: 'u-17',
      callerName: 'Dora May',
    };
    const past = { ...row, deadline: '2026-01-02T02:00:00.000Z', toolName: 'pay', reviewers: [] };
    expect(renderApprovals(output, [row, other, past], nowMs).split('\n')).toEqual([
      'REQUEST   LEFT        CALL',
      '01234567  4 min 10 s  Delete file (path)',
      '          high        agent tidy',
      'ffffffff  no limit    Delete file (path)',
      '                      waits for group finance, rita · asked by Dora May (u-17) · agent tidy',
      '01234567  passed      Pay (path)',
      '          high        anyone can answer · agent tidy',
    ]);
  });

  test.each([80, 120])('%i columns hold the sentence, its facts, and the whole id', (width) => {
    const shownArguments = {
      orderId: 'o-17',
      amount: '89.00 CHF',
      reason: 'The parcel came broken, and the second one too',
    };
    const long = {
      ...row,
      toolName: 'refund',
      shownArguments,
      notShown: [],
      shown: 'all' as const,
      reviewers: ['rita'],
    };
    const lines = renderApprovals(terminal(width), [long], nowMs).split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
    expect(lines[1]).toMatch(/^01234567 {2}4 min 10 s {2}Refund: orderId o-17, amount 89\.00 CHF, /);
    expect(lines[2]).toBe('          high        waits for rita · agent tidy');
  });

  test('no text of a run reaches the terminal unescaped', () => {
    const bad = {
      ...row,
      requestId: hostile,
      toolName: hostile,
      agentName: hostile,
      workflowId: hostile,
      argumentNames: [hostile],
      shownArguments: { [hostile]: hostile },
    };
    expect(renderApprovals(output, [bad as ApprovalSummary], nowMs)).toMatch(/^[\x20-\x7e\n…·]+$/);
  });
});

test('the list says of a request that nothing can approve it, and why', () => {
  const rows = [row, { ...row, requestId: 'f'.repeat(32), cannotBeApproved: `It needs \u001b[2J'ann'.` }];
  const lines = renderInbox(output, { approvals: rows, unread: [], more: 0 }, nowMs).split('\n');
  expect(lines.slice(5)).toEqual([String.raw`ffffffff: It needs \u{001B}[2J'ann'.`]);
});

/** On this terminal, at `nowMs`. */
function local(instant: string): string {
  return instantText(instant, terminalClock(nowMs));
}

describe('what is known without a worker', () => {
  const shown = { shownArguments: { path: 'C:\\\\temp', amount: '5' }, notShown: ['note'] };
  const known: ApprovalSummary = { ...row, argumentNames: ['path', 'note', 'amount'], ...shown };

  test('the table has the shown values, and names the other arguments', () => {
    expect(renderApprovals(output, [known], nowMs)).toContain('  Delete file: path C:\\\\temp, amount 5, and more\n');
  });

  test('the row names what is not shown, and how to approve it all the same', () => {
    expect(renderRow(output, known, {}, nowMs).split('\n').slice(-9)).toEqual([
      `digest    ${row.digest}`,
      '',
      'arguments',
      'path    C:\\\\temp',
      'amount  5',
      'not shown in full: note',
      '',
      `approve:  countersign approve ${requestId} --run run-1 --unseen`,
      `deny:     countersign deny ${requestId} --run run-1`,
    ]);
  });

  test('a row that shows everything needs no flag', () => {
    const text = renderRow(output, { ...known, shown: 'all', notShown: [] }, {}, nowMs);
    expect(text).not.toMatch(/not shown|--unseen/);
  });

  test('no text of a run reaches the terminal unescaped', () => {
    const texts = ['requestId', 'workflowId', 'toolName', 'agentName', 'reason', 'rule', 'callerUserId', 'digest'];
    const bad = Object.fromEntries(
      [...texts, 'riskLevel', 'severity', 'requestedAt', 'deadline'].map((name) => [name, hostile]),
    );
    const args = {
      shownArguments: { [hostile]: hostile },
      notShown: [hostile],
      argumentNames: [hostile],
      lineage: [hostile],
    };
    expect(renderRow(output, { ...row, ...bad, ...args }, {}, nowMs)).toMatch(/^[\x20-\x7e\n…]+$/);
  });
});

describe('renderCard', () => {
  test('everything that a reviewer needs, and how to answer', () => {
    expect(renderCard(output, request, { address: '127.0.0.1:1' }, { nowMs }).split('\n')).toEqual([
      'Delete file: path /tmp/a…, deep.list[0] 1, deep.list[1] null',
      '! What this call does may not be reversible.',
      '',
      'Arguments',
      'path',
      '│ /tmp/a',
      '│ b',
      'deep.list[0]  1',
      'deep.list[1]  null',
      '',
      'Why you are asked',
      'Reason   Production needs a person',
      'Noticed  It deletes a file',
      '         The file is outside of the folder',
      'Affects  File /tmp/a',
      '         File /tmp/b',
      'Advice   look for a backup',
      '',
      'Where it comes from',
      'Tool     delete_file',
      'Agent    tidy',
      'Run      run-1',
      'Rule     prod',
      'Risk     destructive, severity high',
      `Request  ${requestId}`,
      `Digest   ${'d'.repeat(64)}`,
      '',
      'What the model or its user wrote (not checked)',
      '│ I will tidy up.',
      '',
      'Time',
      `until ${local('2026-01-02T03:04:09.500Z')} (in 4 min 10 s), asked ${local('2026-01-02T02:59:00.000Z')}`,
      '',
      'What each answer does',
      "Approve    'delete_file' runs once, with exactly these arguments.",
      'Deny       It does not run. The model is told "Denied:" and your reason.',
      'Always     It runs, and so do later calls of this run with exactly these arguments.',
      'Edit       It runs with your arguments, if the policy allows these. The model is told.',
      'Respond    It does not run. The model gets your text as its result.',
      'No answer  It does not run. The model is told "Denied: no decision within 5m9.5s".',
      '',
      'The raw call',
      '--all shows it',
      '',
      `approve:  countersign approve ${requestId} --run run-1 --address 127.0.0.1:1`,
      `deny:     countersign deny ${requestId} --run run-1 --address 127.0.0.1:1`,
    ]);
  });

  test('--all shows the raw call', () => {
    const raw = '{"arguments":{"deep":{"list":[1,null]},"path":"/tmp/a\\nb"},"tool":"delete_file"}';
    expect(renderCard(output, request, {}, { nowMs, all: true })).toContain(`The raw call\n│ ${raw}\n`);
  });

  test('a settled request shows its settlement and offers no answer', () => {
    const settled = {
      outcome: 'denied',
      runs: false,
      reason: 'no',
      reviewerId: 'ann',
      settledAt: '2026-01-02T02:59:30.000Z',
    } as const;
    const shown = renderCard(output, { ...request, rule: null, settled }, {}, { nowMs });
    expect(shown).not.toContain('\nRule ');
    expect(shown).toContain(`Settled  denied, ${local(settled.settledAt)}\nBy       ann\nBecause  no\n`);
    expect(shown).not.toContain('countersign approve');
  });

  test('who is asked, who has answered, whose seat it is, what called it and what it replaces', () => {
    const contentDigest = 'c'.repeat(64);
    const voted: ApprovalDetails = {
      ...request,
      rulePlace: 'policy.yaml:12',
      lineage: ['root', 'middle'],
      reviewers: ['group:finance', 'cfo'],
      replaces: { requestId: 'e'.repeat(32), by: 'edit' },
      approvals: { have: 1, need: 2 },
      delegations: [{ from: 'ann', to: 'bob' }],
      votes: [
        { reviewerId: 'bob', identity: 'claimed', approved: true, at: '2026-01-02T02:59:10.000Z', contentDigest },
        { identity: 'anonymous', approved: false, at: '2026-01-02T02:59:20.000Z', contentDigest },
      ],
    };
    const lines = renderCard(output, voted, {}, { nowMs }).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'Called by  root > middle',
        'Rule       prod (policy.yaml:12)',
        `Replaces  request ${'e'.repeat(32)}, as a reviewer edited it`,
        'Reviewers  group:finance, cfo',
        'Seats      bob in the place of ann',
        'Approvals  1 of 2',
        '           bob approves (claimed)',
        '           an unnamed reviewer denies (anonymous)',
      ]),
    );
    const alone = renderCard(output, { ...request, approvals: { have: 0, need: 1 } }, {}, { nowMs });
    expect(alone).not.toContain('Approvals  ');
  });

  const settledAt = '2026-01-02T02:59:30.000Z';
  test.each<[string, Settlement, string]>([
    [
      'by a change of policy',
      { outcome: 'superseded', runs: true, by: 'policy', byId: 'run#1', settledAt },
      `by the policy, rule run#1; the call runs`,
    ],
    [
      'by a risk default of a changed policy',
      { outcome: 'superseded', runs: false, by: 'policy', byId: null, settledAt },
      `by the policy; the call does not run`,
    ],
    [
      'by a grant',
      { outcome: 'superseded', runs: true, by: 'grant', byId: 'grant-1', settledAt },
      `by grant-1; the call runs`,
    ],
    [
      'by its edited call',
      { outcome: 'superseded', runs: false, by: 'edit', byId: 'f'.repeat(32), settledAt },
      `by its edited call, request ${'f'.repeat(32)}`,
    ],
  ])('settled %s', (_name, settled, line) => {
    const shown = renderCard(output, { ...request, settled }, {}, { nowMs }).split('\n');
    expect(shown).toContain(`Settled  superseded, ${local(settledAt)}`);
    expect(shown).toContain(`         ${line}`);
  });

  test('the edited call that ran, the response, and the grant that it left', () => {
    const settled: Settlement = {
      outcome: 'approved',
      runs: true,
      settledAt,
      reviewerId: 'ann',
      identity: 'verified',
      edited: { arguments: { path: '/tmp/c' }, digest: 'e'.repeat(64) },
    };
    const grant: Grant = { grantId: 'grant-1', tool: 'delete_file', approved: true, scope: { kind: 'tool' } };
    const shown = renderCard(output, { ...request, settled }, {}, { nowMs, grants: [grant] });
    expect(shown).toContain('\nBy        ann (verified)\n');
    expect(shown).toContain(`Settled   approved with an edit, ${local(settledAt)}\n`);
    expect(shown).toContain(
      'Changed   path "/tmp/a\\nb" → "/tmp/c", deep {"list":[1,null]} → nothing\nWhat ran  {"path":"/tmp/c"}\n',
    );
    const responded: Settlement = { outcome: 'responded', runs: false, settledAt, response: { done: true } };
    expect(renderCard(output, { ...request, settled: responded }, {}, { nowMs })).toContain('Answer   {"done":true}');
  });

  test('arguments that the policy hides are not shown as missing', () => {
    const part: ApprovalDetails = { ...request, arguments: {}, argumentNames: ['path', 'de\nep'], shown: 'part' };
    const hidden = renderCard(output, part, {}, { nowMs });
    expect(hidden).toContain('\nNot shown  path, de\\u{000A}ep\n');
    expect(hidden).toContain('Part of this request is hidden, so you cannot approve it for later calls.');
    expect(hidden).not.toMatch(/^(?:Always|Edit)/m);
  });

  test('no text of a run reaches the terminal unescaped, and no command contains altered text', () => {
    const bad = {
      ...request,
      workflowId: hostile,
      agentName: hostile,
      toolName: hostile,
      rule: hostile,
      rulePlace: hostile,
      reason: hostile,
      callerUserId: hostile,
      contextSummary: hostile,
      requestedAt: hostile,
      deadline: hostile,
      digest: hostile,
      assessment: {
        ...request.assessment,
        reasons: [hostile],
        affectedResources: [hostile],
        recommendations: [hostile],
      },
      arguments: { [hostile]: hostile },
      settled: { outcome: 'denied', runs: false, reason: hostile, reviewerId: hostile, settledAt: hostile } as const,
    };
    expect(renderCard(output, bad, {}, { nowMs })).toMatch(/^[\x20-\x7e\n│]+$/);
    const { settled: _, ...open } = bad;
    const shown = renderCard(output, open, {}, { nowMs });
    expect(shown).toMatch(/^[\x20-\x7e\n│]+$/);
    expect(shown).toContain(`approve:  countersign approve ${requestId}\n`);
  });

  test.each([
    ['run-1', 'run-1'],
    ["it's; rm -rf $HOME", "'it'\\''s; rm -rf $HOME'"],
    ['$(date)', "'$(date)'"],
  ])('the command to type is quoted for a shell: %j', (workflowId, word) => {
    expect(renderCard(output, { ...request, workflowId }, {}, { nowMs })).toContain(
      `countersign deny ${requestId} --run ${word}`,
    );
  });
});

test('renderWaiting: one request in a run that continues', () => {
  expect(renderWaiting(output, { ...row, reason: `why${hostile}` }, {}).split('\n')).toEqual([
    'waiting for approval: delete_file(path): whyx\\u{202E}\\u{001B}[2J\\u{200B}\\u{0007}\\u{E0041}',
    `  look:    countersign approvals show ${requestId}`,
    `  answer:  countersign approve ${requestId}   or   countersign deny ${requestId}`,
  ]);
});

describe('renderRun', () => {
  const usage = { inputTokens: 120, outputTokens: 40 };
  const outcomes = [{ callId: '1.1', toolName: 'read', outcome: 'allowed', ran: 'yes' } as const];

  const shown = {
    workflowId: 'run-1',
    workflowType: 'agentRun',
    taskQueue: 'countersign',
    startedAt: '2026-01-02T02:00:00.000Z',
    open: [],
    more: 0,
    outcomes: [],
  };

  test("a workflow of one's own: its type, what was gated, what it returned", () => {
    const view = { ...shown, workflowType: 'order', status: 'completed' as const, outcomes, returned: [hostile] };
    const lines = renderRun(output, view, nowMs).split('\n');
    expect(lines.slice(0, 3)).toEqual(['run         run-1', 'status      completed', 'workflow    order']);
    expect(lines).toContain('1.1   read  allowed  yes');
    expect(lines.at(-1)).toMatch(/^returned \["x[\x20-\x7e]+"\]$/);
  });

  test('a waiting run', () => {
    const view = {
      ...shown,
      status: 'waiting' as const,
      open: [row],
      more: 2,
      outcomes,
      run: {
        workflowId: 'run-1',
        agent: 'tidy',
        status: 'waiting' as const,
        turn: 1,
        executions: 1,
        usage,
        counts: { calls: 5, asks: 2, open: 1, denials: 1, refused: 3 },
        waitingFor: [
          {
            requestId: row.requestId,
            toolName: 'pay',
            reviewers: ['ann', 'u-17', hostile],
            deadline: '2026-01-02T03:00:00.000Z',
            people: { dora: { name: 'Dora May', also: ['u-17'] } },
          },
          { requestId: row.requestId, toolName: 'pay', reviewers: [], deadline: null },
        ],
        outcomes,
        refused: { last: [], total: 3 },
      },
    };
    expect(renderRun(output, view, nowMs).split('\n').slice(0, 15)).toEqual([
      'run         run-1',
      'status      waiting',
      'agent       tidy',
      `started     ${local('2026-01-02T02:00:00.000Z')}`,
      'task queue  countersign',
      'turns       1 (executions: 1)',
      'calls       5 calls · 1 allowed · 1 waiting · 3 messages refused',
      'tokens      120 in, 40 out',
      `waits for   ann, Dora May (u-17), ${escapeText(hostile)}, any reviewer, until ${local('2026-01-02T03:00:00.000Z')} (in 0 s)`,
      '',
      'CALL  TOOL  OUTCOME  RAN',
      '1.1   read  allowed  yes',
      '',
      'waiting for approval',
      'REQUEST   LEFT        CALL',
    ]);
    expect(renderRun(output, view, nowMs)).toMatch(/\nand 2 more$/);
  });

  test('a run whose activities are tried again', () => {
    const view = {
      ...shown,
      status: 'running' as const,
      retrying: [
        {
          activity: 'countersign.callModel',
          attempt: 2,
          maxAttempts: 10,
          message: 'The model is rate limited.',
          type: 'model_rate_limited',
          nextAttemptAt: '2026-01-02T02:01:00.000Z',
        },
        { activity: hostile, attempt: 7, message: hostile },
      ],
    };
    const lines = renderRun(output, view, nowMs).split('\n');
    expect(lines[4]).toBe(
      `retrying    countersign.callModel, attempt 2 of 10 at ${local('2026-01-02T02:01:00.000Z')}; the last one: The model is rate limited.`,
    );
    expect(lines[5]).toMatch(/^retrying {4}x[\x20-\x7e]+, attempt 7 \(running\); the last one: x[\x20-\x7e]+$/);
  });

  test('a run that cannot be queried and a failed run give the reason', () => {
    const view = { ...shown, workflowId: hostile, taskQueue: hostile };
    const alone = renderRun(output, { ...view, status: 'running', note: `No worker ${hostile}` }, nowMs);
    expect(alone).toContain('note        No worker x\\u{202E}');
    const failure = { code: 'internal' as const, message: `it broke ${hostile}` };
    const failed = renderRun(output, { ...view, status: 'failed', closedAt: '2027', failure }, nowMs);
    expect(failed).toContain('failed      it broke x\\u{202E}');
    expect(alone + failed).toMatch(/^[\x20-\x7e\n]+$/);
  });

  test('the result of a run keeps its line breaks, and all else is escaped', () => {
    const result = { status: 'completed' as const, output: `one\ntwo ${hostile}`, usage, outcomes };
    expect(renderResult(output, result).split('\n')).toEqual([
      'CALL  TOOL  OUTCOME  RAN',
      '1.1   read  allowed  yes',
      '',
      'one',
      'two x\\u{202E}\\u{001B}[2J\\u{200B}\\u{0007}\\u{E0041}',
    ]);
    const withheld = outcomes.map((each) => ({ ...each, withheld: true as const }));
    expect(renderResult(output, { ...result, outcomes: withheld })).toContain('allowed  yes, result withheld\n');
    const cached = outcomes.map((each) => ({
      ...each,
      outcome: 'cached' as const,
      ran: 'no' as const,
      resultOf: '1.0',
    }));
    expect(renderResult(output, { ...result, outcomes: cached })).toContain('cached   no, as 1.0\n');
    expect(renderResult(output, { ...result, status: 'limit', outcomes: [] })).toMatch(/^The run ended as limit\.\n/);
  });
});

test('renderChanges: one line per argument, including unchanged ones', () => {
  const before = { to: 'ann', amount: 5, memo: hostile };
  expect(renderChanges(output, before, { to: 'bob', amount: 5, extra: [1] }).split('\n')).toEqual([
    '- to: "ann"',
    '+ to: "bob"',
    '  amount: 5',
    expect.stringMatching(/^- memo: "[\x20-\x7e]+"$/),
    '+ extra: [1]',
  ]);
});

test('renderGrants: the scope of each grant, escaped', () => {
  const grants: Grant[] = [
    { grantId: 'grant-1', tool: 'pay', approved: true, scope: { kind: 'tool' }, requestId },
    {
      grantId: 'grant-2',
      tool: 'pay',
      approved: false,
      scope: { kind: 'arguments', match: { to: '*@acme.com' } },
      usesLeft: 2,
      expiresAtMs: nowMs,
      by: [{ reviewerId: '8f3c', reviewerName: 'Ann Lee', identity: 'claimed' }, { identity: 'anonymous' }],
    },
    { grantId: hostile, tool: hostile, approved: true, scope: { kind: 'arguments', match: { [hostile]: hostile } } },
  ];
  const lines = renderGrants(output, grants).split('\n');
  const cells = lines.map((line) => line.split(/ {2,}/));
  expect(cells[0]).toEqual(['GRANT', 'TOOL', 'ANSWER', 'SCOPE', 'USES LEFT', 'UNTIL', 'BY', 'REQUEST']);
  expect(cells[1]?.slice(0, 6)).toEqual(['grant-1', 'pay', 'approve', 'any call', 'any', 'the run ends']);
  expect(cells[2]).toEqual([
    'grant-2',
    'pay',
    'deny',
    'to=*@acme.com',
    '2',
    instantText('2026-01-02T03:00:00.000Z', terminalClock()),
    'Ann Lee (8f3c), an unnamed reviewer',
  ]);
  expect(lines.join('\n')).toMatch(/^[\x20-\x7e\n]+$/);
});

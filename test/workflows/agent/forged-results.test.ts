/**
 * Anyone who may write to the namespace can complete an activity with any result. A malformed one counts as a failed
 * activity: no workflow task fails for ever, and nothing runs that was not allowed (I5, I9).
 */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowFailedError, WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { type ApprovalRequest, type Receipt, type RunInput, activityNames } from '../../../src/contract.ts';
import { eventually } from '../../support/eventually.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { changed, type Forge, ForgingWorker, noResults, withoutFailedTask } from '../../support/forged-results.ts';
import { openGatedWorld } from '../../support/gated-world.ts';
import { callOf, last, once, pay, rule, team, yes } from '../../support/team.ts';
import { openWorld, type RunInTest, type Turns } from '../../support/world.ts';
import { reconcilingAgents } from './reconciling-agent.ts';

const forging = new ForgingWorker();
const { interceptors } = forging;
const world = forAllTests(() => openWorld({ agentsIn: (folder) => team(folder), interceptors }));

/** Starts a run in which the first result of `activity` is a forged one. */
async function start(
  activity: string,
  forge: Forge,
  turns: Turns,
  { nested = '', ...input }: Partial<RunInput> & { nested?: string } = {},
): Promise<RunInTest> {
  const workflowId = `run-${randomUUID()}`;
  forging.forge(workflowId + nested, activity, forge);
  const args: RunInput[] = [{ agent: 'tester', input: JSON.stringify(turns), ...input }];
  await world.client.session.client.workflow.start('agentRun', { workflowId, taskQueue: world.taskQueue, args });
  return world.run(workflowId);
}

async function endOf({ handle }: { handle: WorkflowHandle }): Promise<{ type: string; message: string }> {
  const failed = await withoutFailedTask([handle], () => handle.result().then(String, (error: unknown) => error));
  const { type, message } = (failed as WorkflowFailedError).cause as ApplicationFailure;
  return { type: type!, message };
}

/** Sends an update, and returns the receipt, also of a refusal. */
const update = (run: RunInTest, name: string, message: object): Promise<Receipt> =>
  withoutFailedTask([run.handle], () =>
    run.handle.executeUpdate<Receipt, [object]>(name, { args: [message] }).catch((error: Error) => {
      const [receipt] = (error.cause as ApplicationFailure).details ?? [];
      return receipt as Receipt;
    }),
  );

const names = (tag: string): { to: string; paid: () => string[] } => {
  const to = `${tag}-${randomUUID().slice(0, 8)}`;
  return { to, paid: () => world.ran().filter((line) => line.includes(to)) };
};
const sentenceOf = (activity: string): string =>
  `The result of activity '${activity}' has a form that no worker gives it`;

const call = 'calls.0';
const edits = [
  changed('shell', 7),
  changed('shell', { argument: 'to', parts: [7], uncertain: [] }),
  changed('shell', { argument: 'to', parts: [{ text: 'a', reduced: 'a', within: 0 }], uncertain: [] }),
  changed('sentence', 7),
  changed('assessment', 7),
  changed('assessment.severity', 'odd'),
  changed('redaction', 7),
  changed('redaction', { settings: '', patterns: '', kinds: [], values: [7] }),
] as const;
const under = (at: string, [what, forge]: readonly [string, Forge]): [string, Forge] => [
  `${at}.${what}`,
  (result: { [name: string]: [object] }) => ({ ...result, calls: [forge(result['calls']![0] as never)] }),
];
const turns: [string, Forge][] = [
  ...noResults,
  changed('text', 7),
  changed('calls', {}),
  changed('calls', [null]),
  changed('usage', null),
  changed('finishReason', {}),
  changed('contextSummary', 7),
  changed('model', {}),
  changed(`${call}.id`, 7),
  changed(`${call}.tool`, 7),
  changed(`${call}.args`, 'all'),
  changed(`${call}.problem`, 7),
  changed(`${call}.cannotStart`, 7),
  ...edits.map((each) => under(call, each)),
];

const asks = { policy: rule('pay', 'ask') };

describe('the turn of a model', () => {
  test.concurrent.each(turns)('%s: the run fails', async (_, forge) => {
    const { to, paid } = names('turn');
    const run = await start(activityNames.callModel, forge, once(pay(to)), asks);
    expect(await endOf(run)).toEqual({ type: 'model_output_invalid', message: sentenceOf(activityNames.callModel) });
    expect(paid()).toEqual([]);
  });

  test.concurrent('null: a session waits for its user, and goes on', async () => {
    const run = await start(activityNames.callModel, () => null, [{ text: 'one' }], { session: true });
    await withoutFailedTask([run.handle], () => run.awaitsUser());
    expect(await run.status()).toMatchObject({ failedTurn: { code: 'model_output_invalid' } });
    await run.handle.terminate();
  });
});

describe('the check of an edit', () => {
  const forged: [string, Forge][] = [...noResults, changed('problem', 7), changed('args', [7]), ...edits];

  test.concurrent.each(forged)('%s: the edit is refused, and can be repeated', async (_, forge) => {
    const { to, paid } = names('edit');
    const run = await start(activityNames.checkEdit, forge, once(pay(to)), asks);
    const [{ requestId }] = (await run.open()) as [ApprovalRequest];
    const edit = { requestId, approved: true, modifiedArguments: { to, amount: 2 } };
    const message = `the edit of request ${requestId} could not be checked: repeat it`;
    expect(await update(run, 'decide', edit)).toMatchObject({ accepted: false, message });
    expect(paid()).toEqual([]);
    expect(await update(run, 'decide', edit)).toMatchObject({ accepted: true });
    const successor = await run.open().catch(() => []);
    for (const each of successor) await update(run, 'decide', { requestId: each.requestId, approved: true });
    await run.result();
    expect(paid()).toEqual([`pay ${to} 2`]);
  });
});

test('recorded times: the time of a message is unknown', async () => {
  const policy = { version: 1, approval: { timeout: '3s' } };
  const times = (atMs: unknown): Forge => {
    return (read: object) => Object.fromEntries(Object.keys(read).map((eventId) => [eventId, atMs]));
  };
  const wrong = [...noResults.map(([, forge]) => forge), ...['soon', 1e300, -1, null].map(times)];
  const sent = await Promise.all(
    [(read: never) => read, ...wrong].map(async (forge) => {
      const { to, paid } = names('late');
      const run = await start(activityNames.arbitrate, forge, once(pay(to)), { policy });
      const [request] = await run.open();
      return { run, request: request!, paid };
    }),
  );
  await world.stopWorker();
  const latestMs = Math.max(...sent.map(({ request }) => Date.parse(request.deadline!)));
  for (const { run, request } of sent) await run.handle.signal('decide', yes(request.requestId));
  await eventually('the deadlines pass', () => Date.now() > latestMs + 50);
  await world.startWorker();
  const ends = sent.map(async ({ run, paid }) => {
    const { outcomes } = await withoutFailedTask([run.handle], () => run.result());
    return [outcomes[0]!.outcome, paid().length];
  });
  expect(await Promise.all(ends)).toEqual([['approved', 1], ...wrong.map(() => ['expired', 0])]);
});

const brokenPolicies: [path: string, value: unknown][] = [
  ['', 7],
  ['version', 2],
  ['mode', 'odd'],
  ['rules', {}],
  ['rules', [null]],
  ['rules', [{ action: 'allow', pattern: 7 }]],
  ['rules', [{ action: 'odd', pattern: 'pay' }]],
  ['rules', [{ action: 'allow', pattern: 'pay', args: 7 }]],
  ['rules', [{ action: 'allow', pattern: 'pay', when: 7 }]],
  ['rules', [{ action: 'ask', pattern: 'pay', ask: { reviewers: 7 } }]],
  ['rules', [{ action: 'ask', pattern: 'pay', ask: { timeoutMs: 'x' } }]],
  ['rules', [{ action: 'ask', pattern: 'pay', ask: { escalate: [7] } }]],
  ['riskDefaults', null],
  ['approval', null],
  ['approval.timeoutMs', 'long'],
  ['approval.show', { pay: 7 }],
  ['limits', 7],
  ['assess', [7]],
  ['redact', { patterns: 7 }],
  ['directory', { people: { ann: 7 } }],
  ['advisor', 'ann'],
  ['revoked', { keys: 7 }],
];
const policiesAt = (at: string): [string, Forge][] =>
  brokenPolicies.map(([path, value]) => {
    const [what, forge] = changed([at, path].filter((each) => each !== '').join('.'), value);
    const whole = { version: 1, rules: [], riskDefaults: {}, approval: {} };
    const filled = changed(at, whole)[1];
    return [what, (result: never) => forge((path === '' ? result : filled(result)) as never)];
  });

describe('a new policy', () => {
  const forged: [string, Forge][] = [...noResults, changed('policy', undefined), ...policiesAt('policy')];

  test.concurrent.each(forged)('%s: it is refused, and nothing changes', async (_, forge) => {
    const { to, paid } = names('policy');
    const run = await start(activityNames.readPolicy, forge, once(pay(to)), asks);
    const open = await run.open();
    const policy = await run.handle.query('policy');
    const message = { policy: rule('pay', 'deny', { reason: 'closed' }) };
    expect(await update(run, 'setPolicy', message)).toMatchObject({
      accepted: false,
      message: 'the new policy could not be read: send it again',
    });
    expect(await run.handle.query('policy')).toEqual(policy);
    expect(await run.open()).toEqual(open);
    expect(await update(run, 'setPolicy', message)).toMatchObject({ accepted: true });
    expect((await run.result()).output).toBe('Denied: closed');
    expect(paid()).toEqual([]);
  });
});

describe('the policies of a calling run', () => {
  const forged: [string, Forge][] = [
    ...noResults,
    changed('policies', 7),
    changed('atMs', 'now'),
    ...policiesAt('policies.0'),
  ];

  test.concurrent.each(forged)('%s: they are read again', async (_, forge) => {
    const { to, paid } = names('parent');
    const nestedTurns = callOf('researcher', { calls: [pay(to)] }, last);
    const run = await start(activityNames.readParents, forge, once(nestedTurns), { nested: '/1.1', ...asks });
    const nested = world.run(`${run.workflowId}/1.1`);
    await eventually('it asks', () => nested.open().catch(() => undefined));
    await update(run, 'setPolicy', { policy: rule('pay', 'deny', { reason: 'closed' }) });
    const { output } = await withoutFailedTask([run.handle, nested.handle], () => run.result());
    expect(output).toBe('Denied: closed');
    expect(paid()).toEqual([]);
  });

  test('an activity that an operator fails: the nested run denies every call', async () => {
    const { to, paid } = names('failed');
    const nestedTurns = callOf('researcher', { calls: [pay(to)] }, last);
    const fail = () => {
      throw ApplicationFailure.nonRetryable('by hand');
    };
    const run = await start(activityNames.readParents, fail, once(nestedTurns), { nested: '/1.1', ...asks });
    const nested = world.run(`${run.workflowId}/1.1`);
    await eventually('it asks', () => nested.open().catch(() => undefined));
    await update(run, 'setPolicy', { policy: rule('pay', 'ask', { reason: 'closed' }) });
    const { output } = await withoutFailedTask([run.handle, nested.handle], () => run.result());
    expect(output).toBe('Denied: The policies of the calling run cannot be read');
    expect(paid()).toEqual([]);
  });
});

const configs: [string, Forge][] = [
  ...noResults,
  ...policiesAt('ceiling'),
  changed('run', 7),
  changed('engine', 'new'),
  changed('auditSalt', 7),
  changed('continueAsNewAfter', 7),
  changed('attributes', 7),
  changed('routes', { channels: null, default: [] }),
  changed('routes', { channels: {}, default: 7 }),
  changed('ceilingLines', { file: 'x', lines: 7 }),
];

describe('the config of a run', () => {
  const forged: [string, Forge][] = [
    ...configs,
    changed('parents', 7),
    changed('agent', 7),
    changed('tools', {}),
    changed('tools', [7]),
    changed('tools.0.timeoutMs', 'long'),
    changed('tools.0.schema', null),
    changed('tools.0.show', 7),
    changed('maxTurns', null),
    changed('modelCall', { timeoutMs: 'long' }),
    changed('handoffs', {}),
    changed('handoffs', [7]),
    changed('sizeLimits', 7),
  ];

  test.concurrent.each(forged)('%s: the run fails before its first turn', async (_, forge) => {
    const { to, paid } = names('config');
    const run = await start(activityNames.loadAgent, forge, once(pay(to)));
    expect(await endOf(run)).toEqual({ type: 'internal', message: sentenceOf(activityNames.loadAgent) });
    expect(paid()).toEqual([]);
  });
});

describe("the config of an author's workflow", () => {
  const gated = forAllTests(() => openGatedWorld({ interceptors }));
  const forged: [string, Forge][] = [
    ...configs,
    changed('gated', {}),
    changed('gated', [7]),
    changed('gated.0.name', 7),
  ];

  test.concurrent.each(forged)('%s: the workflow fails', async (_, forge) => {
    const workflowId = `calls-${randomUUID()}`;
    forging.forge(workflowId, activityNames.loadGate, forge);
    const args = [[{ name: 'pay', args: ['ann', 1] }]];
    const { workflow } = gated.client.session.client;
    const handle = await workflow.start('calls', { workflowId, taskQueue: gated.taskQueue, args });
    expect(await endOf({ handle })).toEqual({
      type: 'internal',
      message: sentenceOf(activityNames.loadGate),
    });
    expect(gated.ran()).toEqual([]);
  });
});

describe('what reviewers see of a call that may have run', () => {
  const allow = rule('*', 'allow');
  const bank = forAllTests(() => openWorld({ agentsIn: reconcilingAgents, policy: allow, interceptors }));

  const withProblem: [string, Forge] = [
    'a problem beside arguments with an assessment that is 7',
    (result: object) => ({ ...result, problem: 'no', assessment: 7 }),
  ];

  test.concurrent.each([...noResults, ...edits, withProblem])('%s: a person is asked without it', async (_, forge) => {
    const name = `bank-${randomUUID().slice(0, 8)}`;
    writeFileSync(join(bank.folder, `${name}.silent`), '');
    const workflowId = `run-${randomUUID()}`;
    forging.forge(workflowId, activityNames.checkEdit, forge);
    const script = [{ calls: [{ tool: 'pay', args: { name, how: 'breaks' } }] }, { text: '{{lastResult}}' }];
    const args = [{ agent: 'tester', input: JSON.stringify(script) }];
    const { workflow } = bank.client.session.client;
    await workflow.start('agentRun', { workflowId, taskQueue: bank.taskQueue, args });
    const run = bank.run(workflowId);
    const [request] = await withoutFailedTask([run.handle], () => run.open());
    await run.handle.signal('decide', { requestId: request!.requestId, approved: false });
    await withoutFailedTask([run.handle], () => run.result());
    expect(bank.ran().filter((line) => line.startsWith(`start ${name}`))).toHaveLength(1);
  });
});

import { describe, expect, test } from 'vitest';
import type { RunInput } from '../../../src/contract.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { inTime } from '../../support/in-time.ts';
import type { Calls } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** The policy language in a real run. Its individual answers are tested in `test/core`. */

type ScriptedCall = Calls[number];

const world = forAllTests(() =>
  openWorld({
    policy: `version: 1
rules:
- { pattern: "*", action: allow }
- { pattern: pay, when: "args.amount > 1000", action: deny, reason: Too much }
- { pattern: pay, args: { to: "mallory*" }, action: deny, reason: Never }
- { pattern: "bash:*rm *", action: deny, reason: No rm }
- { pattern: wipe, action: deny }
- { pattern: wipe, when: "metadata.ticket == 'T-1'", action: allow }
`,
  }),
);

const told = async (call: ScriptedCall, input: Partial<RunInput> = {}): Promise<string> => {
  const run = await world.start([{ calls: [call] }, { text: '{{lastResult}}' }], input);
  return (await run.result()).output;
};
const pay = (to: string, amount: number) => ({ tool: 'pay', args: { to, amount } });
const bash = (command: string, others: JsonObject = {}) => ({ tool: 'bash', args: { command, ...others } });
const rules = (...each: JsonObject[]): Partial<RunInput> => ({ policy: { version: 1, rules: each } });

describe('each rule of the language decides a call', () => {
  const bashRules = rules(
    { pattern: 'bash:git status*', action: 'allow' },
    { pattern: 'bash:echo *', action: 'allow' },
  );
  const rows: [string, ScriptedCall, Partial<RunInput>, string][] = [
    ['a condition that does not hold', pay('ann', 10), rules({ pattern: 'pay', action: 'allow' }), 'paid 10 to ann'],
    ['a condition that holds', pay('ann', 2_000), rules({ pattern: 'pay', action: 'allow' }), 'Denied: Too much'],
    ['a glob on one argument', pay('mallory inc', 1), rules({ pattern: 'pay', action: 'allow' }), 'Denied: Never'],
    ['a command whose parts are all allowed', bash('git status && echo hi'), bashRules, 'ran git status && echo hi'],
    ['a command that hides a denied part', bash('git status; /bin/rm -rf x'), bashRules, 'Denied: No rm'],
    ['a mode that only reads', pay('ann', 1), { mode: 'plan' }, 'Denied: Read-only mode'],
    ['a mode without a reviewer', pay('ann', 1), { mode: 'headless' }, 'Denied: No reviewer: this run is headless'],
    ['a mode that allows', pay('eve', 1), { mode: 'auto_approve' }, 'paid 1 to eve'],
    [
      'a mode never lifts the ceiling',
      { tool: 'wipe', args: {} },
      { mode: 'auto_approve' },
      "Denied: Policy denies 'wipe'",
    ],
    [
      'what the starter says, where the ceiling looks at it',
      { tool: 'wipe', args: {} },
      { ...rules({ pattern: 'wipe', action: 'allow' }), metadata: { ticket: 'T-1' } },
      'wiped',
    ],
    [
      "rules of this agent's block",
      pay('ann', 3),
      {
        policy: {
          version: 1,
          agents: { tester: { rules: [{ pattern: 'pay', action: 'deny', reason: 'Not this one' }] } },
        },
      },
      'Denied: Not this one',
    ],
  ];
  test.each(rows)('%s', async (_name, call, input, output) => {
    expect(await told(call, input)).toBe(output);
  });
});

test('a command that is only partly allowed is asked about, and runs when approved', async () => {
  const run = await world.start(
    [{ calls: [bash('git status | tee log')] }, { text: '{{lastResult}}' }],
    rules({ pattern: 'bash:git status*', action: 'allow' }),
  );
  const [request] = await run.open();
  await run.handle.signal('decide', { requestId: request!.requestId, approved: true });
  expect((await run.result()).output).toBe('ran git status | tee log');
});

describe('what stands beside a command', () => {
  const status = rules({ id: 'status', pattern: 'bash:git status*', action: 'allow' });
  const env = { env: { GIT_PAGER: 'less' } };
  const refusal = "rule status allows the command, not 'env' beside it";

  test('an argument that the tool declared harmless changes nothing', async () => {
    expect(await told(bash('git status', { note: 'Look' }), status)).toBe('ran git status');
  });

  test('any other argument is asked about, and the request says which', async () => {
    const run = await world.start([{ calls: [bash('git status', env)] }, { text: '{{lastResult}}' }], status);
    const [request] = await run.open();
    expect(request).toMatchObject({ rule: 'status', reason: refusal, arguments: { command: 'git status', ...env } });
    await run.handle.signal('decide', { requestId: request!.requestId, approved: true });
    expect((await run.result()).output).toBe('ran git status');
  });

  test('so it is when the policy of the run changes', async () => {
    const calls = [bash('git status', { note: 'Look' }), bash('git status', env)];
    const run = await world.start([{ calls }, { text: 'done' }], rules({ pattern: 'bash', action: 'ask' }));
    const [harmless, other] = await run.open(2);
    const settled = { requestId: harmless!.requestId, outcome: 'superseded' };
    expect(await run.handle.executeUpdate('setPolicy', { args: [{ policy: status.policy }] })).toMatchObject({
      accepted: true,
      settled: [settled],
    });
    expect(await run.open()).toMatchObject([{ requestId: other!.requestId, reason: refusal }]);
    await run.handle.signal('decide', { requestId: other!.requestId, approved: false });
    await run.result();
  });
});

test('a request states the severity of the call, and waits as long as its own rule says', async () => {
  const { played, seconds } = await inTime(4, async (timeoutS) => {
    const ask = { timeout: `${timeoutS}s` };
    const started = await world.start([{ calls: [pay('ann', 500)] }, { text: '{{lastResult}}' }], {
      policy: {
        version: 1,
        rules: [{ id: 'big', pattern: 'pay', action: 'ask', reason: 'Money', ask }],
        assess: [{ pattern: 'pay', severity: 'critical', reason: 'It cannot be called back', reversible: false }],
      },
    });
    return { run: started, request: (await started.open())[0] };
  });
  const { run, request } = played;
  expect(request).toMatchObject({
    rule: 'big',
    reason: 'Money',
    assessment: { severity: 'critical', reversible: false },
  });
  expect(request!.assessment.reasons).toContain('It cannot be called back');
  expect(Date.parse(request!.deadline!) - Date.parse(request!.requestedAt)).toBe(seconds * 1_000);
  expect((await run.result()).output).toBe(`Denied: no decision within ${seconds}s`);
});

test('features that no run supports yet are refused, not ignored', async () => {
  const run = await world.start([], {
    policy: { version: 1, mcp: {} },
  });
  await expect(run.result()).rejects.toMatchObject({
    code: 'policy_invalid',
    message: expect.stringContaining('not supported'),
  });
});

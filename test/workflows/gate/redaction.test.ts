/** `approval.redact` on real runs: reviewers see placeholders, tools and policies the original values. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { defineTool } from '../../../src/agents/define-tool.ts';
import type { ApprovalDetails, ApprovalMemo, Grant, Receipt } from '../../../src/contract.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { openGatedWorld } from '../../support/gated-world.ts';
import { promptScripted } from '../../support/prompt-scripted.ts';
import { openWorld, type RunInTest } from '../../support/world.ts';

const email = 'marker-ann@acme.com';
const other = 'marker-bob@acme.com';
const iban = 'DE89370400440532013000';
const ticket = 'T-4711';
const secrets = [email, other, iban, ticket];
const [emailShown, otherShown, ibanShown] = ['[EMAIL …com · 5623]', '[EMAIL …com · bc70]', '[IBAN DE89…3000 · faf7]'];

const executed: JsonObject[] = [];
const shellRun: string[] = [];
const world = forAllTests(() =>
  openWorld({
    agentsIn: () => [
      defineAgent({
        name: 'tester',
        instructions: 'Play your script.',
        model: promptScripted(),
        tools: [
          defineTool({
            name: 'note',
            description: 'Writes a note.',
            input: z.looseObject({}),
            show: ['text', 'to'],
            execute: (args) => {
              executed.push(args as JsonObject);
              return 'noted';
            },
          }),
          defineTool({
            name: 'bash',
            description: 'Says that it ran a command.',
            input: z.object({ line: z.string() }),
            subject: { argument: 'line', shell: true },
            execute: ({ line }) => {
              shellRun.push(line);
              return 'ran';
            },
          }),
        ],
      }),
    ],
    assessors: [
      ({ args }) => ({
        severity: 'high',
        reasons: [`it has ${JSON.stringify(args)}`],
        affectedResources: Object.values(args).map((value) => `thing:${JSON.stringify(value)}`),
        recommendations: [`Look at ${JSON.stringify(args)}.`],
      }),
    ],
  }),
);

const start = (args: JsonObject, policy?: JsonObject, text = ''): Promise<RunInTest> =>
  world.start([{ text, calls: [{ tool: 'note', args }] }, { text: 'end' }], policy === undefined ? {} : { policy });
const decide = (run: RunInTest, decision: object): Promise<Receipt> =>
  run.handle.executeUpdate<Receipt, [unknown]>('decide', { args: [decision] });
const detailsOf = (run: RunInTest, requestId: string): Promise<ApprovalDetails> =>
  run.handle.query<ApprovalDetails, [unknown]>('approvals', { requestId });
const memoOf = async (run: RunInTest): Promise<ApprovalMemo> =>
  (await run.handle.describe()).memo!['approvals'] as ApprovalMemo;

/** Everything that a reviewer can read of a run. */
async function seenOf(run: RunInTest, requestId: string): Promise<string> {
  const { approvals } = await world.client.approvals.list({ workflowId: run.workflowId });
  const grants = await run.handle.query<Grant[]>('grants');
  return JSON.stringify([
    approvals,
    grants,
    await detailsOf(run, requestId),
    await memoOf(run),
    await run.status(),
    await world.client.approvals.get(requestId),
  ]);
}

test('by default reviewers see placeholders, and the tool gets the values', async () => {
  const args = { text: `Write to ${email} or ${other}`, account: { iban }, to: email, amount: 5 };
  const run = await start(args, undefined, `I will write to ${email} and ${other} about ${iban}.`);
  const [request] = await run.open();
  const { requestId } = request!;
  expect(request).toMatchObject({
    arguments: { text: `Write to ${emailShown} or ${otherShown}`, account: { iban: ibanShown }, to: email, amount: 5 },
    redacted: ['text', 'account'],
    contextSummary: `I will write to ${emailShown} and ${otherShown} about ${ibanShown}.`,
    shown: 'all',
  });
  for (const secret of [other, iban]) expect(await seenOf(run, requestId)).not.toContain(secret);
  const [row] = (await memoOf(run)).open;
  expect(row).toMatchObject({
    shownArguments: { text: `Write to ${emailShown} or ${otherShown}`, to: email },
    notShown: ['text', 'account', 'amount'],
    shown: 'part',
  });
  expect(await decide(run, { requestId, approved: true, digest: request!.digest })).toMatchObject({
    outcome: 'approved',
  });
  await run.result();
  expect(executed.at(-1)).toEqual(args);
  for (const secret of [other, iban]) expect(await seenOf(run, requestId)).not.toContain(secret);
});

test('a command is shown as it is, unless the policy names it; the memo shows no secret either way', async () => {
  const line = `mail ${email} --password hunter22`;
  const policy = { rules: [], approval: { show: { bash: ['line'] } } };
  const calls = [{ tool: 'bash', args: { line } }];
  const plain = await world.start([{ calls }, { text: 'end' }], { policy });
  expect((await plain.open())[0]!.arguments).toEqual({ line });
  expect((await memoOf(plain)).open[0]!.shownArguments).toEqual({ line: `mail ${email} --password [PASSWORD]` });
  const named = await world.start([{ calls }, { text: 'end' }], { policy: { ...policy, redact: { also: ['line'] } } });
  const [request] = await named.open();
  expect(request!.arguments).toEqual({ line: `mail ${emailShown} --password [PASSWORD]` });
  await decide(named, { requestId: request!.requestId, approved: true });
  await named.result();
  expect(shellRun).toEqual([line]);
  await plain.handle.terminate();
});

test('own patterns are applied where the arguments are parsed, and to the text beside them', async () => {
  const policy = { rules: [], redact: { patterns: [{ name: 'TICKET', pattern: 'T-[0-9]+' }] } };
  const run = await start({ text: `see ${ticket} of ${email}` }, policy, `About ${ticket}.`);
  const [request] = await run.open();
  expect(request).toMatchObject({
    arguments: { text: `see [TICKET · 488c] of ${emailShown}` },
    contextSummary: 'About [TICKET · 488c].',
  });
  const { requestId } = request!;
  for (const secret of secrets) expect(await seenOf(run, requestId)).not.toContain(secret);
  const edit = { requestId, approved: true, modifiedArguments: { text: 'see [TICKET · 488c] of nobody, and T-2' } };
  expect(await decide(run, edit)).toMatchObject({ accepted: true, outcome: 'approved' });
  await run.result();
  expect(executed.at(-1)).toEqual({ text: `see ${ticket} of nobody, and T-2` });
  const { settled } = await detailsOf(run, requestId);
  expect(settled!.edited!.arguments).toEqual({ text: 'see [TICKET · 488c] of nobody, and [TICKET · 4ed3]' });
});

test('`redact: false` shows everything, and a placeholder in an edit is then an ordinary text', async () => {
  const run = await start({ text: email }, { rules: [], approval: { redact: false } });
  const [request] = await run.open();
  expect(request!.arguments).toEqual({ text: email });
  expect(request).not.toHaveProperty('redacted');
  await decide(run, { requestId: request!.requestId, approved: true, modifiedArguments: { text: 'for [EMAIL]' } });
  await run.result();
  expect(executed.at(-1)).toEqual({ text: 'for [EMAIL]' });
});

describe('an edit', () => {
  const args = { text: `to ${email}, then ${other}`, people: [{ name: 'Ann', mail: email }], n: 1 };
  const shown = { text: `to ${emailShown}, then ${otherShown}`, people: [{ name: 'Ann', mail: emailShown }], n: 1 };

  test.each<[string, JsonObject, JsonObject]>([
    ['leaves all in their places', { ...shown, n: 2 }, { ...args, n: 2 }],
    [
      'changes the words around',
      { ...shown, text: `for ${emailShown} and ${otherShown}!` },
      { ...args, text: `for ${email} and ${other}!` },
    ],
    ['writes a value', { ...shown, text: 'to cat@acme.com' }, { ...args, text: 'to cat@acme.com' }],
  ])('%s: the values stay', async (_name, modifiedArguments, expected) => {
    const run = await start(args);
    const [request] = await run.open();
    expect(request!.arguments).toEqual(shown);
    await decide(run, { requestId: request!.requestId, approved: true, modifiedArguments });
    await run.result();
    expect(executed.at(-1)).toEqual(expected);
  });

  test.each<[string, JsonObject, string]>([
    ['added', { ...shown, cc: emailShown }, `arguments.cc: ${emailShown} stands for a value that was not here`],
    [
      'without its end',
      { ...shown, text: 'to [EMAIL]' },
      'arguments.text: the placeholders must be those that were shown here',
    ],
    [
      'in a changed item',
      { ...shown, people: [{ name: 'Bob', mail: emailShown }] },
      `arguments.people[0].mail: ${emailShown} keeps`,
    ],
  ])('with a placeholder %s is refused with its place', async (_name, modifiedArguments, message) => {
    const run = await start(args);
    const [request] = await run.open();
    await expect(
      decide(run, { requestId: request!.requestId, approved: true, modifiedArguments }),
    ).rejects.toMatchObject({
      cause: { type: 'arguments_invalid', message: expect.stringContaining(message) },
    });
    expect(await run.open()).toHaveLength(1);
    await run.handle.terminate();
  });

  test('that another rule asks about: the new request hides the same values', async () => {
    const rules: JsonObject[] = [
      { pattern: 'note', action: 'ask' },
      { pattern: 'note', when: 'args.n > 5.0', action: 'ask', ask: { reviewers: ['cfo'] } },
    ];
    const run = await start(args, { rules });
    const [request] = await run.open();
    const edit = {
      requestId: request!.requestId,
      approved: true,
      reviewerId: 'ann',
      modifiedArguments: { ...shown, n: 9 },
    };
    const { successor } = await decide(run, edit);
    expect((await detailsOf(run, successor!)).arguments).toEqual({ ...shown, n: 9 });
    await decide(run, { requestId: successor!, approved: true, reviewerId: 'cfo' });
    await run.result();
    expect(executed.at(-1)).toEqual({ ...args, n: 9 });
    for (const secret of secrets) expect(await seenOf(run, successor!)).not.toContain(secret);
  });
});

test('a grant on a hidden value answers the next call and shows no glob', async () => {
  const call = { tool: 'note', args: { text: email } };
  const run = await world.start([{ calls: [call] }, { calls: [call] }, { text: 'end' }]);
  const [request] = await run.open();
  const always = { kind: 'arguments', match: { text: 'marker-*' } };
  expect(await decide(run, { requestId: request!.requestId, approved: true, always })).toMatchObject({
    grantId: 'grant-1',
  });
  expect(await run.result()).toMatchObject({ status: 'completed' });
  const [grant] = await run.handle.query<Grant[]>('grants');
  expect(grant).toMatchObject({ scope: { match: { text: '[HIDDEN]' } } });
  expect(grant).not.toHaveProperty('redacted');
  expect(JSON.stringify(await world.client.journal(run.workflowId))).not.toContain('marker-');
});

describe('a change of policy', () => {
  const none = { rules: [], approval: { redact: false } };
  const set = (run: RunInTest, policy: JsonObject): Promise<unknown> =>
    world.client.setPolicy(run.workflowId, { policy: { rules: [], ...policy } });

  test('that demands redaction: built-in kinds are hidden at once', async () => {
    const run = await start({ text: email }, none, `Mail ${email}`);
    const [request] = await run.open();
    await set(run, { approval: { redact: true } });
    expect(await detailsOf(run, request!.requestId)).toMatchObject({
      arguments: { text: emailShown },
      contextSummary: `Mail ${emailShown}`,
    });
    expect((await memoOf(run)).open[0]).toMatchObject({ shownArguments: { text: emailShown } });
    await run.handle.terminate();
  });

  test('that no longer demands it: what was hidden stays hidden', async () => {
    const run = await start({ text: `${email} ${ticket}` }, { rules: [] });
    const [request] = await run.open();
    await set(run, { approval: { redact: false } });
    const { requestId } = request!;
    expect((await detailsOf(run, requestId)).arguments).toEqual({ text: `${emailShown} ${ticket}` });
    const modifiedArguments = { text: `${emailShown} again` };
    await decide(run, { requestId, approved: true, modifiedArguments });
    await run.result();
    expect(executed.at(-1)).toEqual({ text: `${email} again` });
    expect((await detailsOf(run, requestId)).settled!.edited!.arguments).toEqual({ text: `${emailShown} again` });
  });

  test('that brings patterns of its own: arguments that nobody has searched are hidden', async () => {
    const run = await start({ text: ticket }, { rules: [] });
    const [request] = await run.open();
    await set(run, { redact: { patterns: [{ name: 'TICKET', pattern: 'T-[0-9]+' }] } });
    const details = await detailsOf(run, request!.requestId);
    expect(details).toMatchObject({ arguments: {}, shown: 'part', argumentNames: ['text'], contextSummary: '' });
    expect(await seenOf(run, request!.requestId)).not.toContain(ticket);
    await decide(run, { requestId: request!.requestId, approved: true });
    await run.result();
    expect(executed.at(-1)).toEqual({ text: ticket });
  });
});

test('it holds after continue-as-new', async () => {
  await world.stopWorker();
  await world.startWorker({ continueAsNewAfter: { historyEvents: 20 } });
  const run = await start({ text: email });
  const [request] = await run.open();
  await eventually('the run continued as new', async () => {
    await world.client.setPolicy(run.workflowId, { mode: 'default' });
    return (await run.status()).executions > 1;
  });
  expect((await detailsOf(run, request!.requestId)).arguments).toEqual({ text: emailShown });
  await decide(run, { requestId: request!.requestId, approved: true, modifiedArguments: { text: `x ${emailShown}` } });
  await run.result();
  expect(executed.at(-1)).toEqual({ text: `x ${email}` });
});

describe('in a workflow of its own', () => {
  const steps = [{ name: 'order', args: [{ item: `for ${other}`, to: email }] }];

  test('the gate applies the built-in patterns itself', async () => {
    const gated = await openGatedWorld();
    const handle = await gated.start('inTurn', steps);
    const [request] = await gated.open(handle);
    expect(request).toMatchObject({ arguments: { item: `for ${otherShown}`, to: email }, redacted: ['item'] });
    const modifiedArguments = { item: `all for ${otherShown}`, to: email };
    await gated.client.decide({ requestId: request!.requestId, approved: true, modifiedArguments });
    await handle.result();
    expect(gated.ran().join()).toContain(`all for ${other}`);
    await gated.close();
  });

  test('the policy has patterns of its own: reviewers see no values', async () => {
    const policy = { rules: [], redact: { patterns: [{ name: 'TICKET', pattern: 'T-[0-9]+' }] } };
    const gated = await openGatedWorld({ policy });
    const handle = await gated.start('inTurn', steps);
    const [request] = await gated.open(handle);
    expect(request).toMatchObject({ arguments: {}, argumentNames: ['item', 'to'], shown: 'part' });
    await gated.client.decide({ requestId: request!.requestId, approved: true });
    await handle.result();
    expect(gated.ran().join()).toContain(`for ${other}`);
    await gated.close();
  });
});

/** `include_arguments: false` on a real run: nothing that reviewers see contains the value of an argument (I13). */
import { expect, test } from 'vitest';
import { defaultPayloadConverter } from '@temporalio/common';
import { z } from 'zod';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { defineTool } from '../../../src/agents/define-tool.ts';
import { journalIn } from '../../../src/client/history/written-by-gate.ts';
import type { ApprovalDetails, ApprovalRequest, Grant, Receipt } from '../../../src/contract.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { promptScripted } from '../../support/prompt-scripted.ts';
import { team } from '../../support/team.ts';
import { openWorld, type Calls, type RunInTest } from '../../support/world.ts';

const word = 'qzxmarker';
const amount = 918_273_645;

const text = z.string();
const execute = (): string => 'done';
const tool = (name: string, input: z.ZodObject, more: object = {}) =>
  defineTool({ name, description: name, input, describe: (args) => JSON.stringify(args), execute, ...more });
const fussy = z.string().refine(() => false, { error: ({ input }) => `${String(input)} is not allowed` });

const world = forAllTests(() =>
  openWorld({
    agentsIn: () => [
      defineAgent({
        name: 'tester',
        instructions: 'Play your script.',
        model: promptScripted(),
        tools: [
          tool('delete_file', z.object({ path: text })),
          tool('bash', z.object({ command: text }), { subject: { argument: 'command', shell: true } }),
          tool('http_post', z.object({ url: text, body: text })),
          tool('wire_transfer', z.object({ amount: z.number(), to: text })),
          tool('send_email', z.object({ to: z.array(text), body: text })),
          tool('fussy', z.object({ text: fussy })),
        ],
      }),
    ],
    assessors: [
      ({ args }) => ({
        severity: 'high',
        reasons: [`its arguments are ${JSON.stringify(args)}`],
        affectedResources: Object.values(args).map((value) => `thing:${JSON.stringify(value)}`),
        recommendations: [`Look at ${JSON.stringify(args)}.`],
      }),
    ],
    policy: {
      rules: [
        { pattern: '*', action: 'ask', ask: { remind: '1s' } },
        { pattern: 'bash', action: 'ask', ask: { reviewers: ['ann', 'bob'], quorum: 2, always: 'tool' } },
      ],
      assess: [{ pattern: '*', severity: 'high', affected: ['path', 'command', 'url', 'amount', 'to'] }],
      approval: { include_arguments: false },
    },
  }),
);

const calls: Calls = [
  { tool: 'delete_file', args: { path: `/etc/${word}` } },
  { tool: 'bash', args: { command: `rm -rf ./${word}` } },
  { tool: 'http_post', args: { url: `http://${word}.internal/`, body: word } },
  { tool: 'wire_transfer', args: { amount, to: word } },
  { tool: 'send_email', args: { to: [`${word}@a.com`, `b@${word}.com`], body: word } },
  { tool: 'fussy', args: { text: word } },
];

test('names, severities and fixed texts are visible, values are nowhere', async () => {
  const run = await world.start([{ text: `I will touch ${word} now.`, calls }, { text: 'end' }]);
  const seen: Record<string, unknown> = {};
  const open = await run.open(5);
  seen['open'] = open;
  const idOf = (name: string): string => open.find(({ toolName }) => toolName === name)!.requestId;
  const update = async (name: string, message: object): Promise<Receipt> => {
    const receipt = await run.handle.executeUpdate<Receipt, [unknown]>(name, { args: [message] });
    seen[`receipt ${Object.keys(seen).length}`] = receipt;
    return receipt;
  };
  const match = (name: string) => ({ kind: 'arguments', match: { [name]: `*${word}*` } });
  const decide = (name: string, decision: object): Promise<Receipt> =>
    update('decide', { requestId: idOf(name), ...decision });
  await decide('delete_file', { approved: true, always: match('path') });
  await decide('bash', { approved: true, reviewerId: 'ann', always: match('command') });
  await decide('http_post', { approved: true, modifiedArguments: { url: `http://${word}.lan/`, body: `${word} 2` } });
  await decide('wire_transfer', { approved: false, always: match('to') });
  const mail = { id: 'mail', pattern: 'send_email', action: 'ask', ask: { reviewers: ['cat'] } };
  await update('setPolicy', { policy: { rules: [mail] } });
  await eventually('a reminder', async () => (await events(run)).some(({ told }) => told !== undefined));

  const [still] = (seen['still open'] = await run.open(2));
  for (const { requestId, toolName } of open) {
    seen[`request of ${toolName}`] = await run.handle.query<ApprovalDetails, [object]>('approvals', { requestId });
  }
  const grants = await run.handle.query<Grant[]>('grants');
  const { memo, searchAttributes } = await run.handle.describe();
  Object.assign(seen, { grants, memo, searchAttributes, status: await run.status() });
  seen['rows'] = await world.client.approvals.list({ workflowId: run.workflowId });
  seen['metadata'] = await run.handle.query('__temporal_workflow_metadata');
  seen['events'] = await events(run);

  for (const [what, shown] of Object.entries(seen)) {
    expect([what, JSON.stringify(shown)]).not.toEqual([what, expect.stringMatching(`${word}|${amount}`)]);
  }
  // Proves that the searched values and places exist.
  expect(open.map(({ argumentNames }) => argumentNames)).toContainEqual(['amount', 'to']);
  expect((still as ApprovalRequest).assessment.reasons).toContain('assess rule ceiling.assess#1 says high');
  expect(grants).toMatchObject([
    { scope: { kind: 'arguments', match: { path: '[HIDDEN]' } } },
    { approved: false, scope: { kind: 'arguments', match: { to: '[HIDDEN]' } } },
  ]);
  expect(seen['request of bash']).toMatchObject({ votes: [{ always: { match: { command: '[HIDDEN]' } } }] });
  expect(JSON.stringify(seen['metadata'])).toContain('approvals pending');
  const kinds = (await events(run)).flatMap(({ journal }) => journal.map(({ kind }) => kind));
  expect(kinds).toEqual(expect.arrayContaining(['ruling', 'opened', 'vote', 'settled', 'grant', 'policy', 'reruled']));
  await run.handle.terminate();
});

test('requests with hidden arguments keep them hidden after a handoff to an agent that shows them', async () => {
  const hides = { version: 1, approval: { include_arguments: false } };
  const own = await openWorld({ agentsIn: (folder) => team(folder, { tester: hides }) });
  try {
    const handover = { tool: 'transfer_to_billing' };
    const pay = { tool: 'pay', args: { to: word, amount } };
    const plain = { tool: 'pay', args: { to: 'plain', amount: 1 } };
    const run = await own.start([{ calls: [handover, pay] }, { calls: [plain] }, { text: 'end' }]);
    const [first] = await run.open();
    const always = { kind: 'arguments', match: { to: `${word}*` }, uses: 1 };
    const { requestId } = first!;
    await run.handle.executeUpdate('decide', { args: [{ requestId, approved: false, always }] });
    const [second] = await eventually('billing asks', async () => {
      const open = await run.open();
      return open[0]!.agentName === 'billing' && open;
    });
    expect(second!.arguments).toEqual(plain.args);
    const details = await run.handle.query<ApprovalDetails, [object]>('approvals', { requestId });
    const grants = await run.handle.query<Grant[]>('grants');
    expect(details).toMatchObject({ shown: 'part', settled: { outcome: 'denied' } });
    expect(grants).toMatchObject([{ scope: { match: { to: '[HIDDEN]' } } }]);
    expect(JSON.stringify([details, grants])).not.toMatch(new RegExp(`${word}|${amount}`));
    await run.handle.terminate();
  } finally {
    await own.close();
  }
});

/**
 * Returns the parts of history that people see: journal entries, summaries and details of the UI, and what `notify`
 * reports.
 */
async function events(run: RunInTest) {
  const { events: all } = await run.handle.fetchHistory();
  return (all ?? []).map((event) => {
    const { summary, details } = event.userMetadata ?? {};
    const scheduled = event.activityTaskScheduledEventAttributes;
    const told = scheduled?.activityType?.name === 'countersign.notify' ? scheduled.input?.payloads?.[0] : undefined;
    const read = (payload: typeof told | null): unknown =>
      payload == null ? undefined : defaultPayloadConverter.fromPayload(payload);
    return { journal: journalIn(event), summary: read(summary), details: read(details), told: read(told) };
  });
}

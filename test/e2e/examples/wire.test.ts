/** Sends every message in docs/wire.md and wire-messages.md unchanged, by update and by signal, with Temporal's own client. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import type { ApprovalDetails, Grant, Receipt, RunPolicies } from '../../../src/contract.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { policyDigest } from '../../../src/core/policy/policy.ts';
import { eventually } from '../../support/eventually.ts';
import { promptScripted } from '../../support/prompt-scripted.ts';
import { testAgent } from '../../support/test-agent.ts';
import { type RunInTest, type World, openWorld } from '../../support/world.ts';

const manual = readFileSync(new URL('../../../docs/wire.md', import.meta.url), 'utf8');
const more = readFileSync(new URL('wire-messages.md', import.meta.url), 'utf8');
const [shownId, otherId] = ['5f0c1e9a7b3d4e2f8a6b5c4d3e2f1a0b', '8a6b5c4d3e2f1a0b5f0c1e9a7b3d4e2f'];

interface Example {
  name: string;
  scene: string;
  message: string;
  /** Absent for messages that are signals only. */
  receipt?: string;
}

/** JSON blocks by the words after `json`: the message's name and the scene that it belongs to, then its receipt. */
const blocks = [...`${manual}\n${more}`.matchAll(/^```json (\w+)(?: (\w+))?\n(.*?)^```$/gms)].map(
  ([, name = '', scene = 'one', text = '']) => ({ name, scene, text }),
);
const examples: Example[] = blocks.flatMap(({ name, scene, text }, index) => {
  if (name === 'receipt' || name === 'grant') return [];
  const next = blocks[index + 1];
  return [{ name, scene, message: text, ...(next?.name === 'receipt' && { receipt: next.text }) }];
});

/** The calls of `pay` that the examples are about, and who must be asked. */
const scenes: Record<string, { rules: JsonObject[]; calls?: number; session?: true }> = {
  one: { rules: [{ pattern: 'pay', action: 'ask' }] },
  two: { rules: [{ pattern: 'pay', action: 'ask' }], calls: 2 },
  quorum: { rules: [{ pattern: 'pay', action: 'ask', ask: { reviewers: ['ann', 'bob'], quorum: 2 } }] },
  edited: {
    rules: [
      { pattern: 'pay', action: 'ask', ask: { reviewers: ['ann'] } },
      { pattern: 'pay:eve*', action: 'ask', ask: { reviewers: ['bob'] } },
    ],
  },
  session: { rules: [{ pattern: 'pay', action: 'ask' }], session: true },
  granted: { rules: [{ pattern: 'pay', action: 'ask', ask: { always: 'call' } }], calls: 2 },
};

let world: World;
beforeAll(async () => {
  // The dates of the manual are years in the future.
  world = await openWorld({ policy: { version: 1, rules: [], approval: { max_timeout: '3650d' } } });
});
afterAll(() => world.close());

interface Stage {
  run: RunInTest;
  ids: string[];
  /** A message of the manual, adapted to this run. */
  told: (text: string) => unknown;
  /** An answer of the run, in the terms of the manual. */
  shown: (answer: unknown) => unknown;
}

async function stage(scene: string): Promise<Stage> {
  const { rules, calls = 1, session } = scenes[scene]!;
  const script = Array.from({ length: calls }, (_, index) => ({
    tool: 'pay',
    args: { to: `p${index}@acme.com`, amount: 5 },
  }));
  const run = await world.start([{ calls: script }, { text: 'done' }], { policy: { version: 1, rules }, session });
  const ids = (await run.open(calls)).map(({ requestId }) => requestId);
  if (scene === 'granted') {
    await world.client.decide({ requestId: ids[1]!, approved: true, always: true }, { workflowId: run.workflowId });
  }
  return {
    run,
    ids,
    told: (text) => JSON.parse(text.replaceAll(shownId, ids[0]!)) as unknown,
    shown: (answer) =>
      JSON.parse(
        JSON.stringify(answer)
          .replace(/[0-9a-f]{16}…/g, '0123456789abcdef…')
          .replace(/[0-9a-f]{32}/g, (id) => (id === ids[0] ? shownId : otherId)),
      ),
  };
}

test('there is an example of every message', () => {
  expect([...new Set(examples.map(({ name }) => name))].toSorted()).toEqual([
    'close',
    'decide',
    'delegate',
    'extend',
    'message',
    'revoke',
    'setPolicy',
  ]);
});

describe.concurrent('by update: the receipt is the one in the manual', () => {
  test.each(examples.filter(({ receipt }) => receipt !== undefined))(
    'example $#: $name, scene $scene',
    async (example) => {
      const { run, told, shown } = await stage(example.scene);
      const answer = await run.handle.executeUpdate<unknown, [unknown]>(example.name, {
        args: [told(example.message)],
      });
      expect(shown(answer)).toEqual(JSON.parse(example.receipt!));
    },
  );
});

describe.concurrent('by signal: only what the receipts mention is refused', () => {
  test.each(examples)('example $#: $name, scene $scene', async ({ name, scene, message, receipt = '[]' }) => {
    const { run, told } = await stage(scene);
    const before = (await run.handle.fetchHistory()).events!.length;
    await run.handle.signal(name, told(message));
    const refused = [JSON.parse(receipt) as Receipt | Receipt[]].flat().filter(({ accepted }) => !accepted);
    await eventually('the signal in history', async () => (await run.handle.fetchHistory()).events!.length > before);
    expect((await run.status()).refused.last.map(({ code }) => code)).toEqual(refused.map(({ code }) => code));
    if (name === 'close') expect(await run.result()).toMatchObject({ status: 'closed' });
  });
});

test('a grant looks as in the manual', async () => {
  const { run, told, shown } = await stage('two');
  const always = examples.find(({ message }) => message.includes('"always"'))!;
  await run.handle.executeUpdate('decide', { args: [told(always.message)] });
  const [grant] = await run.handle.query<Grant[]>('grants');
  const example = JSON.parse(blocks.find(({ name }) => name === 'grant')!.text) as Grant;
  const { expiresAtMs, grantedAt, ...rest } = shown(grant) as Grant;
  expect({ ...rest, expiresAtMs: example.expiresAtMs, grantedAt: example.grantedAt }).toEqual(example);
  expect(expiresAtMs! - Date.parse(grantedAt!)).toBe(3_600_000);
});

test('query `policy`: what rules on calls now, before and after a change', async () => {
  const { run } = await stage('one');
  const policies = () => run.handle.query<RunPolicies>('policy');
  const before = await policies();
  expect(before).toMatchObject({
    engine: expect.any(Number),
    ceiling: { rules: [], approval: { maxTimeoutMs: 3650 * 86_400_000 } },
    run: { rules: [{ pattern: 'pay', action: 'ask' }] },
  });
  const { ceiling, run: side } = before;
  expect(before.digest).toBe(policyDigest({ ceiling, run: side }));
  const rule = { pattern: 'look', action: 'deny' };
  const args: [object] = [{ policy: { version: 1, rules: [rule] }, mode: 'plan' }];
  const { message } = await run.handle.executeUpdate<Receipt, [object]>('setPolicy', { args });
  const after = await policies();
  expect(after).toMatchObject({ ceiling, run: { mode: 'plan', rules: [...side!.rules, rule] } });
  expect(message).toContain(`the policy is ${after.digest.slice(0, 16)}…`);
});

test('names of agents compare in NFC: in a run, in a policy and in a filter', async () => {
  const [composed, decomposed] = ['ren\u00e9', 'rene\u0301'];
  const ask = { rules: [{ pattern: 'pay', action: 'ask' }] };
  const own = await openWorld({
    policy: { version: 1, rules: [{ pattern: 'pay', action: 'deny' }], agents: { [decomposed]: ask } },
    agentsIn: (folder) => {
      const { tools } = testAgent(folder);
      return [defineAgent({ name: decomposed, instructions: '', model: promptScripted(), tools })];
    },
  });
  try {
    const turns = [{ calls: [{ tool: 'pay', args: { to: 'ann', amount: 5 } }] }, { text: 'done' }];
    for (const agent of [composed, decomposed]) {
      const run = await own.start(turns, { agent });
      expect(await run.open()).toMatchObject([{ agentName: composed }]);
      const { workflowId } = run;
      expect((await own.client.approvals.list({ workflowId, agent })).approvals).toHaveLength(1);
      await run.handle.terminate();
    }
  } finally {
    await own.close();
  }
});

/** The rows of the table under a heading, without their backquotes. */
function rowsUnder(heading: string): string[][] {
  const section = manual.split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!;
  const lines = section.split('\n').filter((line) => line.startsWith('| `'));
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.replaceAll('`', '').trim()),
  );
}

const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((found, key) => (found as Record<string, unknown> | null | undefined)?.[key], value);

test('the journal, read as the manual says, is that of client.journal', async () => {
  const own = await openWorld({ continueAsNewAfter: { historyEvents: 20 } });
  try {
    const look = { calls: [{ tool: 'look', args: { what: 'sea' } }] };
    const pay = (amount: number) => ({ calls: [{ tool: 'pay', args: { to: 'journal', amount } }] });
    const run = await own.start([look, pay(1), pay(2), { text: 'done' }]);
    for (const approved of [true, false]) {
      const [request] = await run.open();
      await run.handle.signal('decide', { requestId: '0'.repeat(32), approved });
      await run.handle.signal('decide', { requestId: request!.requestId, approved });
      const asked = { requestId: request!.requestId };
      const details = () => run.handle.query<ApprovalDetails, [object]>('approvals', asked);
      await eventually('the answer', async () => (await details()).settled !== undefined);
    }
    await run.result();
    const entries = new Map<number, unknown>();
    const { executions } = await own.client.historyChain(run.workflowId);
    expect(executions.length).toBeGreaterThan(1);
    for (const event of executions.flatMap(({ events }) => events)) {
      for (const [attributes = '', of = '', path = ''] of rowsUnder('Read the journal')) {
        const found = at(event, attributes);
        const name = (at(found, 'activityType.name') ?? at(found, 'workflowType.name') ?? '') as string;
        const isTool = of.startsWith('tools') && !name.startsWith('countersign.');
        if (of !== '' && !isTool && !of.split(', and ').includes(name)) continue;
        const payload = at(found, path) as { data?: Uint8Array } | undefined;
        if (payload?.data == null) continue;
        const value: unknown = JSON.parse(Buffer.from(payload.data).toString());
        const journal = (at(value, 'journal') ?? at(value, 'gate.journal') ?? []) as { seq: number }[];
        for (const entry of journal) entries.set(entry.seq, entry);
      }
    }
    const read = [...entries].toSorted(([one], [other]) => one - other).map(([, entry]) => entry);
    expect(read).toEqual((await own.client.journal(run.workflowId)).entries);
    const kinds = (read as { kind: string }[]).map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(['opened', 'refused', 'settled', 'ran']));
  } finally {
    await own.close();
  }
});

test('a policy with only `approval` answers by its risk defaults; the defaults of the manual leave it to the ceiling', async () => {
  const own = await openWorld({ policy: { version: 1, rules: [{ pattern: '*', action: 'allow' }] } });
  const [, defaults] = /`"risk_defaults": (\{.*?\})`/.exec(manual)!;
  const calls = [{ tool: 'wipe' }, { tool: 'pay', args: { to: 'ann', amount: 5 } }];
  try {
    const approval = { timeout: '1s' };
    const outcomes = async (policy: JsonObject): Promise<string[]> => {
      const run = await own.start([{ calls }, { text: 'done' }], { policy });
      return (await run.result()).outcomes.map(({ outcome }) => outcome);
    };
    expect(await outcomes({ approval })).toEqual(['denied_by_policy', 'expired']);
    expect(await outcomes({ approval, risk_defaults: JSON.parse(defaults!) as JsonObject })).toEqual([
      'allowed',
      'allowed',
    ]);
  } finally {
    await own.close();
  }
});

test('an update that times out before a worker reads it is not withdrawn', async () => {
  const { run, ids } = await stage('one');
  const { client } = world.client.session;
  await world.stopWorker();
  const args: [object] = [{ requestId: ids[0], approved: true, decisionId: 'ann-1' }];
  const update = client.connection.withDeadline(Date.now() + 1_000, () => run.handle.executeUpdate('decide', { args }));
  await expect(update).rejects.toMatchObject({ name: 'WorkflowUpdateRPCTimeoutOrCancelledError' });
  await world.startWorker();
  expect(await run.result()).toMatchObject({ outcomes: [{ outcome: 'approved', ran: 'yes' }] });
});

test('duplicate, changed, early and late signals: which are counted, and that nothing changes', async () => {
  const { run, ids } = await stage('one');
  const [requestId] = ids;
  const vote = { requestId, approved: true, decisionId: 'ann-1' };
  const extension = { requestId, until: '2030-01-31T12:00:00Z', messageId: 'ann-2' };
  const sent: [string, unknown, string?][] = [
    ['decide', { ...vote, requestId: '0'.repeat(32) }, 'unknown_request'],
    ['extend', extension],
    ['extend', extension],
    ['extend', { ...extension, until: '2031-01-31T12:00:00Z' }, 'invalid_message'],
    ['decide', vote],
    ['decide', vote],
    ['decide', { ...vote, approved: false }, 'already_settled'],
    ['decide', { requestId, approved: true }, 'already_settled'],
    ['extend', { ...extension, messageId: 'ann-3' }, 'already_settled'],
    ['nonsense', vote, 'invalid_message'],
  ];
  // While no worker is alive, the server keeps the messages; they are applied in the order in which it recorded them.
  await world.stopWorker();
  for (const [name, message] of sent) await run.handle.signal(name, message);
  await world.startWorker();
  expect(await run.result()).toMatchObject({ outcomes: [{ requestId, outcome: 'approved', ran: 'yes' }] });
  expect((await run.status()).refused.last.map(({ code }) => code)).toEqual(sent.flatMap(([, , code]) => code ?? []));
  // One after the other: of two concurrent queries of a closed run, Temporal may lose one (docs/operations.md).
  const receiptOf = (messageId: string) => run.handle.query<Receipt | null, [unknown]>('receipt', { messageId });
  const message = `request ${requestId} waits until 2030-01-31T12:00:00.000Z`;
  expect(await receiptOf('ann-2')).toEqual({ requestId, accepted: true, message });
  expect(await receiptOf('ann-3')).toBeNull();
  await expect(run.handle.signal('decide', vote)).rejects.toMatchObject({ name: 'WorkflowNotFoundError' });
});

import { createHash, createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApplicationFailure, WorkflowFailedError } from '@temporalio/client';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import canonicalize from 'canonicalize';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeHistory, type HistoryExecution } from '../../../src/client/history/history-chain.ts';
import { projectHistories, readExecutions } from '../../support/read-histories.ts';
import { defaultPayloadConverter } from '@temporalio/common';
import { recordedTree, type RecordedTree } from '../../../src/client/audit/audited-run.ts';
import { policiesOf } from '../../../src/events/recorded-policies.ts';
import type { JournalEntry } from '../../../src/contract.ts';
import type { GatedWorld } from '../../support/gated-world.ts';
import { openGatedWorld } from '../../support/gated-world.ts';
import { hasVerified, resetTo } from '../../support/reset-to.ts';
import type { World } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** A run commits itself to its journal: the head that it writes is the root over the entries that history holds. */

const plain = new Set(
  'seq kind at engine callId requestId action outcome ran layer severity identity approved runs by policyDigest deadline code size'.split(
    ' ',
  ),
);

/** The format of docs/wire.md, written a second time and with other libraries. */
function rootOf(entries: JournalEntry[], run: [string, string, string], secret: string): string {
  const hash = (...parts: (string | Uint8Array)[]) =>
    parts.reduce((sum, part) => sum.update(part), createHash('sha256')).digest();
  const leaf = (entry: JournalEntry) => {
    const members = Object.entries(entry);
    const salted = members
      .filter(([name]) => !plain.has(name))
      .map(([name, value]) => {
        const salt = createHmac('sha256', Buffer.from(secret, 'hex')).update(`${entry.seq}.${name}`).digest();
        return [name, hash(salt.subarray(0, 16), canonicalize(value)!).toString('hex')];
      });
    const text = canonicalize({
      plain: Object.fromEntries(members.filter(([name]) => plain.has(name))),
      run: hash(canonicalize(run)!).toString('hex'),
      salted: Object.fromEntries(salted),
    })!;
    return hash(Buffer.from([0]), text);
  };
  const tree = (list: Buffer[]): Buffer => {
    if (list.length < 2) return list[0] ?? hash();
    const split = 2 ** (Math.ceil(Math.log2(list.length)) - 1);
    return hash(Buffer.from([1]), tree(list.slice(0, split)), tree(list.slice(split)));
  };
  return tree(entries.map(leaf)).toString('hex');
}

let world: World;
let gated: GatedWorld;
beforeAll(async () => {
  const policy = { version: 1, rules: [{ pattern: 'pay', action: 'ask' }] };
  world = await openWorld({ policy, continueAsNewAfter: { historyEvents: 25 } });
  gated = await openGatedWorld({ policy });
});
afterAll(async () => {
  await world.close();
  await gated.close();
});

const pay = (to: string) => ({ calls: [{ tool: 'pay', args: { to, amount: 1 } }] });

interface Committed {
  executions: HistoryExecution[];
  entries: JournalEntry[];
  secret?: string;
  head?: { size: number; root: string };
}

function treeOf(histories: Parameters<typeof readExecutions>[0]): RecordedTree {
  const executions = readExecutions(histories);
  return recordedTree(executions, policiesOf(executions));
}

async function committed({ client }: Pick<World, 'client'>, workflowId: string): Promise<Committed> {
  const { executions } = await client.historyChain(workflowId);
  await decodeHistory(
    client.session,
    executions.flatMap(({ events }) => events),
  );
  const { secret, head } = treeOf(executions);
  return { executions, entries: projectHistories(executions).entries, secret, head };
}

async function expectHead(of: Pick<World, 'client'>, workflowId: string): Promise<Committed> {
  const found = await committed(of, workflowId);
  const { executions, entries, secret, head } = found;
  const { firstExecutionRunId } = executions[0]!.events[0]!.workflowExecutionStartedEventAttributes!;
  expect(secret).toMatch(/^[0-9a-f]{64}$/);
  expect(head?.size).toBe(entries.length);
  expect(head?.root).toBe(rootOf(entries, ['default', workflowId, firstExecutionRunId!], secret!));
  return found;
}

describe('the head of a run', () => {
  test('is in the result, over all executions', async () => {
    const run = await world.start([pay('a'), pay('b'), pay('c'), { text: 'done' }]);
    for (const approved of [true, false, true]) {
      const [request] = await run.open();
      await world.client.decide({ requestId: request!.requestId, approved, reviewerId: 'ann', reason: '\u{1f600}' });
      await run.handle.signal('decide', { requestId: request!.requestId, approved, reason: 'half a pair \ud83d' });
    }
    const { journalHead } = await run.result();
    const { executions, entries, head } = await expectHead(world, run.workflowId);
    expect(journalHead).toEqual({ size: entries.length, root: head!.root });
    expect(executions.length).toBeGreaterThan(1);
    expect(new Set(entries.map(({ kind }) => kind))).toEqual(new Set(['opened', 'settled', 'ran', 'refused']));
  });

  test('is in the memo of a run that was cancelled', async () => {
    const run = await world.start([pay('a'), { text: 'done' }]);
    await run.open();
    await run.handle.cancel();
    await expect(run.handle.result()).rejects.toThrow(WorkflowFailedError);
    const { entries } = await expectHead(world, run.workflowId);
    expect(entries.at(-1)).toMatchObject({ kind: 'settled', outcome: 'cancelled' });
  });

  test('is in the memo of a run that was terminated, over what it had written', async () => {
    const run = await world.start([pay('a'), { text: 'done' }]);
    await run.open();
    await run.handle.terminate();
    expect((await expectHead(world, run.workflowId)).entries).toHaveLength(1);
  });

  test('is in the details of a failure', async () => {
    const run = await world.start([{ calls: [{ tool: 'look', args: { what: 'x' } }] }, { error: { status: 400 } }]);
    const error = await run.handle.result().catch((thrown: unknown) => thrown);
    const cause = (error as WorkflowFailedError).cause as ApplicationFailure;
    const { entries, head } = await expectHead(world, run.workflowId);
    expect(cause.details).toMatchObject([
      { status: 'failed', journalHead: { size: entries.length, root: head!.root } },
    ]);
  });

  test('is that of the run after a reset', async () => {
    const run = await world.start([pay('a'), { text: 'done' }]);
    await run.open();
    await resetTo(world, run.workflowId, hasVerified);
    const [request] = await world.run(run.workflowId).open();
    await world.client.decide({ requestId: request!.requestId, approved: true });
    await world.run(run.workflowId).result();
    await expectHead(world, run.workflowId);
  });

  test('is in the memo of a custom workflow, over its executions', async () => {
    const handle = await gated.start('inTurn', [
      { name: 'pay', args: ['ann', 1] },
      { name: 'pay', args: ['bob', 2] },
    ]);
    for (let call = 0; call < 2; call++) {
      const [request] = await gated.open(handle);
      await gated.client.decide({ requestId: request!.requestId, approved: true });
    }
    await handle.result();
    const { entries } = await expectHead(gated, handle.workflowId);
    expect(entries.map(({ kind }) => kind)).toEqual(['opened', 'settled', 'ran', 'opened', 'settled', 'ran']);
  });

  test('depends on a secret of its own', async () => {
    const runs = await Promise.all([1, 2].map(() => world.start([{ text: 'done' }])));
    await Promise.all(runs.map((run) => run.result()));
    const secrets = await Promise.all(runs.map(async (run) => (await committed(world, run.workflowId)).secret));
    expect(new Set(secrets).size).toBe(2);
  });

  test('is absent in a run that ended before it had a secret', () => {
    const file = join(import.meta.dirname, '../../histories/0.1.0-agent-unknown.json');
    const { events } = historyFromJSON(JSON.parse(readFileSync(file, 'utf8')) as object);
    const { secret, head } = treeOf([{ runId: 'r', events }]);
    expect({ secret, head }).toEqual({});
  });

  test.each([
    ['a workflow of its own', 'settleOrder', 0],
    ['an agent run', 'agentRun', 1],
  ])('of %s that continues one which is gone: what a forged argument brings is not its past', (_, type, at) => {
    const past = (runId: string, digit: string) => ({
      writer: { runId },
      gate: { tree: undefined },
      config: { auditSalt: digit.repeat(64) },
      ...(type === 'agentRun' && { state: { config: { auditSalt: digit.repeat(64) } } }),
    });
    const [forged, real] = [past('another', 'f'), past('before', 'a')];
    const args = at === 0 ? [forged, { more: forged, past: real }] : [forged, real];
    const started = {
      workflowType: { name: type },
      continuedExecutionRunId: 'before',
      input: { payloads: args.map((each) => defaultPayloadConverter.toPayload(each)) },
    };
    const { secret } = treeOf([{ runId: 'r', events: [{ workflowExecutionStartedEventAttributes: started }] }]);
    expect(secret).toBe('a'.repeat(64));
  });
});

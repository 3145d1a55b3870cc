/** The summary of a namespace with three runs, for programs and as text. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DecisionSummary } from '../../../src/audit.ts';
import { createClient } from '../../../src/client/client.ts';
import { eventually } from '../../support/eventually.ts';
import { makeNamespace } from '../../support/make-namespace.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { once, pay } from '../../support/team.ts';
import { openWorld, type World } from '../../support/world.ts';
import { type CliResult, cli, jsonLines } from './support.ts';

const namespace = `summary-${randomUUID()}`;
let world: World;

const statistics = (...words: string[]): Promise<CliResult> => cli(['statistics', '--namespace', namespace, ...words]);

beforeAll(async () => {
  await makeNamespace(namespace);
  const client = await createClient({ address: sharedAddress(), namespace });
  await client.setUp();
  await client.close();
  const rules = [
    { pattern: 'look', action: 'deny' },
    { pattern: 'pay', action: 'ask' },
  ] as const;
  world = await openWorld({ namespace, policy: { version: 1, rules } });
  const [first, second] = await Promise.all([
    world.start(once(pay('bob'), { tool: 'look', args: { what: 'x' } })),
    world.start(once(pay('ann'))),
    world.start(once(pay('carl'))).then((run) => run.open()),
  ]);
  for (const [run, approved] of [
    [first, true],
    [second, false],
  ] as const) {
    const [request] = await run.open();
    await world.client.decide({ requestId: request!.requestId, approved, reviewerId: 'rita' });
    await run.result();
  }
});
afterAll(() => world.close());

/** Visibility lags. */
async function summarized(): Promise<DecisionSummary> {
  return eventually('visibility lists all runs', async () => {
    const [summary] = jsonLines(await statistics()) as unknown as DecisionSummary[];
    return summary!.runs === 3 && summary;
  });
}

test('what was asked, decided and is open, for programs', async () => {
  const summary = await summarized();
  expect(summary).toMatchObject({ asked: 3, approved: 1, denied: 1, expired: 0, deniedByPolicy: 1, openCount: 1 });
  expect(summary).toMatchObject({ unread: 0, more: false });
  expect(summary.tools).toMatchObject([{ toolName: 'pay', asked: 3, approved: 1, denied: 1 }]);
  expect(summary.reviewers).toMatchObject([{ reviewerId: 'rita', answers: 2 }]);
  expect(Date.parse(summary.at) - Date.parse(summary.since)).toBe(7 * 24 * 60 * 60_000);
});

test('--markdown prints the text, also into a pipe', async () => {
  await summarized();
  const { code, stdout, stderr } = await statistics('--markdown');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('asked to approve 3 calls. They approved 1 and denied 1. Rules denied 1 call.');
  expect(stdout).toContain('\n| `rita` | 2 | 1 |');
});

test('--limit says that there are more runs, in the text and beside it', async () => {
  await summarized();
  const { code, stdout, stderr } = await statistics('--markdown', '--limit', '1');
  expect(code).toBe(0);
  expect(stdout).toContain('Counted from 1 run. There are further runs, which are not counted.');
  expect(stderr).toBe('There are more runs: --limit 1 was reached.\n');
});

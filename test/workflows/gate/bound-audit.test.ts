/** Calls that were asked about again because their preview changed: in the audit, in events, and on channels. */
import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { autoApprove } from '../../../src/channels/simple-channels.ts';
import { evidenceOfParts, evidenceParts } from '../../../src/audit/evidence.ts';
import { rulingsOf } from '../../../src/audit/rule-again.ts';
import { verifyEvidence } from '../../../src/audit/verify-evidence.ts';
import { evidenceOf } from '../../../src/client/audit/evidence-of.ts';
import { eventually } from '../../support/eventually.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { projectHistories, readExecutions } from '../../support/read-histories.ts';
import { recordedChannel } from '../channels/recorded-channel.ts';
import { approve, openBoundWorld, opened, previewed } from './bound-world.ts';

const assess = [{ pattern: 'purge', severity: 'high', reversible: false }];
const ceiling = { version: 1, rules: [], assess, approval: { max_irreversible_per_run: 2 } };
const world = forAllTests(() => openBoundWorld({ policy: ceiling }));

test('its rulings are made again: no grant answers it, and it counts once among irreversible calls', async () => {
  const [first, second] = [world.newTable('60 rows'), world.newTable('7 rows')];
  const purge = (name: string) => ({ calls: [{ tool: 'purge', args: { table: name } }] });
  const run = await world.start([purge(first), purge(second), { text: 'done' }]);
  let request = await previewed(run);
  for (const rows of [61, 62]) {
    world.set(first, `${rows} rows`);
    await approve(run, request, { always: { kind: 'call' } });
    request = await previewed(run, request);
  }
  await run.handle.executeUpdate('setPolicy', { args: [{ policy: { version: 1, rules: [] } }] });
  await approve(run, request);
  await approve(run, await previewed(run, request));
  await run.result();
  expect([...world.ranAbout(first), ...world.ranAbout(second)]).toEqual([`purge ${first} 62`, `purge ${second} 7`]);
  const { executions } = await world.client.historyChain(run.workflowId);
  const { entries, evidence } = evidenceOf(readExecutions(executions));
  const read = evidenceOfParts(JSON.parse(JSON.stringify(evidenceParts(evidence))));
  if ('problem' in read) throw new Error(read.problem);
  const { agreed, differing, notReRuled } = verifyEvidence(entries, read.evidence);
  expect({ differing, notReRuled }).toEqual({ differing: [], notReRuled: [] });
  expect(agreed).toEqual(rulingsOf(entries).map(({ seq }) => seq));
  expect(projectHistories([await run.handle.fetchHistory()])).toMatchObject({
    outcomes: [{ ran: 'no' }, { ran: 'no' }, { ran: 'yes' }, { ran: 'yes' }],
    gaps: [],
  });
});

test('channels get it with its preview, and one that answers by itself does not answer before', async () => {
  const people = recordedChannel();
  const automatic = await openBoundWorld({ channels: { people, auto: autoApprove() } });
  try {
    const table = automatic.newTable('60 rows');
    automatic.set(`${table}.hangs`, '');
    const run = await automatic.startPurge(table);
    expect((await opened(run)).preview).toEqual({ state: 'pending' });
    expect(people.notified).toEqual([]);
    rmSync(`${automatic.folder}/${table}.hangs`);
    expect((await run.result()).output).toBe('purged 60');
    await eventually('the people are notified', () => people.notified.length === 1);
    expect(people.notified[0]!.request.preview).toMatchObject({ state: 'ready', bound: { facts: { rows: '60' } } });
  } finally {
    await automatic.close();
  }
});

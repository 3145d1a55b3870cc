import { expect, test } from 'vitest';
import { openChannelStage, payOnce } from './channel-stage.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { recordedChannel } from './recorded-channel.ts';

/** Routes by tool, agent and severity: docs/channels.md. */

const stage = forAllTests(() => openChannelStage());

const quiet = () => recordedChannel({ resolves: false });

test('every route that matches counts; the default has what none matches', async () => {
  const [hall, ann, bob] = [quiet(), quiet(), quiet()];
  const requests = [
    { tool: 'p?y', channels: ['ann'] },
    { tool: '*', agent: 'tester', channels: ['bob'] },
    { agent: 'somebody', channels: ['hall'] },
  ];
  const run = await stage.start({ hall, ann, bob }, { routes: { default: ['hall'], requests } });
  const [request] = await run.open();
  expect(request).toMatchObject({ channels: ['ann', 'bob'] });
  await eventually('both are told', () => ann.notified.length + bob.notified.length === 2);
  await stage.world.client.decide({ requestId: request!.requestId, approved: true });
  await stage.ended(run);
  expect(hall.notified).toEqual([]);
});

test('a call whose severity rises with an edit is carried as it is then', async () => {
  const [hall, boss] = [quiet(), quiet()];
  const policy = {
    rules: [
      { pattern: 'pay', action: 'ask', ask: { reviewers: ['ann', 'cfo'] } },
      { pattern: 'pay', when: 'args.amount > 1000.0', action: 'ask', ask: { reviewers: ['cfo'] } },
    ],
    assess: [{ pattern: 'pay', args: { amount: '5000' }, severity: 'critical', reason: 'Much' }],
  };
  const routes = { default: ['hall'], requests: [{ minSeverity: 'high' as const, channels: ['boss'] }] };
  const run = await stage.start({ hall, boss }, { policy, routes });
  const [small] = await run.open();
  expect(small).toMatchObject({ channels: ['hall'], assessment: { severity: 'medium' } });
  const edit = { approved: true, reviewerId: 'ann', modifiedArguments: { to: 'ann', amount: 5_000 } };
  const { successor } = await stage.world.client.decide({ requestId: small!.requestId, ...edit });
  await eventually('the boss is told', () => boss.notified.length === 1);
  expect(boss.notified[0]!.request).toMatchObject({ requestId: successor, assessment: { severity: 'critical' } });
  await stage.world.client.decide({ requestId: successor!, approved: true, reviewerId: 'cfo' });
  await stage.ended(run);
});

test('a severity that a new policy raises brings its channel', async () => {
  const [hall, boss] = [quiet(), quiet()];
  const routes = { default: ['hall'], requests: [{ minSeverity: 'critical' as const, channels: ['boss'] }] };
  const run = await stage.start({ hall, boss }, { routes });
  const [request] = await run.open();
  const policy = {
    rules: [{ pattern: 'pay', action: 'ask' }],
    assess: [{ pattern: 'pay', severity: 'critical', reason: 'Much' }],
  };
  await stage.world.client.setPolicy(run.workflowId, { policy });
  await eventually('the boss is told', () => boss.notified.length === 1);
  expect(boss.notified[0]!.request).toMatchObject({
    requestId: request!.requestId,
    assessment: { severity: 'critical' },
  });
  await stage.world.client.decide({ requestId: request!.requestId, approved: true });
  await stage.ended(run);
});

test('a request that no channel carries is in the inbox', async () => {
  const hall = quiet();
  const requests = [{ tool: 'wipe', channels: ['hall'] }];
  const run = await stage.start({ hall }, { routes: { default: [], requests }, turns: payOnce });
  const [request] = await run.open();
  expect(request).not.toHaveProperty('channels');
  await stage.world.client.decide({ requestId: request!.requestId, approved: true });
  await run.result();
  expect(hall.notified).toEqual([]);
});

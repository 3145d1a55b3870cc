import { expect, test } from 'vitest';
import { channelSetOf, type ChannelOptions, knownChannelsOf } from '../../src/channels/channel-set.ts';
import { lintChannels } from '../../src/policy-file/lint-channels.ts';
import { parsePolicy } from '../../src/policy-file/parse-policy.ts';
import { activitySide } from '../../src/worker/activity-side.ts';
import { defaultAttributeNames } from '../../src/core/base/attribute-names.ts';

const chat = { notify: () => undefined };
const desk = () => true;
const pager = { ...chat, steps: ['asked', 'escalated'] as const };
const remind = 'remind: 15m, timeout: 1h';
const escalate = "reviewers: [ann], timeout: 1h, escalate: [{ after: 30m, to: ['group:cfo'] }]";
const log = "else only the worker's log has it";
const none = `which no channel of the worker sends to people: add one to 'channels'; ${log}`;
const notRouted = `which no channel of its requests sends to people: add one to 'routes'; ${log}`;

function policyText(ask: string, more = ''): string {
  return `rules: [{ id: r, pattern: 'pay*', action: ask, ask: { ${ask} } }]\n${more}`;
}

function warnings(ask: string, options: ChannelOptions, more?: string): string[] {
  const parsed = parsePolicy(policyText(ask, more), { ceiling: true });
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems));
  return lintChannels(parsed.policy, 'ceiling', knownChannelsOf(channelSetOf(options))).map(({ message }) => message);
}

test.each<[string, string, ChannelOptions, string]>([
  ['no channel', remind, {}, `rule r reminds every 15m, ${none}`],
  ['none that sends messages', remind, { channels: { desk } }, `rule r reminds every 15m, ${none}`],
  ['none that sends this step', remind, { channels: { pager } }, `rule r reminds every 15m, ${none}`],
  [
    'several steps',
    `${escalate}, remind: 15m, warn_before: 5m`,
    {},
    `rule r reminds every 15m, asks group:cfo after 30m, warns 5m before the deadline, ${none}`,
  ],
  ['one of several steps', `${escalate}, remind: 15m`, { channels: { pager } }, `rule r reminds every 15m, ${none}`],
  [
    'a channel that no route leads to',
    remind,
    { channels: { chat }, routes: { default: [] } },
    `rule r reminds every 15m, ${notRouted}`,
  ],
  [
    "another tool's route",
    remind,
    { channels: { chat, desk }, routes: { default: ['desk'], requests: [{ tool: 'deploy*', channels: ['chat'] }] } },
    `rule r reminds every 15m, ${notRouted}`,
  ],
  [
    'reviewers whose route takes the place of the default',
    `reviewers: [ann], ${remind}`,
    { channels: { chat, desk }, routes: { default: ['chat'], reviewers: { ann: ['desk'] } } },
    `rule r reminds every 15m, ${notRouted}`,
  ],
  [
    'a function that makes the routes, where no channel sends messages',
    remind,
    { channels: { desk }, routes: () => ({}) },
    `rule r reminds every 15m, ${none}`,
  ],
])('a step that nobody hears of: %s', (_, ask, options, sentence) => {
  expect(warnings(ask, options)).toEqual([sentence]);
});

test.each<[string, string, ChannelOptions, string?]>([
  ['no step', 'reviewers: [ann]', {}],
  ['a channel of the default', remind, { channels: { chat } }],
  ['a pager that takes escalations', escalate, { channels: { pager } }],
  ['a function that makes the routes', remind, { channels: { chat }, routes: () => ({ default: [] }) }],
  [
    'a route of requests that may match',
    remind,
    {
      channels: { chat },
      routes: { default: [], requests: [{ tool: 'pay_out', minSeverity: 'high', channels: ['chat'] }] },
    },
  ],
  [
    'the route of a group that the escalation adds',
    escalate,
    { channels: { chat, desk }, routes: { default: ['desk'], reviewers: { 'group:cfo': ['chat'] } } },
  ],
  [
    'the route of a member of a group',
    escalate,
    { channels: { chat, desk }, routes: { default: ['desk'], reviewers: { Eve: ['chat'] } } },
    'directory: { people: { eve: { groups: [cfo] } } }',
  ],
  [
    'a group that another policy may know',
    escalate,
    { channels: { chat, desk }, routes: { default: ['desk'], reviewers: { eve: ['chat'] } } },
  ],
])('no warning: %s', (_, ask, options, more) => expect(warnings(ask, options, more)).toEqual([]));

test('a worker says so of its own policy and of those of its agents when it starts', () => {
  const { policyWarnings } = activitySide({ policy: policyText(remind) }, defaultAttributeNames, undefined);
  expect(policyWarnings).toContain(`the worker's policy: rule r reminds every 15m, ${none}`);
});

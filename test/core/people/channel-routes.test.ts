import { expect, test } from 'vitest';
import { type ChannelRoutes, channelTimeoutMs, channelsFor } from '../../../src/core/people/channel-routes.ts';

const routes: ChannelRoutes = {
  channels: { desk: {}, mail: {}, pager: {}, console: { timeoutMs: 300_000 }, fast: { timeoutMs: 1_000 } },
  default: ['desk'],
  reviewers: { ann: ['mail'], 'group:finance': ['pager', 'mail'], 'Zo\u00eb': ['fast'], gone: ['removed'] },
};
const directories = [
  { people: { ann: { groups: ['legal'], keys: [] }, bob: { groups: ['legal', 'finance'], keys: [] } } },
];

const cases: [string, readonly string[], readonly string[] | undefined, string[]][] = [
  ['nobody in particular: the default', [], undefined, ['desk']],
  ['a person with a route', ['ann'], undefined, ['mail']],
  ['a person without one: the default', ['bob'], undefined, ['desk']],
  ['a group with a route', ['group:finance'], undefined, ['pager', 'mail']],
  ['a group without one: that of its members', ['group:legal'], undefined, ['mail']],
  ['a group that nobody is in', ['group:empty'], undefined, ['desk']],
  ['several: each channel once', ['ann', 'group:finance'], undefined, ['mail', 'pager']],
  ['names are compared in NFC', ['Zoe\u0308'], undefined, ['fast']],
  ['a route to a channel that is gone', ['gone'], undefined, []],
  ['channels that were chosen take the place of routes', ['ann'], ['pager', 'unknown'], ['pager']],
  ['no channel was chosen', ['ann'], [], []],
  ['a name of every object', ['constructor'], undefined, ['desk']],
];
test.each(cases)('%s', (_case, asked, chosen, expected) => {
  expect(channelsFor(routes, { asked, directories, chosen })).toEqual(expected);
});

test.each([
  [['console'], 300_000],
  [['console', 'fast'], 300_000],
  [['console', 'desk'], undefined],
  [[], undefined],
])('with the channels %j a request stays open for at most %s ms', (names, expected) => {
  expect(channelTimeoutMs(routes, names)).toBe(expected);
});

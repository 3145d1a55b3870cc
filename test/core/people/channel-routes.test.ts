import { describe, expect, test } from 'vitest';
import type { Severity } from '../../../src/core/base/tool-call.ts';
import {
  type ChannelRoutes,
  type RequestRoute,
  channelTimeoutMs,
  channelsFor,
  requestRouteProblem,
  requestRoutes,
} from '../../../src/core/people/channel-routes.ts';

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

describe('routes by what a request asks', () => {
  const requests: RequestRoute[] = [
    { tool: 'deploy_*', channels: ['pager', 'desk'] },
    { tool: '?ay', agent: 'clerk', channels: ['mail'] },
    { minSeverity: 'high', channels: ['pager'] },
    { tool: 'refund', minSeverity: 'medium', channels: ['fast'] },
    { agent: 'Zo\u00eb*', channels: ['console'] },
  ];
  const matched = requestRoutes({ ...routes, requests });
  const request = (toolName: string, agentName = 'tester', severity: Severity = 'low') => ({
    toolName,
    agentName,
    severity,
  });

  test.each([
    ['none matches', request('look'), []],
    ['a tool', request('deploy_web'), ['pager', 'desk']],
    ['a tool of another agent', request('pay'), []],
    ['a tool and an agent', request('pay', 'clerk'), ['mail']],
    ['below the severity', request('look', 'tester', 'medium'), []],
    ['at the severity', request('look', 'tester', 'high'), ['pager']],
    ['above it', request('look', 'tester', 'critical'), ['pager']],
    ['a tool below the severity', request('refund'), []],
    ['all that match', request('deploy_web', 'tester', 'critical'), ['pager', 'desk', 'pager']],
    ['names are compared in NFC', request('look', 'Zoe\u0308 2'), ['console']],
    ['a name that no glob can be compared with', request('\ufdd0', 'clerk'), ['pager', 'desk', 'mail']],
  ])('%s', (_case, asked, expected) => {
    expect(matched(asked)).toEqual(expected);
  });

  test('a glob that a later version wrote matches: nothing is lost', () => {
    const later = requestRoutes({ ...routes, requests: [{ tool: 'a[z-a]', channels: ['desk'] }] });
    expect(later(request('pay'))).toEqual(['desk']);
  });

  test.each([
    ['reviewers and requests add up', ['ann'], ['pager', 'mail'], undefined, ['mail', 'pager']],
    ['requests alone: no default', [], ['pager'], undefined, ['pager']],
    ['neither: the default', [], [], undefined, ['desk']],
    ['what was chosen counts alone', ['ann'], ['pager'], ['fast'], ['fast']],
  ])('%s', (_case, asked, ofRequest, chosen, expected) => {
    expect(channelsFor(routes, { asked, directories, ofRequest, chosen })).toEqual(expected);
  });

  test.each<[object, string | undefined, string]>([
    [{}, undefined, 'must say which requests it carries'],
    [{ tool: '' }, 'tool', 'is empty: write *'],
    [{ tool: 'bash:rm *' }, 'tool', "holds a ':'"],
    [{ tool: 'a[z-a]' }, 'tool', '[z-a]'],
    [{ tool: '*'.repeat(300) }, 'tool', 'at most 256'],
    [{ tool: 'a', agent: ' b' }, 'agent', 'begins or ends with a blank'],
    [{ minSeverity: 'huge' }, 'minSeverity', 'must be one of safe, low, medium, high, critical'],
  ])('%j: a problem of %s', (route, member, problem) => {
    expect(requestRouteProblem(route)).toEqual({
      ...(member !== undefined && { member }),
      problem: expect.stringContaining(problem),
    });
  });

  test('without a mistake: no problem', () => {
    for (const route of requests) expect(requestRouteProblem(route)).toBeUndefined();
  });
});

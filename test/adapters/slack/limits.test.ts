import { expect, test } from 'vitest';
import { inMessages, requestBlocks, runBlock } from '../../../src/adapters/slack/cards.ts';
import type { SlackSettings } from '../../../src/adapters/slack/slack-settings.ts';
import type { ApprovalDetails } from '../../../src/contract.ts';
import { cardSamples } from '../../card/card-samples.ts';
import { messageProblem, type SlackBlockInTest } from './slack-limits.ts';

/** Every message that is made fits what Slack takes, open or settled, whatever the requests hold. */

const settings: SlackSettings = {
  name: 'team',
  token: 'xoxb',
  signingSecret: 'x',
  channel: 'C0001',
  gatewayUrl: 'https://approvals.example.com',
};
const [base] = Object.values(cardSamples) as unknown as [ApprovalDetails];
const long = (length: number, text = 'x\u202E<&>"\\ß'): string =>
  text.repeat(Math.ceil(length / text.length)).slice(0, length);
const wide = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`argument ${index}`, long(400)]));

const cases: [string, Partial<ApprovalDetails>][] = [
  ['a small call', {}],
  ['long arguments', { arguments: { text: long(50_000) } }],
  ['many arguments', { arguments: wide }],
  ['a long id of the run', { workflowId: long(900, 'run-1/"') }],
  ['an id that no button holds', { workflowId: long(1_000, '"\\') }],
  ['a long sentence', { sentence: long(5_000) }],
  ['long reasons', { reason: long(3_000), contextSummary: long(500), toolName: long(200), agentName: long(200) }],
];
const settled = {
  outcome: 'denied' as const,
  runs: false,
  settledAt: '2030-01-01T00:00:00Z',
  reviewerId: long(200),
  reason: long(2_000),
};

test.each(cases)('%s', (_, more) => {
  // The last takes two messages.
  for (const count of [1, 2, 7, 12]) {
    const requests = Array.from({ length: count }, (_, index) => {
      return { ...base, digest: 'd'.repeat(64), workflowId: 'run-1', ...more, requestId: `${index}`.padStart(32, '0') };
    });
    const messages = inMessages(requests, settings);
    expect(messages.flat()).toEqual(requests);
    for (const together of messages) {
      const last = runBlock(together, settings);
      const open = together.flatMap((each) => requestBlocks(each, settings, together.length).blocks);
      const done = together.flatMap((each) => requestBlocks({ ...each, settled }, settings, together.length).blocks);
      for (const blocks of [
        [...open, last],
        [...done, last],
      ]) {
        expect(messageProblem('text', blocks as SlackBlockInTest[])).toBeUndefined();
      }
    }
  }
});

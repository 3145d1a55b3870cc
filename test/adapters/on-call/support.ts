import type { ChannelRequest, NotifyContext, SettledContext } from '../../../src/channels/channel.ts';
import type { Settlement } from '../../../src/contract.ts';
import { cardSamples } from '../../card/card-samples.ts';

export const refund: ChannelRequest = { ...cardSamples['refund']!, reviewers: ['ann', 'group:finance'] };

export const settlement: Settlement = {
  outcome: 'approved',
  runs: true,
  reviewerId: 'ann',
  settledAt: '2026-01-02T03:05:00.000Z',
};

export const notifyContext = (more: Partial<NotifyContext> = {}): NotifyContext => ({
  step: { kind: 'asked' },
  key: 'first',
  attempt: 1,
  requests: [refund],
  signal: new AbortController().signal,
  ...more,
});

export const settledContext = (more: Partial<SettledContext> = {}): SettledContext => ({
  key: 'end',
  attempt: 1,
  requests: [refund],
  signal: new AbortController().signal,
  ...more,
});

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { emailChannel, type EmailOptions } from '../../src/adapters/email/email-channel.ts';
import { slackChannel } from '../../src/adapters/slack/slack-channel.ts';
import type { SlackSettings } from '../../src/adapters/slack/slack-settings.ts';
import { webhookChannel } from '../../src/adapters/webhook/webhook-channel.ts';
import type { WebhookOptions } from '../../src/adapters/webhook/webhook-options.ts';
import type { Channel, ChannelAnswer } from '../../src/channels/channel.ts';
import { holds } from './eventually.ts';

/** A channel as JSON, so that a worker in another process has the same one. */
export type ChannelSpec =
  | { kind: 'function'; folder: string }
  | { kind: 'webhook'; options: WebhookOptions }
  | { kind: 'slack'; settings: SlackSettings }
  | { kind: 'email'; options: EmailOptions };

export async function makeChannel(spec: ChannelSpec): Promise<Channel> {
  switch (spec.kind) {
    case 'function':
      return desk(spec.folder);
    case 'webhook':
      return webhookChannel(spec.options);
    case 'slack':
      return slackChannel(spec.settings);
    case 'email':
      return emailChannel(spec.options);
  }
}

/** A function whose people are files of a folder: `notified` and `settled` list ids, `answer-ID` is the answer. */
function desk(folder: string): Channel {
  const note = (file: string, requestId: string): void => appendFileSync(join(folder, file), `${requestId}\n`);
  return {
    notify: ({ requestId }) => note('notified', requestId),
    settled: ({ requestId }) => note('settled', requestId),
    resolve: async ({ requestId }, signal) => {
      if (existsSync(join(folder, 'failing'))) throw new TypeError('the desk is closed');
      const file = join(folder, `answer-${requestId}`);
      await holds(() => existsSync(file), signal);
      return JSON.parse(readFileSync(file, 'utf8')) as ChannelAnswer;
    },
  };
}

import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { emailChannel, type EmailOptions } from '../../../src/adapters/email/email-channel.ts';
import { slackChannel } from '../../../src/adapters/slack/slack-channel.ts';
import type { SlackSettings } from '../../../src/adapters/slack/slack-settings.ts';
import { webhookChannel } from '../../../src/adapters/webhook/webhook-channel.ts';
import type { WebhookOptions } from '../../../src/adapters/webhook/webhook-settings.ts';
import type { Channel, ChannelAnswer } from '../../../src/channels/channel.ts';
import { httpTemplateChannel, type HttpTemplateOptions } from '../../../src/adapters/on-call/http-template-channel.ts';
import { webPushChannel } from '../../../src/adapters/web-push/web-push-channel.ts';
import type { WebPushOptions } from '../../../src/adapters/web-push/web-push-settings.ts';
import { conditional } from '../../../src/channels/simple-channels.ts';
import type { Severity } from '../../../src/core/base/tool-call.ts';
import { holds } from '../../support/eventually.ts';

/** A channel as JSON, so that a worker in another process has the same one. */
export type ChannelSpec =
  | { kind: 'function'; folder: string }
  | { kind: 'webhook'; options: WebhookOptions }
  | { kind: 'slack'; settings: SlackSettings }
  | { kind: 'email'; options: EmailOptions }
  | { kind: 'http_template'; options: HttpTemplateOptions }
  | { kind: 'web_push'; options: WebPushOptions }
  /** A function answers what is not below this severity. */
  | { kind: 'conditional'; below: Severity; folder: string };

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
    case 'http_template':
      return httpTemplateChannel(spec.options);
    case 'web_push':
      return webPushChannel(spec.options);
    case 'conditional':
      return conditional({ below: spec.below, otherwise: desk(spec.folder) });
  }
}

/**
 * The same channel, but a message about a call with the argument `to: lost` is sent and its call never returns: it writes
 * the id of the request to `file`.
 */
export function hangsAfterSending(channel: Channel, file: string): Channel {
  return {
    ...channel,
    notify: async (request, context) => {
      const sent = await channel.notify?.(request, context);
      if ((request.arguments as { to?: unknown }).to !== 'lost') return sent;
      appendFileSync(file, `${request.requestId}\n`);
      return new Promise(() => undefined);
    },
  };
}

/** A function whose people are files of a folder: `notified` and `settled` list ids, `answer-ID` is the answer. */
function desk(folder: string): Channel {
  const note = (file: string, requestId: string): void => appendFileSync(join(folder, file), `${requestId}\n`);
  return {
    notify: ({ requestId }) => note('notified', requestId),
    settled: ({ requestId }) => note('settled', requestId),
    resolve: async ({ requestId }, signal) => {
      const failing = join(folder, 'failing');
      if (existsSync(failing)) {
        rmSync(failing);
        throw new TypeError('the desk is closed');
      }
      const file = join(folder, `answer-${requestId}`);
      await holds(() => existsSync(file), signal);
      return JSON.parse(readFileSync(file, 'utf8')) as ChannelAnswer;
    },
  };
}

import { checkOptions } from '../agents/check-options.ts';
import type { ChannelKind } from '../channels/channel-kind.ts';
import type { ChannelSetUp } from '../channels/channel-set.ts';
import { readChannelFile } from '../channels/read-channel-file.ts';
import { simpleKinds } from '../channels/simple-channels.ts';
import { emailKind } from './email/email-kind.ts';
import { httpTemplateKind } from './on-call/http-template-channel.ts';
import { slackKind } from './slack/slack-channel.ts';
import { webPushKind } from './web-push/web-push-channel.ts';
import { webhookKind } from './webhook/webhook-channel.ts';

const kinds: Readonly<Record<string, ChannelKind>> = {
  ...simpleKinds,
  webhook: webhookKind,
  slack: slackKind,
  email: emailKind,
  http_template: httpTemplateKind,
  web_push: webPushKind,
};

/** Options of `readChannels`. */
export interface ReadChannelsOptions {
  /** Custom kinds by name, in addition to the built-in ones. */
  kinds?: Readonly<Record<string, ChannelKind>>;
}

/**
 * Reads a channel file (docs/channels.md), and makes its channels with their secrets. `source` is the file's text or
 * its path: a line that ends in `.yaml`, `.yml` or `.json`. Throws `policy_invalid` with every problem as
 * `FILE:LINE:COL message`, and a `DefinitionError` for an unknown option.
 *
 * @example
 * ```ts
 * import { isProblemError } from 'countersign';
 * import { readChannels } from 'countersign/channels';
 *
 * const { channels, routes } = await readChannels('channels: { ci: { kind: auto_deny, reason: Not in CI } }');
 * console.log(Object.keys(channels), routes); // [ 'ci' ] { default: [ 'ci' ], reviewers: {} }
 * try {
 *   await readChannels('channels: { ci: { kind: auto_deni } }');
 * } catch (error) {
 *   if (isProblemError(error)) console.log(error.code); // policy_invalid
 * }
 * ```
 */
export function readChannels(source: string, options: ReadChannelsOptions = {}): Promise<ChannelSetUp> {
  checkOptions('readChannels', options, { kinds: true });
  const { kinds: own = {} } = options;
  return readChannelFile(source, { ...kinds, ...own });
}

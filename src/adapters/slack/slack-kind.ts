import type { ChannelKind } from '../../channels/channel-kind.ts';
import { slackChannel } from './slack-channel.ts';
import { type SlackMembers, slackSettings, slackShape } from './slack-settings.ts';

/** `kind: slack` in a channel file (docs/slack.md). */
export const slackKind: ChannelKind<SlackMembers> = {
  shape: slackShape,
  make: (members, context) => slackChannel(slackSettings(members, context)),
};

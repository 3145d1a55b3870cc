import { z } from 'zod';
import type { ChannelContext } from '../../channels/channel-kind.ts';
import { gatewayOrigin } from '../../channels/gateway-origin.ts';
import { readSecret, secretShape } from '../../channels/secret.ts';
import { severities, type Severity } from '../../core/base/tool-call.ts';

/** One Slack channel in which reviewers are asked. */
export interface SlackSettings {
  /** The name of the entry in the channel file: buttons carry it. */
  name: string;
  /** The bot token of the app: `xoxb-…`. */
  token: string;
  /** The secret with which Slack signs its requests. */
  signingSecret: string;
  /** The id of the channel, such as `C0123456789`. */
  channel: string;
  /** The origin of the gateway, such as `https://approvals.example.com`. */
  gatewayUrl: string;
  /** Requests above it cannot be approved here. Default: all can. */
  highestSeverity?: Severity;
  /** Default `https://slack.com/api/`. */
  apiUrl?: string;
}

/** The members of an entry of kind `slack` in a channel file. */
export const slackShape = z.strictObject({
  token: secretShape,
  signing_secret: secretShape,
  channel: z.string().regex(/^[CGD][A-Z0-9]{2,}$/, 'expected the id of a channel, such as C0123456789'),
  gateway: z.string(),
  highest_severity: z.enum(severities).optional(),
  api_url: z.url({ protocol: /^https?$/ }).optional(),
});

export type SlackMembers = z.infer<typeof slackShape>;

/** The settings of an entry. Throws `policy_invalid` if a secret is missing, or the gateway is no https origin. */
export function slackSettings(members: SlackMembers, { name }: Pick<ChannelContext, 'name'>): SlackSettings {
  const { token, signing_secret: secret, channel, gateway, highest_severity: highest, api_url: apiUrl } = members;
  return {
    name,
    token: readSecret(token),
    signingSecret: readSecret(secret),
    channel,
    gatewayUrl: gatewayOrigin(gateway),
    ...(highest !== undefined && { highestSeverity: highest }),
    ...(apiUrl !== undefined && { apiUrl }),
  };
}

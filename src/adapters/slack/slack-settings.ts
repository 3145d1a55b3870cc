import { z } from 'zod';
import { type ChannelContext, readSecret, secretShape } from '../../channels/channel-kind.ts';
import { gatewayOrigin } from '../../channels/answer-link.ts';
import { ProblemError } from '../../core/base/problem.ts';
import { severities, type Severity } from '../../core/base/tool-call.ts';
import type { ApprovalDetails } from '../../contract.ts';
import { exceeds } from '../../channels/channel-answer.ts';

/** The settings of a Slack channel, whose app sends answers over HTTP or over Socket Mode. */
export type SlackSettings = SlackChannelSettings & (HttpListening | SocketListening);

/** The settings that do not depend on how Slack sends answers. */
export interface SlackChannelSettings {
  /** The name of the entry in the channel file. Buttons contain it. */
  name: string;
  /** The bot token of the app: `xoxb-…`. */
  token: string;
  /** The id of the channel, such as `C0123456789`. */
  channel: string;
  /** The origin of the gateway, such as `https://approvals.example.com`. */
  gatewayUrl: string;
  /** The highest severity of requests that can be approved here. Default: all can. */
  highestSeverity?: Severity;
  /** Default: `https://slack.com/api/`. */
  apiUrl?: string;
}

/** Slack sends answers to the gateway's address. */
export interface HttpListening {
  /** The secret with which Slack signs its requests. */
  signingSecret: string;
  appToken?: undefined;
}

/** The gateway opens a connection to Slack, over which Slack sends answers. */
export interface SocketListening {
  /** The app-level token of the app, with the scope `connections:write`: `xapp-…`. */
  appToken: string;
  signingSecret?: undefined;
}

export const slackShape = z
  .strictObject({
    token: secretShape,
    signing_secret: secretShape.optional(),
    app_token: secretShape.optional(),
    // Direct messages are excluded: the app must read the channel for updates, and may not read direct messages.
    channel: z.string().regex(/^[CG][A-Z0-9]{2,}$/, 'expected the id of a channel, such as C0123456789'),
    gateway: z.string(),
    highest_severity: z.enum(severities).optional(),
    api_url: z.url({ protocol: /^https?$/ }).optional(),
  })
  .refine(
    (members) => (members.signing_secret === undefined) !== (members.app_token === undefined),
    'must have either signing_secret (Slack sends to the gateway) or app_token (the gateway connects to Slack)',
  );

export type SlackMembers = z.infer<typeof slackShape>;

/** Returns the settings. Throws `policy_invalid` for an invalid secret, or a gateway that is no https origin. */
export function slackSettings(members: SlackMembers, { name }: Pick<ChannelContext, 'name'>): SlackSettings {
  const { token, channel, gateway, highest_severity: highest, api_url: apiUrl } = members;
  return {
    name,
    token: readSecret(token),
    channel,
    gatewayUrl: gatewayOrigin(gateway),
    ...listening(members),
    ...(highest !== undefined && { highestSeverity: highest }),
    ...(apiUrl !== undefined && { apiUrl }),
  };
}

function listening({ signing_secret: secret, app_token: place }: SlackMembers): HttpListening | SocketListening {
  if (place === undefined) return { signingSecret: readSecret(secret!) };
  const appToken = readSecret(place);
  if (appToken.startsWith('xapp-')) return { appToken };
  const message = `The 'app_token' of Slack is no app-level token, which begins with xapp-.`;
  throw new ProblemError({ code: 'policy_invalid', message });
}

export function isAboveCap(
  { assessment }: Pick<ApprovalDetails, 'assessment'>,
  { highestSeverity = 'critical' }: Pick<SlackSettings, 'highestSeverity'>,
): boolean {
  return exceeds(assessment.severity, highestSeverity);
}

/**
 * True if a channel may approve only up to a severity. Then it takes no edits, and its "always" is for the same call
 * only, because other arguments and later calls may be more severe.
 */
export function hasCap({ highestSeverity = 'critical' }: Pick<SlackSettings, 'highestSeverity'>): boolean {
  return highestSeverity !== 'critical';
}

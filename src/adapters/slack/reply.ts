import { instantText } from '../../text/instant-text.ts';
import { visibleText } from '../../text/visible-text.ts';
import { fallbackText, section } from '../../card/slack-blocks.ts';
import { plainText } from './buttons.ts';
import type { Interaction } from './interaction.ts';
import { openWebClient, refusalCode, slackProblem } from './open-web-client.ts';
import type { SlackSettings } from './slack-settings.ts';

/** What a person is told after a click. */
export interface Reply {
  text: string;
  /** An instant (ISO 8601) that follows the text. */
  at?: string;
  /** Where to go on. */
  link?: { label: string; url: string };
  /** True: it is about what they entered in the modal, which stays open. */
  isAboutInput?: boolean;
}

const longestText = 2_500;
const timeoutMs = 10_000;

/** Sends a reply to one person in a channel; nobody else sees it. */
export async function sendReply(
  settings: SlackSettings,
  { channel, account: { user }, responseUrl }: Pick<Interaction, 'channel' | 'account' | 'responseUrl'>,
  { text, at, link }: Reply,
): Promise<void> {
  const shown = visibleText(text).slice(0, longestText).toWellFormed();
  const button = link && { type: 'button', action_id: 'open', text: plainText(link.label), url: link.url };
  const blocks = [
    { type: 'rich_text', elements: [section([{ text: shown, at }])] },
    ...(button === undefined ? [] : [{ type: 'actions', elements: [button] }]),
  ];
  const content = { text: fallbackText(shown + (at === undefined ? '' : instantText(at))), blocks };
  try {
    const client = await openWebClient(settings);
    await client.apiCall('chat.postEphemeral', { channel, user, ...content, parse: 'none' });
  } catch (error) {
    const problem = slackProblem(error, 'chat.postEphemeral', channel);
    // Such as `user_not_in_channel`. Where the answer was lost, a second message would be one too many.
    if (responseUrl === undefined || refusalCode(error) === undefined || !isOfSlack(responseUrl, settings))
      throw problem;
    await respond(responseUrl, content).catch(() => {
      throw problem;
    });
  }
}

async function respond(url: string, content: object): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ response_type: 'ephemeral', replace_original: false, ...content }),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (!response.ok) throw new Error(`status ${response.status}`);
}

function isOfSlack(url: string, { apiUrl = 'https://slack.com/api/' }: SlackSettings): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, origin } = new URL(url);
  const api = new URL(apiUrl);
  return origin === api.origin || (protocol === 'https:' && hostname.endsWith(`.${api.hostname}`));
}

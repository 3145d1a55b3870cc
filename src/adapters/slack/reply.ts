import type { WebClient } from '@slack/web-api';
import { visibleText } from '../../core/base/visible-text.ts';
import { fallbackText, section } from '../../core/card/slack-blocks.ts';
import { plainText } from './buttons.ts';

/** What a person is told after a click. */
export interface Reply {
  text: string;
  /** Where to go on. */
  link?: { label: string; url: string };
  /** True: it is about what they entered in the modal, which stays open. */
  isAboutInput?: boolean;
}

const longestText = 2_500;

/** Sends a reply to one person in a channel; nobody else sees it. */
export async function sendReply(
  client: WebClient,
  channel: string,
  user: string,
  { text, link }: Reply,
): Promise<void> {
  const shown = visibleText(text).slice(0, longestText).toWellFormed();
  const button = link && { type: 'button', action_id: 'open', text: plainText(link.label), url: link.url };
  const blocks = [
    { type: 'rich_text', elements: [section([{ text: shown }])] },
    ...(button === undefined ? [] : [{ type: 'actions', elements: [button] }]),
  ];
  await client.apiCall('chat.postEphemeral', { channel, user, text: fallbackText(shown), blocks, parse: 'none' });
}

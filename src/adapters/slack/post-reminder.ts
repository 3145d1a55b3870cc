import type { WebClient } from '@slack/web-api';
import type { ChannelStep, NotifyContext } from '../../channels/channel.ts';
import { visibleText } from '../../text/visible-text.ts';
import { fallbackText, section } from '../../card/slack-blocks.ts';
import { slackProblem } from './open-web-client.ts';
import { post } from './post-requests.ts';
import { sentSince } from './sent-messages.ts';

const mostNames = 20;
/** Reminders of a request are looked for since its message. */
const marginMs = 1_000;

/** Says in the thread of a message, and once more in the channel, that its requests still wait. */
export async function postReminder(
  client: WebClient,
  { channel, ts }: { channel: string; ts: string },
  { key, attempt, step, requests }: Pick<NotifyContext, 'key' | 'attempt' | 'step' | 'requests'>,
): Promise<void> {
  if (attempt > 1) {
    const scope = { channel, oldestMs: Number(ts) * 1_000 - marginMs, threadOf: ts };
    const before = await sentSince(client, scope).catch((error: unknown) => {
      throw slackProblem(error, 'conversations.replies', channel);
    });
    if (before.has(key)) return;
  }
  const lines = requests.slice(0, mostNames).map(({ toolName, deadline }) => {
    const until = deadline === null ? { text: 'without a deadline' } : { text: 'until ', at: deadline };
    return section([{ text: `${visibleText(toolName)}: waits ` }, until]);
  });
  const left = requests.length - lines.length;
  const heading = headingOf(step);
  const blocks = [
    {
      type: 'rich_text' as const,
      elements: [
        section([{ text: heading, bold: true }]),
        ...lines,
        ...(left > 0 ? [section([{ text: `and ${left} more` }])] : []),
      ],
    },
  ];
  await post(client, { channel, thread_ts: ts, reply_broadcast: true, text: fallbackText(heading), blocks }, key);
}

function headingOf({ kind, to = [] }: ChannelStep): string {
  switch (kind) {
    case 'warned':
      return 'This is about to expire.';
    case 'escalated':
      return `Escalated to ${to.map((each) => visibleText(each)).join(', ')}.`.slice(0, 500).toWellFormed();
    case 'user_wrote':
      return 'The user has written since this was asked: the buttons take the card as it is now.';
    case 'asked':
    case 'reminded':
      return 'This still waits for an answer.';
  }
}

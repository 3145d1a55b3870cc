import type { WebClient } from '@slack/web-api';
import type { ApprovalDetails } from '../../contract.ts';
import { blockOwner, type MessageBlock, requestBlocks } from './message-blocks.ts';
import { slackProblem } from './open-web-client.ts';
import { titleOf } from './post-requests.ts';
import type { SlackSettings } from './slack-settings.ts';

/**
 * Updates a message with the present state of its requests. The blocks of a request that it already shows as settled stay
 * as they are, because `requests` may be older.
 */
export async function updateMessage(
  client: WebClient,
  settings: SlackSettings,
  { channel, ts }: { channel: string; ts: string },
  requests: readonly ApprovalDetails[],
): Promise<void> {
  const message = await presentMessage(client, channel, ts);
  // Somebody has deleted the message.
  if (message === undefined) return;
  const present = (message.blocks ?? []) as MessageBlock[];
  const ids = [...new Set(present.flatMap((block) => blockOwner(block.block_id)?.requestId ?? []))];
  const common = present.filter((block) => blockOwner(block.block_id) === undefined);
  const shown = ids.flatMap((requestId) => {
    const own = present.filter((block) => blockOwner(block.block_id)?.requestId === requestId);
    const request = requests.find((each) => each.requestId === requestId);
    if (request === undefined || own.some((block) => blockOwner(block.block_id)?.isOutcome)) return own;
    return requestBlocks(request, settings, ids.length).blocks;
  });
  try {
    const { metadata } = message;
    await client.apiCall('chat.update', {
      channel,
      ts,
      text: titleOf(requests),
      blocks: [...shown, ...common],
      metadata,
      parse: 'none',
    });
  } catch (error) {
    throw slackProblem(error, 'chat.update', channel);
  }
}

async function presentMessage(client: WebClient, channel: string, ts: string) {
  try {
    const range = { channel, latest: ts, oldest: ts, inclusive: true, limit: 1, include_all_metadata: true };
    const { messages = [] } = await client.conversations.history(range);
    return messages.find((each) => each.ts === ts);
  } catch (error) {
    throw slackProblem(error, 'conversations.history', channel);
  }
}

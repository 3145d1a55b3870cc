import type { WebClient } from '@slack/web-api';
import type { ApprovalDetails } from '../../contract.ts';
import { blockOwner, type MessageBlock, requestBlocks } from './cards.ts';
import { slackProblem } from './slack-api.ts';
import { titleOf } from './post.ts';
import type { SlackSettings } from './slack-settings.ts';

/**
 * Updates a message with the present state of its requests, and returns the ids of those that it then shows as settled.
 * The blocks of a request that it already shows as settled do not change, because `requests` may be older.
 */
export async function updateMessage(
  client: WebClient,
  settings: SlackSettings,
  { channel, ts }: { channel: string; ts: string },
  requests: readonly ApprovalDetails[],
): Promise<string[]> {
  const message = await fetchMessage(client, channel, ts);
  const present = (message?.blocks ?? []) as MessageBlock[];
  const ids = [...new Set(present.flatMap((block) => blockOwner(block.block_id)?.requestId ?? []))];
  const common = present.filter((block) => blockOwner(block.block_id) === undefined);
  const parts = ids.map((requestId) => {
    const own = present.filter((block) => blockOwner(block.block_id)?.requestId === requestId);
    const wasSettled = own.some((block) => blockOwner(block.block_id)?.isOutcome);
    const request = requests.find((each) => each.requestId === requestId);
    const now = request && requestBlocks(request, settings, ids.length).blocks;
    const isSettled = wasSettled || request?.settled !== undefined;
    const blocks = wasSettled ? asWritten(own, now) : (now ?? own);
    return { requestId, isSettled, blocks, request, isNews: wasSettled ? false : idsOf(blocks) !== idsOf(own) };
  });
  const settledIds = parts.filter(({ isSettled }) => isSettled).map(({ requestId }) => requestId);
  // Nothing to show, or no message: it was deleted, though Slack may keep an empty one.
  if (parts.every(({ isNews }) => !isNews)) return settledIds;
  try {
    await client.apiCall('chat.update', {
      channel,
      ts,
      text: titleOf(parts.flatMap(({ request }) => request ?? [])),
      blocks: [...parts.flatMap(({ blocks }) => blocks), ...common],
      metadata: message?.metadata,
      parse: 'none',
    });
  } catch (error) {
    throw slackProblem(error, 'chat.update', channel);
  }
  return settledIds;
}

/** The ids of blocks name the shown card, and whether it is settled. */
function idsOf(blocks: readonly MessageBlock[]): string {
  return blocks.map(({ block_id: id }) => id).join(' ');
}

/**
 * Slack may return texts with `&`, `<` and `>` as entities. Blocks that are equal without them keep their own texts.
 */
function asWritten(own: MessageBlock[], rendered: MessageBlock[] | undefined): MessageBlock[] {
  const read = textsOf(own).map((text) =>
    text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
  );
  return rendered !== undefined && JSON.stringify(read) === JSON.stringify(textsOf(rendered)) ? rendered : own;
}

function textsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    name === 'text' && typeof each === 'string' ? [each] : textsOf(each),
  );
}

async function fetchMessage(client: WebClient, channel: string, ts: string) {
  try {
    const range = { channel, latest: ts, oldest: ts, inclusive: true, limit: 1, include_all_metadata: true };
    const { messages = [] } = await client.conversations.history(range);
    return messages.find((each) => each.ts === ts);
  } catch (error) {
    throw slackProblem(error, 'conversations.history', channel);
  }
}

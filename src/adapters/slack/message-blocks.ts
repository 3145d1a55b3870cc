import type { ApprovalDetails } from '../../contract.ts';
import type { Card } from '../../card/card.ts';
import { renderSlack, renderSlackRows, renderSlackSummary } from '../../card/render-slack.ts';
import { section, type SlackBlock, type SlackMessage } from '../../card/slack-blocks.ts';
import { shortSentence } from '../../channels/short-request.ts';
import { type Button, buttonsOf, openButton, openUrl } from './buttons.ts';
import { openBlockId, slackCard, writeRun } from './shown-request.ts';
import type { SlackSettings } from './slack-settings.ts';

/** A block of a message: of a card, or buttons. The id says of which request. */
export type MessageBlock = (SlackBlock | { type: 'actions'; elements: Button[] }) & { block_id?: string };

/** About how many characters of JSON a message has at most (slack-blocks.ts), and how many requests. */
const longestMessage = 13_000;
const mostRequests = 10;
/** What a card needs at least to be of use. */
const shortestCard = 400;
/** The outcome takes no more room than the buttons did. */
const longestOutcome = { alone: 2_500, together: 450 };
/** About how long the block with the buttons of one request is, and the frame of the block with its card. */
const buttonsLength = 540;
const frame = 100;

/** The requests of each message: those of one run, as many as fit. */
export function inMessages(requests: readonly ApprovalDetails[], settings: SlackSettings): ApprovalDetails[][] {
  const needed = buttonsLength + frame + shortestCard;
  const messages: ApprovalDetails[][] = [];
  let room = 0;
  for (const request of requests) {
    const last = messages.at(-1);
    if (last?.[0]!.workflowId === request.workflowId && last.length < mostRequests && needed <= room) {
      last.push(request);
    } else {
      messages.push([request]);
      room = longestMessage - lengthOf(runBlock([request], settings));
    }
    room -= needed;
  }
  return messages;
}

/**
 * A request among `together` of one message, and what follows in the thread. While it is open it has buttons; afterwards
 * the message says who settled it, how and when. A request that has its message for itself shows its whole card there; of
 * others the thread shows what is cut.
 */
export function requestBlocks(
  request: ApprovalDetails,
  settings: SlackSettings,
  together: number,
): { blocks: MessageBlock[]; thread: SlackMessage[] } {
  const { settled, ...card } = slackCard(request, settings);
  const { blocks, thread } = cardBlocks(request, card, settings, together);
  const { requestId, workflowId } = request;
  if (settled !== undefined) {
    const outcome = renderSlackRows(settled, together === 1 ? longestOutcome.alone : longestOutcome.together);
    return { blocks: [...blocks, { ...outcome, block_id: `settled.${requestId}` }], thread };
  }
  // The inbox has to do where Slack cannot remember the run.
  if (writeRun({ entry: settings.name, workflowId }) === undefined) return { blocks, thread };
  const elements = buttonsOf(request, card, settings, together === 1);
  return { blocks: [...blocks, { type: 'actions', block_id: openBlockId(request, card), elements }], thread };
}

/** A request as text alone, if Slack refuses its card. People answer in the inbox. */
export function shortBlock(request: ApprovalDetails): MessageBlock {
  const elements = [section([{ text: shortSentence(request) }])];
  return { type: 'rich_text', elements, block_id: `card.${request.requestId}.0` };
}

/** The last block of a message: a link, and what its requests have in common. */
export function runBlock(requests: readonly ApprovalDetails[], settings: SlackSettings): MessageBlock {
  const [{ workflowId, requestId }] = requests as [ApprovalDetails];
  const url = openUrl(requests.length === 1 ? { workflowId, requestId } : { workflowId }, settings);
  const elements = [openButton(url, writeRun({ entry: settings.name, workflowId }))];
  return { type: 'actions', block_id: runBlockId, elements };
}

/** The id of the block in which a message remembers its run. */
export const runBlockId = 'run';

/** The request of a block, and whether the block says how it was settled. */
export function blockOwner(blockId: unknown): { requestId: string; isOutcome: boolean } | undefined {
  const parts = typeof blockId === 'string' ? /^(open|card|settled)\.([0-9a-f]{32})(?:\.|$)/.exec(blockId) : null;
  return parts === null ? undefined : { requestId: parts[2]!, isOutcome: parts[1] === 'settled' };
}

function cardBlocks(
  request: ApprovalDetails,
  card: Card,
  settings: SlackSettings,
  together: number,
): { blocks: MessageBlock[]; thread: SlackMessage[] } {
  const named = (blocks: SlackBlock[]): MessageBlock[] =>
    blocks.map((block, index) => ({ ...block, block_id: `card.${request.requestId}.${index}` }));
  if (together === 1) {
    const [first, ...thread] = renderSlack(card);
    return { blocks: named(first!.blocks), thread };
  }
  const share = Math.floor((longestMessage - lengthOf(runBlock([request], settings))) / together);
  const room = share - buttonsLength - frame;
  const { block, whole } = renderSlackSummary(card, Math.max(room, shortestCard));
  return { blocks: named([block]), thread: whole ? [] : renderSlack(card) };
}

function lengthOf(block: MessageBlock): number {
  return JSON.stringify(block).length;
}

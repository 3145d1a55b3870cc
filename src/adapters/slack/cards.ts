import type { ApprovalDetails, RequestedScope } from '../../contract.ts';
import { visibleText } from '../../text/visible-text.ts';
import type { AnswerName, Card } from '../../card/card.ts';
import { inboxUrl } from '../../channels/answer-link.ts';
import { hasCap, isAboveCap, type SlackSettings } from './slack-settings.ts';
import { cardDigest, cardOf } from '../../card/card-of.ts';
import { pressedScope } from '../../core/ledger/make-grant.ts';
import type { SlackBlock, SlackMessage } from '../../card/render-slack.ts';
import { renderSlack, renderSlackRows, renderSlackSummary, section } from '../../card/render-slack.ts';
import { shortSentence } from '../../channels/outgoing/not-taken.ts';

export type ActionId = 'approve' | 'comment' | 'deny' | 'edit' | 'always' | 'open';

export interface Button {
  type: 'button';
  action_id: ActionId;
  text: PlainText;
  value?: string;
  url?: string;
  style?: 'danger';
  confirm?: { title: PlainText; text: PlainText; confirm: PlainText; deny: PlainText };
}

interface PlainText {
  type: 'plain_text';
  text: string;
}

/** The most characters of the text of a confirmation in Slack. */
const longestEffect = 300;
/** The longest URL of a button. Slack allows longer ones, but limits the size of the message, too. */
const longestUrl = 1_000;

/** The buttons of an open request; above the cap only Deny. `isAlone`: no other in its message, so room for more. */
export function buttonsOf(request: ApprovalDetails, card: Card, settings: SlackSettings, isAlone: boolean): Button[] {
  const deny = button('deny', 'Deny…', { style: 'danger' });
  if (isAboveCap(request, settings)) return [deny];
  const offers = (name: AnswerName): boolean => card.answers.some((each) => each.name === name);
  const question = (name: AnswerName, verb: string): Partial<Button> => (isAlone ? confirmation(card, name, verb) : {});
  // As in the inbox, the prominent button is the one that denies.
  return [
    button('approve', 'Approve', question('approve', 'Approve')),
    ...(isAlone ? [button('comment', 'Approve with a comment…')] : []),
    deny,
    ...(offers('edit') && !hasCap(settings) ? [button('edit', 'Edit…')] : []),
    ...(offers('always') ? [button('always', 'Always', question('always', 'Always'))] : []),
  ];
}

/** Builds the button that opens the inbox. Slack returns `value` with each click on a button of the message. */
export function openButton(url: string, value: string | undefined): Button {
  return button('open', 'Open in the inbox', { url, ...(value !== undefined && { value }) });
}

/** The URL of a request or a run in the inbox; if that URL is too long for Slack, the URL of the inbox. */
export function openUrl(place: { workflowId: string; requestId?: string }, { gatewayUrl }: SlackSettings): string {
  const url = inboxUrl(gatewayUrl, place);
  return url.length <= longestUrl ? url : `${gatewayUrl}/inbox/`;
}

export function plainText(text: string): PlainText {
  return { type: 'plain_text', text };
}

function button(action_id: ActionId, text: string, more: Partial<Button> = {}): Button {
  return { type: 'button', action_id, text: plainText(text), ...more };
}

/** Builds the question that Slack asks before it sends the click. */
function confirmation({ answers }: Card, name: AnswerName, verb: string): Pick<Button, 'confirm'> {
  const effect = visibleText(answers.find((each) => each.name === name)?.effect ?? '');
  const text = effect.length <= longestEffect ? effect : `${effect.slice(0, longestEffect - 2)}…`;
  const words = { title: plainText(`${verb}?`), text: plainText(text.toWellFormed()) };
  return { confirm: { ...words, confirm: plainText(verb), deny: plainText('Not now') } };
}

/** The request that a click is about, as the message showed it. Slack returns it with the click. */
export interface ShownRequest {
  /** The name of the channel's entry in the channel file. */
  entry: string;
  workflowId: string;
  requestId: string;
  /** The digest of the call. */
  digest: string;
  /** The digest of the card. */
  card: string;
  /** How many messages of the user the card showed. */
  userMessages?: number;
}

/** The longest `value` of the inbox button, which stores the run. Slack allows more, but limits the message, too. */
const longestRun = 1_200;

/** Builds the card of a request for Slack. It lacks the time left, which would need an update every minute. */
export function slackCard(request: ApprovalDetails, settings: SlackSettings): Card {
  return cardOf(request, { always: alwaysScope(request, settings)?.kind ?? false });
}

/** The scope that "Always" grants here: with a cap, only the same call. Undefined if the button is not offered. */
export function alwaysScope({ always }: ApprovalDetails, settings: SlackSettings): RequestedScope | undefined {
  if (always === undefined) return undefined;
  return hasCap(settings) ? { kind: 'call' } : pressedScope(always);
}

/** Writes the id of the block with a request's buttons. It is short, because Slack limits the size of a message. */
export function writeRequest(shown: Pick<ShownRequest, 'requestId' | 'digest' | 'card' | 'userMessages'>): string {
  const { requestId, digest, card, userMessages } = shown;
  const parts = ['open', requestId, base64urlOf(digest), base64urlOf(card), userMessages];
  return parts.filter((part) => part !== undefined).join('.');
}

export function openBlockId({ requestId, digest, userMessages }: ApprovalDetails, card: Card): string {
  return writeRequest({ requestId, digest, card: cardDigest(card), userMessages: userMessages?.count ?? 0 });
}

/** Writes what all requests of a message have in common. Undefined if that is too long for Slack. */
export function writeRun({ entry, workflowId }: Pick<ShownRequest, 'entry' | 'workflowId'>): string | undefined {
  // Escape the three characters that Slack may return as entities.
  const text = JSON.stringify([entry, workflowId]).replaceAll(/[&<>]/g, asEscape);
  return text.length > longestRun ? undefined : text;
}

/** Reads what `writeRequest` and `writeRun` wrote. Undefined for any other text. */
export function readShown(blockId: string, run: string | undefined): ShownRequest | undefined {
  const ids = /^open\.([0-9a-f]{32})\.([\w-]{43})\.([\w-]{43})(?:\.(\d{1,3}))?$/.exec(blockId);
  const [entry, workflowId] = readTexts(run, 2) ?? [];
  if (ids === null || entry === undefined || workflowId === undefined) return undefined;
  const [, requestId, digest, card, count] = ids as unknown as [string, string, string, string, string?];
  const shown = { entry, workflowId, requestId, digest: hexOf(digest), card: hexOf(card) };
  return count === undefined ? shown : { ...shown, userMessages: Number(count) };
}

/** Reads a JSON list of this many texts; undefined for anything else. */
export function readTexts(text: string | undefined, count: number): string[] | undefined {
  try {
    const texts: unknown = JSON.parse(text ?? '');
    const isList = Array.isArray(texts) && texts.length === count && texts.every((each) => typeof each === 'string');
    return isList ? texts : undefined;
  } catch {
    return undefined;
  }
}

function asEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function base64urlOf(hex: string): string {
  return Buffer.from(hex, 'hex').toString('base64url');
}

function hexOf(text: string): string {
  return Buffer.from(text, 'base64url').toString('hex');
}

/** A block of a message, with a part of a card, or with buttons. Its id contains the id of the request. */
export type MessageBlock = (SlackBlock | { type: 'actions'; elements: Button[] }) & { block_id?: string };

/** The most characters of a message as JSON (see `render-slack.ts`). */
const longestMessage = 13_000;
const mostRequests = 10;
const shortestCard = 400;
/** The most characters of an outcome. It takes no more room than the buttons that it replaces. */
const longestOutcome = { alone: 2_500, together: 450 };
/** About how long the block with the buttons of one request is. */
const buttonsLength = 540;
/** About how long the JSON around the text of a card is. */
const cardFrameLength = 100;

/** Groups requests into messages, as many as fit into each. All requests of a message belong to one run. */
export function inMessages(requests: readonly ApprovalDetails[], settings: SlackSettings): ApprovalDetails[][] {
  const leastLength = buttonsLength + cardFrameLength + shortestCard;
  const messages: ApprovalDetails[][] = [];
  let lengthLeft = 0;
  for (const request of requests) {
    const last = messages.at(-1);
    if (last?.[0]!.workflowId === request.workflowId && last.length < mostRequests && leastLength <= lengthLeft) {
      last.push(request);
    } else {
      messages.push([request]);
      lengthLeft = longestMessage - lengthOf(runBlock([request], settings));
    }
    lengthLeft -= leastLength;
  }
  return messages;
}

/**
 * Returns the blocks of one request in a message of `requestCount` requests, and the messages that continue it in the
 * thread. A settled request has its outcome, and an open one has buttons, unless its run's id is too long for a button.
 */
export function requestBlocks(
  request: ApprovalDetails,
  settings: SlackSettings,
  requestCount: number,
): { blocks: MessageBlock[]; thread: SlackMessage[] } {
  const { settled, ...card } = slackCard(request, settings);
  const { blocks, thread } = cardBlocks(request, card, settings, requestCount);
  const { requestId, workflowId } = request;
  if (settled !== undefined) {
    const outcome = renderSlackRows(settled, requestCount === 1 ? longestOutcome.alone : longestOutcome.together);
    return { blocks: [...blocks, { ...outcome, block_id: `settled.${requestId}` }], thread };
  }
  // Reviewers then answer in the inbox.
  if (writeRun({ entry: settings.name, workflowId }) === undefined) return { blocks, thread };
  const elements = buttonsOf(request, card, settings, requestCount === 1);
  return { blocks: [...blocks, { type: 'actions', block_id: openBlockId(request, card), elements }], thread };
}

/** Returns a block with a short text, for a request whose card Slack refuses. Reviewers answer in the inbox. */
export function shortBlock(request: ApprovalDetails): MessageBlock {
  const elements = [section([{ text: shortSentence(request) }])];
  return { type: 'rich_text', elements, block_id: `card.${request.requestId}.0` };
}

/** Returns the last block of a message: the button to the inbox, which also stores the common data of the requests. */
export function runBlock(requests: readonly ApprovalDetails[], settings: SlackSettings): MessageBlock {
  const [{ workflowId, requestId }] = requests as [ApprovalDetails];
  const url = openUrl(requests.length === 1 ? { workflowId, requestId } : { workflowId }, settings);
  const elements = [openButton(url, writeRun({ entry: settings.name, workflowId }))];
  return { type: 'actions', block_id: runBlockId, elements };
}

export const runBlockId = 'run';

/** Reads from a block's id its request, and whether the block shows the outcome. */
export function blockOwner(blockId: unknown): { requestId: string; isOutcome: boolean } | undefined {
  const parts = typeof blockId === 'string' ? /^(open|card|settled)\.([0-9a-f]{32})(?:\.|$)/.exec(blockId) : null;
  return parts === null ? undefined : { requestId: parts[2]!, isOutcome: parts[1] === 'settled' };
}

/**
 * Returns the blocks of a card, without buttons. The card of a message's only request fills the message and goes on in
 * its thread. Any other card becomes a summary and, if the summary leaves something out, goes into the thread.
 */
function cardBlocks(
  request: ApprovalDetails,
  card: Card,
  settings: SlackSettings,
  requestCount: number,
): { blocks: MessageBlock[]; thread: SlackMessage[] } {
  const withIds = (blocks: SlackBlock[]): MessageBlock[] =>
    blocks.map((block, index) => ({ ...block, block_id: `card.${request.requestId}.${index}` }));
  if (requestCount === 1) {
    const [first, ...thread] = renderSlack(card);
    return { blocks: withIds(first!.blocks), thread };
  }
  const share = Math.floor((longestMessage - lengthOf(runBlock([request], settings))) / requestCount);
  const textLength = share - buttonsLength - cardFrameLength;
  const { block, whole: showsAll } = renderSlackSummary(card, Math.max(textLength, shortestCard));
  return { blocks: withIds([block]), thread: showsAll ? [] : renderSlack(card) };
}

function lengthOf(block: MessageBlock): number {
  return JSON.stringify(block).length;
}

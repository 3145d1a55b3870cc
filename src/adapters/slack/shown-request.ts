import type { ApprovalDetails, RequestedScope } from '../../contract.ts';
import type { Card } from '../../card/card.ts';
import { cardDigest, cardOf } from '../../card/card-of.ts';
import { pressedScope } from '../../core/ledger/make-grant.ts';
import { hasCap } from './severity-cap.ts';
import type { SlackSettings } from './slack-settings.ts';

/** What a click is about: the request as the message showed it. Slack returns it with the click. */
export interface ShownRequest {
  /** The name of the channel's entry in the channel file. */
  entry: string;
  workflowId: string;
  requestId: string;
  /** Of the call. */
  digest: string;
  /** Of the card. */
  card: string;
  /** How many messages of the user the card showed. Absent on messages of older versions. */
  userMessages?: number;
}

/** Less than Slack's limit of a value, because a message has one, too. */
const longestRun = 1_200;

/** The card of a request in Slack. It does not say how much time is left: nobody redraws it every minute. */
export function slackCard(request: ApprovalDetails, settings: SlackSettings): Card {
  return cardOf(request, { always: alwaysScope(request, settings)?.kind ?? false });
}

/** What "always" leaves behind if it is pressed here; undefined if it is not offered. Patterns need the inbox. */
export function alwaysScope({ always }: ApprovalDetails, settings: SlackSettings): RequestedScope | undefined {
  if (always === undefined) return undefined;
  return hasCap(settings) ? { kind: 'call' } : pressedScope(always);
}

/** The id of the block with the buttons of a request. Short, because a message holds many, and Slack bounds its size. */
export function writeRequest(shown: Pick<ShownRequest, 'requestId' | 'digest' | 'card' | 'userMessages'>): string {
  const { requestId, digest, card, userMessages } = shown;
  const parts = ['open', requestId, base64urlOf(digest), base64urlOf(card), userMessages];
  return parts.filter((part) => part !== undefined).join('.');
}

/** As `writeRequest`, of a request and its card. */
export function openBlockId({ requestId, digest, userMessages }: ApprovalDetails, card: Card): string {
  return writeRequest({ requestId, digest, card: cardDigest(card), userMessages: userMessages?.count ?? 0 });
}

/** What all requests of a message have in common; undefined if it is too long for Slack. */
export function writeRun({ entry, workflowId }: Pick<ShownRequest, 'entry' | 'workflowId'>): string | undefined {
  // Slack may return these three characters as entities.
  const text = JSON.stringify([entry, workflowId]).replaceAll(/[&<>]/g, asEscape);
  return text.length > longestRun ? undefined : text;
}

/** Undefined for anything that `writeRequest` and `writeRun` did not write. */
export function readShown(blockId: string, run: string | undefined): ShownRequest | undefined {
  const ids = /^open\.([0-9a-f]{32})\.([\w-]{43})\.([\w-]{43})(?:\.(\d{1,3}))?$/.exec(blockId);
  const [entry, workflowId] = readTexts(run, 2) ?? [];
  if (ids === null || entry === undefined || workflowId === undefined) return undefined;
  const [, requestId, digest, card, count] = ids as unknown as [string, string, string, string, string?];
  const shown = { entry, workflowId, requestId, digest: hexOf(digest), card: hexOf(card) };
  return count === undefined ? shown : { ...shown, userMessages: Number(count) };
}

/** Reads a JSON list of so many texts; undefined for anything else. */
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

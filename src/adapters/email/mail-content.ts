import { byReviewer, type CallerNotice } from '../../channels/caller-notice.ts';
import type { ChannelRequest, ChannelStep } from '../../channels/channel.ts';
import type { Settlement } from '../../contract.ts';
import { escapeHtml, htmlPage } from '../../text/html-page.ts';
import { deadlineText, instantText, type ReaderClock } from '../../text/instant-text.ts';
import { visibleText, visibleUnit } from '../../text/visible-text.ts';
import type { Card } from '../../card/card.ts';
import { cardOf } from '../../card/card-of.ts';
import { cardStyle, renderHtml } from '../../card/render-html.ts';
import { renderTerminal } from '../../card/render-terminal.ts';
import { shortSentence } from '../../channels/outgoing/not-taken.ts';

export interface MailContent {
  subject: string;
  text: string;
  html: string;
}

export interface AnswerLink {
  url: string;
  reviewer: string;
  expiresMs: number;
}

/** Why a mail has no sentence and no card: its severity is above the limit, or the server refused its size. */
export type LeftOut = 'severity' | 'size';

interface MailParts {
  request: ChannelRequest;
  notice: string;
  inbox: string;
  link?: AnswerLink;
  /** Absent if the mail has the sentence and the card. */
  leftOut?: LeftOut;
  isReply: boolean;
  clock: ReaderClock;
}

const longestSubject = 160;
const linkStyle = '.card .go a { font-weight: 600; }';

/** Builds a mail about a request. The links come first, so that no untrusted text precedes them. */
export function mailContent({ request, notice, inbox, link, leftOut, isReply, clock }: MailParts): MailContent {
  const isShown = leftOut === undefined;
  const card = cardOf(request, { nowMs: Date.now() });
  const waysToAnswer =
    link === undefined
      ? ['Read it and answer in the inbox:', inbox]
      : [...linkLines(link, clock), 'Or answer in the inbox:', inbox];
  const lines = [...waysToAnswer, notice, ...leftOutLines(leftOut, request)];
  const subject = subjectOf(card, isShown, isReply);
  const head = lines.map((line) => `<p>${isUrl(line) ? anchor(line) : escapeHtml(line)}</p>`).join('\n');
  const cardHtml = isShown ? `\n${renderHtml(card, clock)}` : '';
  const cardText = isShown ? `\n${'-'.repeat(72)}\n\n${renderTerminal(card, { raw: true, clock })}\n` : '';
  const body = `<main class="card go">\n${head}\n</main>${cardHtml}`;
  return {
    subject,
    text: `${lines.join('\n\n')}\n${cardText}`,
    html: htmlPage({ title: subject, style: `${cardStyle}${linkStyle}`, body }),
  };
}

/** Builds a mail to the caller of a run, without a link. */
export function noticeContent({ title, lines }: CallerNotice): MailContent {
  const body = `<main class="card">\n${lines.map((line) => `<p>${escapeHtml(line)}</p>`).join('\n')}\n</main>`;
  return { subject: title, text: `${lines.join('\n\n')}\n`, html: htmlPage({ title, style: cardStyle, body }) };
}

/** Says why the mail lacks the sentence and the card; empty if it has them. */
function leftOutLines(leftOut: LeftOut | undefined, request: ChannelRequest): string[] {
  switch (leftOut) {
    case undefined:
      return [];
    case 'severity':
      return ['The request is not in this mail, because its severity is above the limit of this channel.'];
    case 'size':
      return [`The mail server refused this request in full. In short: ${shortSentence(request)}`];
  }
}

/** The sentences with which a mail about an open request begins. The second one says why the mail is sent. */
export function stepNotice(step: ChannelStep['kind'], request: ChannelRequest, clock: ReaderClock): string {
  const { deadline } = request;
  const waits = ' It still waits for an answer.';
  const why = {
    asked: '',
    reminded: waits,
    warned: deadline === null ? waits : ` It waits until ${deadlineText(deadline, Date.now(), clock)}.`,
    escalated: ' There is no answer yet, so you are asked as well.',
    user_wrote: ' Its user has written since.',
  } satisfies Record<ChannelStep['kind'], string>;
  return `The agent ${visibleText(request.agentName)} asks whether it may do something.${why[step]}`;
}

/** The sentences with which a mail about a settled request begins. */
export function settledNotice(
  settlement: Settlement,
  request: Pick<ChannelRequest, 'people'>,
  clock: ReaderClock,
): string {
  const who = byReviewer(request, settlement, (person) => visibleText(person));
  return `The request was settled on ${instantText(settlement.settledAt, clock)}: ${settlement.outcome}${who}. Links in earlier mails change nothing any more.`;
}

/** Builds the subject: one line without invisible characters, and never cut within an escape such as `\u{202E}`. */
function subjectOf(card: Card, isShown: boolean, isReply: boolean): string {
  const what = isShown ? card.sentence.text : `a call of ${card.toolName}`;
  const units = what.match(visibleUnit) ?? [];
  const isLong = units.length > longestSubject || card.sentence.hidden !== undefined;
  const shown = `${units.slice(0, longestSubject).join('')}${isShown && isLong ? '…' : ''}`;
  return `${isReply ? 'Re: ' : ''}Approval: ${shown}`;
}

function linkLines({ url, reviewer, expiresMs }: AnswerLink, clock: ReaderClock): string[] {
  const until = instantText(new Date(expiresMs).toISOString(), clock);
  const note = `The link works once, until ${until}. Do not forward this mail: its link answers in your name.`;
  return [`Read it and answer as ${visibleText(reviewer)}:`, url, note];
}

function isUrl(line: string): boolean {
  return /^https?:\/\/\S+$/.test(line);
}

function anchor(url: string): string {
  return `<a href="${escapeHtml(url)}">${escapeHtml(url)}</a>`;
}

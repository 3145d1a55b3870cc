import { createSecretKey } from 'node:crypto';
import { domainToASCII } from 'node:url';
import { linkExpiry, linkUrl, sealLink, gatewayOrigin, inboxUrl } from '../../channels/answer-link.ts';
import { type CallersOption, checkCallers, outcomeNotice, waitingNotice } from '../../channels/caller-notice.ts';
import type { CallerNotices, Channel, ChannelRequest, NotifyContext, SettledContext } from '../../channels/channel.ts';
import { testText } from '../../channels/channel.ts';
import { checkOptions } from '../../agents/check-options.ts';
import { exceeds, recentIds } from '../../channels/channel-answer.ts';
import { inFullOrShort, PartlySent } from '../../channels/outgoing/not-taken.ts';
import { createSeals, type Seals } from '../../channels/sealed-text.ts';
import { requirePackage, policyInvalid } from '../../channels/channel-kind.ts';
import { connectionSettings } from '../../connection/connection-settings.ts';
import type { Settlement } from '../../contract.ts';
import type { Json, Severity } from '../../core/base/tool-call.ts';
import type { AnswerLink, LeftOut, MailContent } from './mail-content.ts';
import { mailContent, noticeContent, settledNotice, stepNotice } from './mail-content.ts';
import { isAscii, type MailTransport, openMailServer, RecipientRefused } from './mail-server.ts';
import * as mailThread from './mail-thread.ts';
import { type MailedPerson, type Recipient, recipientOf, recipientsOf } from './recipients.ts';
import { escapeHtml, htmlPage } from '../../text/html-page.ts';
import { isTimeZone } from '../../text/instant-text.ts';
import { visibleText } from '../../text/visible-text.ts';
import { groupOf, personKeyIn } from '../../core/people/directory.ts';
import { nfc } from '../../core/base/text.ts';

/** Options of `emailChannel`. */
export interface EmailOptions {
  transport: MailTransport;
  /** The sender: an address, or a name and an address in angle brackets. */
  from: string;
  /** The gateway's `public_url`. */
  gatewayUrl: string;
  /** The reviewers by name, each with an address or with `{ address, groups }`. Each gets a separate mail. */
  people?: Readonly<Record<string, string | MailedPerson>>;
  /** Addresses that several people read. Their mails link to the inbox, and never contain an answer link. */
  to?: readonly string[];
  /**
   * The gateway's key for answer links, which is `links` or `sessions` of its identity file: at least 32 characters.
   * Default: none, so that mails link only to the inbox.
   */
  linkKey?: string;
  /** The Temporal namespace of the runs; answer links work only in it. Default: as `connectionSettings` finds it. */
  namespace?: string;
  /** The highest severity that mails show. Other mails only say that a request waits. Default: `critical`. */
  highestSeverity?: Severity;
  /**
   * `also`: the channel mails the run's caller, too, that the run waits for a decision, and later the outcome. The
   * caller must have an address in `people`. `only`: it mails callers, and no reviewers. Default: it mails no callers.
   */
  callers?: CallersOption;
}

const shortestKey = 32;
const longestAddress = 254;
const mailbox = /^([\p{L}\p{M}\p{N}\u200c-\u200d_.!#$%&'*+/=?^`{|}~-]+)@([\p{L}\p{M}\p{N}\u200c-\u200d.-]+)$/u;
const testSubject = 'Test message of Countersign';

/**
 * Creates a channel that mails each reviewer the card of a request (docs/email.md). With `linkKey`, the mail has a link
 * to a form of the gateway, which takes one answer. SMTP has no idempotency key, so if a worker is lost, a mail may
 * arrive twice, with the same `Message-ID`. Throws `policy_invalid` for options that cannot work, and a
 * `DefinitionError` for an unknown option. Needs the package `nodemailer`.
 *
 * @example See {@link readChannels}, which makes it from a file.
 */
export function emailChannel(options: EmailOptions): Channel {
  const mails = { transport: true, from: true, gatewayUrl: true, people: true, to: true } as const;
  const more = { linkKey: true, namespace: true, highestSeverity: true, callers: true } as const;
  checkOptions('emailChannel', options, { ...mails, ...more });
  const { linkKey, namespace, highestSeverity = 'critical', callers } = options;
  checkCallers('emailChannel', callers);
  const origin = gatewayOrigin(options.gatewayUrl);
  const from = senderOf(options.from);
  const [, domain] = from.address.split('@') as [string, string];
  const people = peopleOf(options.people ?? {});
  const shared = (options.to ?? []).map((address) => addressOf(address));
  if (people.size + shared.length === 0) throw policyInvalid(`A mail channel needs 'people' or 'to'.`);
  if (callers === 'only' && shared.length > 0) {
    throw policyInvalid(`A mail channel with 'callers: only' has no 'to', because it has no mails for reviewers.`);
  }
  const server = openMailServer(options.transport);
  const seals = linkKey === undefined ? undefined : sealsOf(linkKey, origin, namespace);
  const sentIds = recentIds();

  /** Makes the link by which one reviewer answers, for a week or until the deadline; undefined without `linkKey`. */
  async function linkFor(request: ChannelRequest, reviewer: string): Promise<AnswerLink | undefined> {
    if (seals === undefined) return undefined;
    const { requestId, workflowId, digest } = request;
    const expiresMs = linkExpiry(request, undefined);
    const link = await sealLink(seals, { requestId, workflowId, digest, reviewer }, expiresMs);
    return { url: linkUrl(origin, link), reviewer, expiresMs };
  }

  /**
   * Sends a message to each recipient who does not have it yet. Returns the marks of all recipients who have it now.
   * `missing` is set if a retry may reach others: after a temporary refusal or another error, or if all were refused.
   * `isReply`: the recipient has an earlier mail of the thread. `isShort`: the server refused the mail's full size.
   */
  async function sendAll(
    recipients: readonly Recipient[],
    { key, sent, signal }: Pick<NotifyContext, 'key' | 'sent' | 'signal'>,
    contentFor: (recipient: Recipient, isReply: boolean, isShort: boolean) => Promise<MailContent>,
  ): Promise<{ reached: string[]; refused: number; missing?: Error }> {
    const thread = mailThread.readThread(sent);
    const message = mailThread.threadMessage(key);
    const before = mailThread.gotBefore(thread, message);
    const reached: string[] = [];
    const refusals: RecipientRefused[] = [];
    for (const recipient of recipients) {
      const mark = mailThread.recipientMark(recipient);
      if (before.includes(mark)) {
        reached.push(mark);
        continue;
      }
      const id = mailThread.messageId(message, mark, domain);
      const first = mailThread.firstMessage(thread, mark);
      const inReplyTo = first === undefined ? undefined : mailThread.messageId(first, mark, domain);
      try {
        signal.throwIfAborted();
        if (!sentIds.has(id)) {
          await inFullOrShort(async (isShort) => {
            const content = await contentFor(recipient, inReplyTo !== undefined, isShort);
            await server.send({ to: recipient.address, from, ...content, messageId: id, inReplyTo });
          });
          sentIds.add(id);
        }
        reached.push(mark);
      } catch (error) {
        if (!(error instanceof RecipientRefused)) return { reached, refused: refusals.length, missing: error as Error };
        refusals.push(error);
      }
    }
    const missing =
      refusals.find(({ isPermanent }) => !isPermanent) ?? (reached.length === 0 ? refusals[0] : undefined);
    return { reached, refused: refusals.length, missing };
  }

  function leftOut({ assessment }: ChannelRequest, isShort: boolean): LeftOut | undefined {
    if (exceeds(assessment.severity, highestSeverity)) return 'severity';
    return isShort ? 'size' : undefined;
  }

  function callerOf(request: ChannelRequest): Recipient | undefined {
    const keyOf = personKeyIn(request);
    const caller = request.callerUserId === null ? undefined : keyOf(request.callerUserId);
    const found = [...people].find(([name]) => keyOf(name) === caller);
    return found && recipientOf(...found);
  }

  /** Returns the caller as a list. It is empty if a mail to reviewers goes to the same address: one mail is enough. */
  function callerToNotify(request: ChannelRequest): Recipient[] {
    const caller = callerOf(request);
    if (caller === undefined) return [];
    if (callers === 'only') return [caller];
    return [...reviewerAddresses(request), ...shared].includes(caller.address) ? [] : [caller];
  }

  /** Returns the addresses of the reviewers' mail; none if it has no recipients: then that mail itself fails. */
  function reviewerAddresses(request: ChannelRequest): string[] {
    try {
      return recipientsOf(request, { kind: 'asked' }, people, []).map(({ address }) => address);
    } catch {
      return [];
    }
  }

  const toCallers: CallerNotices = {
    knows: (request) => callerOf(request) !== undefined,
    notify: async (request, context) => {
      // The request may have been settled before this attempt.
      if (request.settled !== undefined) return context.sent;
      const sending = await sendAll(callerToNotify(request), context, async ({ timeZone }, _isReply, isShort) =>
        noticeContent(waitingNotice(withoutLeftOut(request, isShort), Date.now(), { timeZone })),
      );
      if (sending.missing !== undefined) throw sending.missing;
      const { reached, refused } = sending;
      const thread = mailThread.continued({ first: [] }, mailThread.threadMessage(context.key), {
        reached,
        refused,
        isUnfinished: false,
      });
      return thread as unknown as Json;
    },
    settled: async (request, settlement, context) => {
      const { sent } = context;
      // Without `sent`, the first notice failed but may have reached the caller: send the outcome anyway.
      const recipients = sent === undefined ? callerToNotify(request) : reachedBefore(mailThread.readThread(sent));
      const { missing } = await sendAll(recipients, context, async ({ timeZone }, _isReply, isShort) => {
        const shown = leftOut(request, isShort) === undefined ? settlement : { ...settlement, reason: undefined };
        return noticeContent(outcomeNotice(withoutLeftOut(request, isShort), shown, { timeZone }));
      });
      if (missing !== undefined) throw missing;
      return undefined;
    },
  };

  /** Removes the arguments if the severity is above the channel's limit, or if the server refused the mail's size. */
  function withoutLeftOut(request: ChannelRequest, isShort: boolean): ChannelRequest {
    if (leftOut(request, isShort) === undefined) return request;
    return { ...request, arguments: {}, argumentNames: [], shownArguments: undefined };
  }

  /** Returns all who have got a mail of the thread. */
  function reachedBefore(thread: mailThread.MailThread): Recipient[] {
    const allRecipients = [
      ...[...people].map(([reviewer, person]) => recipientOf(reviewer, person)),
      ...shared.map((address): Recipient => ({ address })),
    ];
    return allRecipients.filter(
      (recipient) => mailThread.firstMessage(thread, mailThread.recipientMark(recipient)) !== undefined,
    );
  }

  return {
    check: () => requirePackage('nodemailer', 'Mail'),
    reach: () => server.verify(),
    test: async ({ key, signal }) => {
      // A test mails the shared addresses or, without any, only the first reviewer: one mail is enough.
      const [, first] = [...people][0] ?? [];
      const recipients = shared.length > 0 ? shared : [first!.address];
      for (const address of recipients) {
        signal.throwIfAborted();
        const id = mailThread.messageId(mailThread.threadMessage(key), mailThread.recipientMark({ address }), domain);
        const html = htmlPage({ title: testSubject, style: '', body: `<p>${escapeHtml(testText)}</p>` });
        await server.send({ to: address, from, subject: testSubject, text: `${testText}\n`, html, messageId: id });
      }
      return `a mail to ${recipients.join(', ')}`;
    },
    ...(callers !== 'only' && { notify: mailRequest, settled: mailSettlement }),
    ...(callers !== undefined && { caller: toCallers }),
  };

  /**
   * Mails a request, and returns the thread for the next call. If some recipients are missing, throws a `PartlySent`
   * with the thread or, if this attempt reached no new recipient, the error itself.
   */
  async function mailRequest(request: ChannelRequest, context: NotifyContext): Promise<Json | undefined> {
    const { step, key, sent } = context;
    // The request may have been settled before this attempt.
    if (request.settled !== undefined) return sent;
    const recipients = recipientsOf(request, step, people, shared);
    const sending = await sendAll(recipients, context, async ({ reviewer, timeZone }, isReply, isShort) => {
      const clock = { timeZone };
      // Only the severity decides whether a mail has an answer link: a mail that is short for its size has one.
      const mayAnswer = reviewer !== undefined && leftOut(request, false) === undefined;
      const link = mayAnswer ? await linkFor(request, reviewer) : undefined;
      return mailContent({
        request,
        notice: stepNotice(step.kind, request, clock),
        inbox: inboxUrl(origin, request),
        link,
        leftOut: leftOut(request, isShort),
        isReply,
        clock,
      });
    });
    const { reached, refused, missing } = sending;
    const [thread, message] = [mailThread.readThread(sent), mailThread.threadMessage(key)];
    if (missing === undefined) {
      return mailThread.continued(thread, message, { reached, refused, isUnfinished: false }) as unknown as Json;
    }
    if (reached.length === mailThread.gotBefore(thread, message).length) throw missing;
    // Count no permanent refusals yet: the next attempt tries the refused recipients again, and counts them then.
    const partly = mailThread.continued(thread, message, { reached, refused: 0, isUnfinished: true });
    throw new PartlySent(partly as unknown as Json, missing);
  }

  /** Mails a settlement to all who got the request, so that reviewers notice answers that others gave in their name. */
  async function mailSettlement(
    request: ChannelRequest,
    settlement: Settlement,
    context: SettledContext,
  ): Promise<undefined> {
    const answered = { ...request, settled: settlement };
    const sending = await sendAll(
      reachedBefore(mailThread.readThread(context.sent)),
      context,
      async ({ timeZone }, isReply, isShort) =>
        mailContent({
          request: answered,
          notice: settledNotice(settlement, request, { timeZone }),
          inbox: inboxUrl(origin, request),
          leftOut: leftOut(request, isShort),
          isReply,
          clock: { timeZone },
        }),
    );
    // The last attempt in a row counts as a success if it reached one recipient: otherwise attempts go on for days.
    const isEnough = context.isLastAttempt === true && sending.reached.length > 0;
    if (sending.missing !== undefined && !isEnough) throw sending.missing;
    return undefined;
  }
}

function sealsOf(key: string, publicUrl: string, namespace = connectionSettings().namespace): Seals {
  if (key.length < shortestKey) throw policyInvalid(`The key for links has less than ${shortestKey} characters.`);
  return createSeals({ linkSecret: createSecretKey(Buffer.from(key)), publicUrl, namespace });
}

/** Returns the people by name. Throws `policy_invalid` for an invalid name, address or time zone. */
function peopleOf(people: Readonly<Record<string, string | MailedPerson>>): Map<string, MailedPerson> {
  return new Map(Object.entries(people).map(([name, person]) => [nfc(name), checkedPerson(name, person)]));
}

/** Validates the name and the options of one person, and returns the options with the validated address. */
function checkedPerson(name: string, person: string | MailedPerson): MailedPerson {
  if (typeof person !== 'string') {
    checkOptions(`emailChannel: people.${name}`, person, { address: true, groups: true, timeZone: true });
  }
  const { address, groups = [], timeZone } = typeof person === 'string' ? { address: person } : person;
  if (groupOf(name) !== undefined || visibleText(name, { asName: true }) !== name || name.trim() !== name) {
    throw policyInvalid(`'${visibleText(name)}' in 'people' is not the name of a person.`);
  }
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    const whose = `'${visibleText(name)}' in 'people'`;
    throw policyInvalid(`The time zone of ${whose} does not exist: name one such as Europe/Berlin.`);
  }
  return { address: addressOf(address), groups, ...(timeZone !== undefined && { timeZone }) };
}

function senderOf(text: string): { name: string; address: string } {
  const [, name = '', address = ''] = /^([^<>\p{C}]*)<([^<>]*)>$/u.exec(text) ?? ['', '', text];
  return { name: name.trim(), address: addressOf(address) };
}

/** Returns a mail address, with its domain in punycode. Throws `policy_invalid` for a text that is not exactly one. */
function addressOf(text: string): string {
  if (text.length <= longestAddress && visibleText(text, { asName: true }) === text) {
    const [, local = '', domain = ''] = mailbox.exec(nfc(text)) ?? [];
    const host = isAscii(domain) ? domain : domainToASCII(domain);
    const address = `${local}@${host}`;
    if (/^[A-Za-z0-9.-]+$/.test(host) && Buffer.byteLength(address) <= longestAddress) return address;
  }
  throw policyInvalid(`'${visibleText(text.slice(0, 100))}' is not the address of a mailbox, such as ann@example.com.`);
}

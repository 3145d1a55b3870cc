import { instantText } from '../../text/instant-text.ts';
import { visibleText } from '../../text/visible-text.ts';
import { fallbackText, section } from '../../card/render-slack.ts';
import { plainText, openUrl, alwaysScope, slackCard } from './cards.ts';
import { type Interaction, inputBlock, modalFor, type ModalName, readInteraction } from './interaction.ts';
import { openWebClient, orSlackProblem, refusalCode, slackProblem } from './slack-api.ts';
import { type SlackSettings, hasCap, isAboveCap } from './slack-settings.ts';
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChatGateway, LinkedPerson } from '../../channels/chat-app.ts';
import type { ApprovalDetails, RequestedScope, Receipt } from '../../contract.ts';
import { isObject } from '../../core/base/json.ts';
import { isProblemError } from '../../core/base/problem.ts';
import { readJson } from '../../text/read-json.ts';
import type { JsonObject } from '../../core/base/tool-call.ts';
import { byReviewer } from '../../channels/caller-notice.ts';
import { errorText } from '../../channels/outgoing/not-taken.ts';

export interface Reply {
  text: string;
  /** An instant (ISO 8601) to show after the text. */
  at?: string;
  link?: { label: string; url: string };
  /** True if the reply is about the input of a modal, which then stays open. */
  isAboutInput?: boolean;
}

const longestText = 2_500;
const timeoutMs = 10_000;

/** Sends a reply that only the person who clicked sees: in the channel, or if Slack refuses that, by `responseUrl`. */
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
    // Without a code from Slack, the reply may have arrived, so a second message could be a duplicate.
    if (responseUrl === undefined || refusalCode(error) === undefined || !isOfSlack(responseUrl, settings))
      throw problem;
    await respond(responseUrl, content).catch(() => {
      throw problem;
    });
  }
}

/** Posts a new message for one person to an interaction's URL. Throws if Slack refuses it. */
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

/** The codes of refusals that are about the entered arguments. */
const aboutInput = ['arguments_invalid', 'invalid_decision', 'undecodable', 'too_large', 'denied_by_policy'];

/** How long the gateway waits for a run to return a request, in milliseconds. Then it goes on without the request. */
const lookMs = 1_800;

export interface InteractionContext {
  gateway: ChatGateway;
  settings: SlackSettings;
  openModal: (triggerId: string, view: object) => Promise<void>;
}

type Answer =
  | { approved: true; always?: RequestedScope; modifiedArguments?: JsonObject; reason?: string }
  | { approved: false; reason?: string };

/** Answers a request in the name of the account's person. Returns a reply; undefined if it opens a modal instead. */
export async function answerInteraction(
  interaction: Interaction,
  context: InteractionContext,
): Promise<Reply | undefined> {
  const { gateway } = context;
  const { account, shown } = interaction;
  const person = await gateway.personOf(account);
  if (person === undefined) {
    const text = 'Nothing was changed: your Slack account is not linked. Link it to yourself, then press again.';
    return { text, link: { label: 'Link my account', url: await gateway.linkUrl(account) } };
  }
  try {
    if (interaction.kind === 'submit') return await submit(interaction, person, context);
    const { action } = interaction;
    if (action === 'approve') return await approve(interaction, person, context);
    if (action === 'always') return await approveAlways(interaction, person, context);
    return await openFor(interaction, action, context);
  } catch (error) {
    const reply = refusalText(error);
    if (reply === undefined) throw error;
    // Say how the request was settled, if that came first.
    const isLate = isProblemError(error) && ['already_settled', 'expired'].includes(error.code);
    const request = isLate ? await readSoon(gateway.request(shown.workflowId, shown.requestId)) : undefined;
    return (request && settledReply(request)) ?? reply;
  }
}

/** Approves a request. If its severity is above the channel's cap, replies that it cannot be approved here. */
async function approve(
  interaction: Interaction,
  person: LinkedPerson,
  context: InteractionContext,
  comment: { reason?: string } = {},
): Promise<Reply> {
  const { gateway, settings } = context;
  const { workflowId, requestId } = interaction.shown;
  const refusal = hasCap(settings) ? aboveCap(await gateway.request(workflowId, requestId), settings) : undefined;
  return refusal ?? decide(interaction, person, context, { approved: true, ...comment });
}

/** Approves a request and, in the narrowest scope that the rules admit, later calls. Replies why if it cannot. */
async function approveAlways(
  interaction: Interaction,
  person: LinkedPerson,
  context: InteractionContext,
): Promise<Reply> {
  const { gateway, settings } = context;
  const { shown } = interaction;
  const request = await gateway.request(shown.workflowId, shown.requestId);
  const refusal = aboveCap(request, settings);
  if (refusal !== undefined) return refusal;
  const always = alwaysScope(request, settings);
  const isOffered = slackCard(request, settings).answers.some(({ name }) => name === 'always');
  if (always === undefined || !isOffered) {
    return settledReply(request) ?? { text: 'Nothing was changed: the rules admit no "always" for this call.' };
  }
  return decide(interaction, person, context, { approved: true, always });
}

/** Opens the modal of a button. Replies instead if an answer could not count, or if there can be no modal. */
async function openFor(
  { shown, triggerId, channel, account: { team }, responseUrl }: Interaction,
  action: ModalName,
  { gateway, settings, openModal }: InteractionContext,
): Promise<Reply | undefined> {
  if (action === 'edit' && hasCap(settings)) return noEdits(shown, settings);
  const request = await readSoon(gateway.request(shown.workflowId, shown.requestId));
  // If the request could not be read, the modal opens anyway, because the run checks the answer.
  if (request !== undefined) {
    const refusal = settledReply(request) ?? (action === 'comment' ? aboveCap(request, settings) : undefined);
    if (refusal !== undefined) return refusal;
  }
  const asked = { shown, channel, team, ...(responseUrl !== undefined && { responseUrl }) };
  const link = toInbox(shown, settings);
  if (action === 'edit' && request === undefined) {
    return { text: 'The arguments cannot be read now: try again, or edit them in the inbox.', link };
  }
  const view = modalFor(action, { ...asked, request });
  if (view === undefined) return { text: 'This does not fit into a window of Slack: answer in the inbox.', link };
  await openModal(triggerId, view);
  return undefined;
}

/** Answers a request with the input of a modal. If the input is invalid, replies what is wrong. */
async function submit(
  interaction: Interaction & { kind: 'submit' },
  person: LinkedPerson,
  context: InteractionContext,
): Promise<Reply> {
  const { modal, text, shown } = interaction;
  const reason = text.trim() === '' ? {} : { reason: text };
  if (modal === 'deny') return decide(interaction, person, context, { approved: false, ...reason });
  if (modal === 'comment') return approve(interaction, person, context, reason);
  if (hasCap(context.settings)) return noEdits(shown, context.settings);
  const read = readJson(text, { root: 'arguments', refusedKeys: ['__proto__'] });
  if ('problem' in read) return { text: read.problem, isAboutInput: true };
  if (!isObject(read.value))
    return { text: 'arguments: expected an object { … } with all arguments', isAboutInput: true };
  return decide(interaction, person, context, { approved: true, modifiedArguments: read.value });
}

/** Sends the person's answer to the run, and returns a reply about its receipt. */
async function decide(
  { shown, triggerId }: Interaction,
  person: LinkedPerson,
  { settings }: InteractionContext,
  answer: Answer,
): Promise<Reply> {
  const { workflowId, requestId, digest, card, userMessages } = shown;
  const receipt = await person.decide(workflowId, {
    ...answer,
    requestId,
    digest,
    // A retry of this interaction must have the same id, so that it does not count as a second answer.
    decisionId: `slack-${createHash('sha256').update(triggerId).digest('hex')}`,
    viewed: { channel: 'slack', card, ...(userMessages !== undefined && { userMessages }) },
  });
  return {
    text: `${receiptText(receipt)} You answered as ${person.id}.`,
    ...(receipt.successor !== undefined && { link: toInbox(shown, settings) }),
  };
}

function aboveCap(request: ApprovalDetails, settings: SlackSettings): Reply | undefined {
  if (!isAboveCap(request, settings)) return undefined;
  const text = `Nothing was changed: the severity of this call is ${request.assessment.severity}, and this channel approves up to ${settings.highestSeverity}.`;
  return { text, link: toInbox(request, settings) };
}

function noEdits(shown: Parameters<typeof openUrl>[0], settings: SlackSettings): Reply {
  return { text: 'Nothing was changed: this channel takes no edits.', link: toInbox(shown, settings) };
}

function toInbox(shown: Parameters<typeof openUrl>[0], settings: SlackSettings): NonNullable<Reply['link']> {
  return { label: 'Open in the inbox', url: openUrl(shown, settings) };
}

/** Awaits the request from the run. Undefined if that fails, or takes too long. */
async function readSoon(reading: Promise<ApprovalDetails>): Promise<ApprovalDetails | undefined> {
  return Promise.race([reading.catch(() => undefined), sleep(lookMs, undefined, { ref: false })]);
}

function receiptText({ outcome, votes, recorded, successor, message }: Receipt): string {
  if (recorded === true) return 'Your answer is recorded. It counts once a worker of the run applies it.';
  if (successor !== undefined) return 'Your edit is taken. The edited call needs an answer of its own.';
  if (votes !== undefined) return `Your answer counts: ${votes.have} of ${votes.need} approvals.`;
  return outcome === undefined ? message : `Your answer counts: ${outcome}.`;
}

/** Says how a request was settled; undefined if it is open. The text ends before the instant, which follows it. */
function settledReply(request: ApprovalDetails): Reply | undefined {
  const { settled } = request;
  if (settled === undefined) return undefined;
  const by = byReviewer(request, settled);
  return {
    text: `Nothing was changed: the request was settled already, ${settled.outcome}${by}, `,
    at: settled.settledAt,
  };
}

/** Returns a reply about a refused decision. Undefined if the error is not a refusal. */
function refusalText(error: unknown): Reply | undefined {
  if (!isProblemError(error)) return undefined;
  return { text: `Nothing was changed: ${error.message}`, isAboutInput: aboutInput.includes(error.code) };
}

/** The gateway acknowledges an interaction after this time, and works on: Slack waits only three seconds. */
const acknowledgeMs = 2_200;
const longestError = 150;

/** Handles interactions that come over HTTP and over Socket Mode. */
export interface InteractionHandler {
  /**
   * Handles a payload from the Slack app of the channels `from`. Calls `acknowledge` once, within Slack's time limit,
   * and then returns, although the work may continue. If `acknowledge` throws, the person gets the reply as a message.
   */
  handle(
    payload: unknown,
    from: readonly SlackSettings[],
    gateway: ChatGateway,
    acknowledge: (body?: object) => Promise<void> | void,
  ): Promise<void>;
  drain(): Promise<void>;
}

export function interactionHandler(): InteractionHandler {
  const running = new Set<Promise<void>>();
  return {
    handle: async (payload, from, gateway, acknowledge) => {
      const interaction = readInteraction(payload);
      const [first] = from;
      if (interaction === undefined || first === undefined) return acknowledge();
      const settings = from.find(({ name }) => name === interaction.shown.entry);
      const work =
        settings === undefined
          ? Promise.resolve<Reply>({ text: 'Nothing was changed: the gateway does not have this channel any more.' })
          : answerOrSay(interaction, settings, gateway);
      const handled = acknowledgeAndReply(work, interaction, settings ?? first, gateway, acknowledge);
      // The reply may follow after `handle` has returned, so `drain` waits for it.
      const replied = handled.then(({ replying }) => replying);
      running.add(replied);
      void replied.finally(() => running.delete(replied));
      await handled;
      return undefined;
    },
    drain: async () => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** Acknowledges an interaction in time. Never rejects. `replying` resolves once the reply is sent or has failed. */
async function acknowledgeAndReply(
  work: Promise<Reply | undefined>,
  interaction: Interaction,
  settings: SlackSettings,
  gateway: ChatGateway,
  acknowledge: (body?: object) => Promise<void> | void,
): Promise<{ replying: Promise<void> }> {
  const reply = await Promise.race([work, sleep(acknowledgeMs, undefined, { ref: false })]);
  const isShownInModal = reply?.isAboutInput === true && interaction.kind === 'submit';
  const errors = isShownInModal ? { [inputBlock]: reply.text.slice(0, longestError).toWellFormed() } : undefined;
  try {
    await acknowledge(errors && { response_action: 'errors', errors });
    if (isShownInModal) return { replying: Promise.resolve() };
  } catch {
    // The connection was lost, so the person gets the reply as a message.
  }
  return { replying: replyAfter(work, interaction, settings, gateway) };
}

/** Sends the reply of an interaction when it is ready. Logs an error. */
async function replyAfter(
  work: Promise<Reply | undefined>,
  interaction: Interaction,
  settings: SlackSettings,
  gateway: ChatGateway,
): Promise<void> {
  const reply = await work;
  if (reply === undefined) return;
  try {
    await sendReply(settings, interaction, reply);
  } catch (error) {
    gateway.log(errorText(error));
  }
}

/** Returns the reply to an interaction; undefined if it opened a modal. A failure is logged, and the reply says so. */
async function answerOrSay(
  interaction: Interaction,
  settings: SlackSettings,
  gateway: ChatGateway,
): Promise<Reply | undefined> {
  const openModal = async (triggerId: string, view: object): Promise<void> => {
    const options = { trigger_id: triggerId, view };
    const opening = openWebClient(settings).then((client) => client.apiCall('views.open', options));
    await orSlackProblem(opening, 'views.open', settings.channel);
  };
  try {
    return await answerInteraction(interaction, { gateway, settings, openModal });
  } catch (error) {
    gateway.log(`A click in Slack failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    return { text: 'The gateway failed on this click; its log says why. Look at the request in the inbox.' };
  }
}

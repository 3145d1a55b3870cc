import { setTimeout as sleep } from 'node:timers/promises';
import type { ChatApp, ChatGateway } from '../../channels/chat-app.ts';
import { ProblemError } from '../../core/base/problem.ts';
import { answerInteraction } from './answer-interaction.ts';
import { type Interaction, readInteraction } from './interaction.ts';
import { inputBlock } from './modals.ts';
import { openWebClient, slackProblem } from './open-web-client.ts';
import { isSignedBySlack } from './signature.ts';
import type { SlackSettings } from './slack-settings.ts';
import { sendReply, type Reply } from './reply.ts';

/** Slack waits three seconds for a response. Work that takes longer goes on after the response. */
const acknowledgeMs = 2_200;
const longestError = 150;

/**
 * Receives what people answer in Slack, for `startGateway`. `entries`: the channels of one or more Slack apps, as
 * `slackChannel` has them.
 */
export function slackApp(entries: readonly SlackSettings[]): ChatApp {
  return {
    receive: async (request, gateway) => {
      const signed = entries.filter(({ signingSecret }) => isSignedBySlack(request, signingSecret));
      if (signed.length === 0) {
        throw new ProblemError({
          code: 'forbidden',
          message: 'Slack has not signed this within the last five minutes.',
        });
      }
      const interaction = readInteraction(request.body);
      if (interaction === undefined) return new Response(null);
      const settings = signed.find(({ name }) => name === interaction.shown.entry);
      const work =
        settings === undefined
          ? Promise.resolve<Reply>({ text: 'Nothing was changed: the gateway does not have this channel any more.' })
          : answerOrSay(interaction, settings, gateway);
      const reply = await Promise.race([work, sleep(acknowledgeMs, undefined, { ref: false })]);
      if (reply?.isAboutInput === true && interaction.kind === 'submit') {
        const errors = { [inputBlock]: reply.text.slice(0, longestError).toWellFormed() };
        return Response.json({ response_action: 'errors', errors });
      }
      void replyLater(work, interaction, settings ?? signed[0]!, gateway);
      return new Response(null);
    },
  };
}

async function answerOrSay(
  interaction: Interaction,
  settings: SlackSettings,
  gateway: ChatGateway,
): Promise<Reply | undefined> {
  const openModal = async (triggerId: string, view: object): Promise<void> => {
    try {
      const client = await openWebClient(settings);
      await client.apiCall('views.open', { trigger_id: triggerId, view });
    } catch (error) {
      throw slackProblem(error, 'views.open', settings.channel);
    }
  };
  try {
    return await answerInteraction(interaction, { gateway, settings, openModal });
  } catch (error) {
    gateway.log(`A click in Slack failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    return { text: 'The gateway failed on this click; its log says why. Look at the request in the inbox.' };
  }
}

async function replyLater(
  work: Promise<Reply | undefined>,
  { channel, account }: Interaction,
  settings: SlackSettings,
  gateway: ChatGateway,
): Promise<void> {
  const reply = await work;
  if (reply === undefined) return;
  try {
    await sendReply(await openWebClient(settings), channel, account.user, reply);
  } catch (error) {
    gateway.log(slackProblem(error, 'chat.postEphemeral', channel).message);
  }
}

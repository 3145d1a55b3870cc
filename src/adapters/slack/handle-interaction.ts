import { setTimeout as sleep } from 'node:timers/promises';
import type { ChatGateway } from '../../channels/chat-app.ts';
import { answerInteraction } from './answer-interaction.ts';
import { type Interaction, readInteraction } from './interaction.ts';
import { inputBlock } from './modals.ts';
import { openWebClient, slackProblem } from './open-web-client.ts';
import type { SlackSettings } from './slack-settings.ts';
import { type Reply, sendReply } from './reply.ts';

/** Slack waits three seconds for an acknowledgement: the rest of the work then goes on without it. */
const acknowledgeMs = 2_200;
const longestError = 150;

/** Carries out interactions, whether they come over HTTP or over Socket Mode. */
export interface InteractionHandler {
  /**
   * `from`: the entries of the app that sent the payload. Calls `acknowledge` once, in time, and returns; the work may go
   * on. If `acknowledge` fails, a message says what it would have said.
   */
  handle(
    payload: unknown,
    from: readonly SlackSettings[],
    gateway: ChatGateway,
    acknowledge: (body?: object) => Promise<void> | void,
  ): Promise<void>;
  /** Waits for the work that goes on. */
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
      const all = handled.then(({ replying }) => replying);
      running.add(all);
      void all.finally(() => running.delete(all));
      await handled;
      return undefined;
    },
    drain: async () => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** Never rejects. `replying` ends once the person knows what their interaction did. */
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
    // The connection was lost: the person learns by message what was done.
  }
  return { replying: replyAfter(work, interaction, settings, gateway) };
}

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
    gateway.log(error instanceof Error ? error.message : String(error));
  }
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

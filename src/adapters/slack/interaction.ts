import { z } from 'zod';
import type { ChatAccount } from '../../channels/chat-app.ts';
import type { ActionId } from './buttons.ts';
import { runBlockId } from './message-blocks.ts';
import { type ModalName, readModal } from './modals.ts';
import { readShown, type ShownRequest } from './shown-request.ts';

/** What somebody did in Slack with a request. */
export type Interaction = {
  account: ChatAccount;
  /** Where Slack showed it. */
  channel: string;
  /** Names this one interaction, and opens a modal for three seconds. */
  triggerId: string;
  /** Takes what is told to this person alone, for half an hour, whether or not they are in the channel. */
  responseUrl?: string;
  shown: ShownRequest;
} & ({ kind: 'click'; action: Exclude<ActionId, 'open'> } | { kind: 'submit'; modal: ModalName; text: string });

const sender = {
  user: z.looseObject({
    id: z.string().min(1),
    team_id: z.string().optional(),
    username: z.string().optional(),
    name: z.string().optional(),
  }),
  team: z.looseObject({ id: z.string() }).nullish(),
  trigger_id: z.string().min(1),
};
const clickShape = z.looseObject({
  type: z.literal('block_actions'),
  ...sender,
  channel: z.looseObject({ id: z.string() }),
  response_url: z.string().optional(),
  actions: z.tuple([z.looseObject({ action_id: z.string(), block_id: z.string() })]),
  message: z.looseObject({
    blocks: z.array(
      z.looseObject({
        block_id: z.string().optional(),
        elements: z.array(z.looseObject({ value: z.string().optional() })).optional(),
      }),
    ),
  }),
});
const submitShape = z.looseObject({
  type: z.literal('view_submission'),
  ...sender,
  view: z.looseObject({
    callback_id: z.string(),
    private_metadata: z.string(),
    state: z.looseObject({
      values: z.record(z.string(), z.record(z.string(), z.looseObject({ value: z.string().nullish() }))),
    }),
  }),
});
const payloadShape = z.union([clickShape, submitShape]);

const clicks: readonly string[] = ['approve', 'comment', 'deny', 'edit', 'always'] satisfies Exclude<
  ActionId,
  'open'
>[];

/** Reads a payload of Slack's; undefined for what is no answer to a request, such as a click on a link. */
export function readInteraction(payload: unknown): Interaction | undefined {
  const parsed = payloadShape.safeParse(payload);
  if (!parsed.success) return undefined;
  const { data } = parsed;
  const { user, team, trigger_id: triggerId } = data;
  const name = (user.username ?? user.name ?? user.id).slice(0, 100);
  if (data.type === 'view_submission') {
    const modal = readModal(data.view);
    if (modal === undefined) return undefined;
    // In an Enterprise organization the same person has another team here than at the click that opened the modal.
    const { team: teamOfClick, ...rest } = modal;
    return { kind: 'submit', account: { team: teamOfClick, user: user.id, name }, triggerId, ...rest };
  }
  const teamId = user.team_id ?? team?.id;
  const [{ action_id: action, block_id: blockId }] = data.actions;
  const common = data.message.blocks.find(({ block_id: id }) => id === runBlockId);
  const shown = readShown(blockId, common?.elements?.[0]?.value);
  if (shown === undefined || teamId === undefined || !clicks.includes(action)) return undefined;
  return {
    kind: 'click',
    account: { team: teamId, user: user.id, name },
    channel: data.channel.id,
    triggerId,
    ...(data.response_url !== undefined && { responseUrl: data.response_url }),
    shown,
    action: action as Exclude<ActionId, 'open'>,
  };
}

import { z } from 'zod';
import type { ChatAccount } from '../../channels/chat-app.ts';
import type { ActionId } from './buttons.ts';
import { runBlockId } from './message-blocks.ts';
import { readModal } from './modals.ts';
import { readShown, type ShownRequest } from './shown-request.ts';

/** What somebody did in Slack with a request. */
export type Interaction = {
  account: ChatAccount;
  /** Where Slack showed it. */
  channel: string;
  /** Names this one interaction, and opens a modal for three seconds. */
  triggerId: string;
  shown: ShownRequest;
} & ({ kind: 'click'; action: Exclude<ActionId, 'open'> } | { kind: 'submit'; modal: 'deny' | 'edit'; text: string });

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

const clicks: readonly string[] = ['approve', 'deny', 'edit', 'always'] satisfies Exclude<ActionId, 'open'>[];

/** Reads the body that Slack sends; undefined for what is no answer to a request, such as a click on a link. */
export function readInteraction(body: Uint8Array): Interaction | undefined {
  const parsed = payloadShape.safeParse(payloadOf(body));
  if (!parsed.success) return undefined;
  const { data } = parsed;
  const { user, team, trigger_id: triggerId } = data;
  const teamId = user.team_id ?? team?.id;
  if (teamId === undefined) return undefined;
  const account = { team: teamId, user: user.id, name: (user.username ?? user.name ?? user.id).slice(0, 100) };
  if (data.type === 'block_actions') {
    const [{ action_id: action, block_id: blockId }] = data.actions;
    const common = data.message.blocks.find(({ block_id: id }) => id === runBlockId);
    const shown = readShown(blockId, common?.elements?.[0]?.value);
    if (shown === undefined || !clicks.includes(action)) return undefined;
    const { id: channel } = data.channel;
    return { kind: 'click', account, channel, triggerId, shown, action: action as Exclude<ActionId, 'open'> };
  }
  const modal = readModal(data.view);
  return modal && { kind: 'submit', account, triggerId, ...modal };
}

function payloadOf(body: Uint8Array): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    return JSON.parse(new URLSearchParams(text).get('payload') ?? '');
  } catch {
    return undefined;
  }
}

import { z } from 'zod';
import type { ChatAccount } from '../../channels/chat-app.ts';
import type { ActionId, ShownRequest } from './cards.ts';
import { runBlockId, readShown, plainText, readTexts, writeRequest, writeRun } from './cards.ts';
import type { ApprovalDetails } from '../../contract.ts';
import { visibleText } from '../../text/visible-text.ts';

export type Interaction = {
  account: ChatAccount;
  channel: string;
  /** The id with which a modal can be opened, for three seconds. */
  triggerId: string;
  /** A URL for replies that only this person sees, even outside the channel. It is valid for half an hour. */
  responseUrl?: string;
  shown: ShownRequest;
} & ({ kind: 'click'; action: ClickAction } | { kind: 'submit'; modal: ModalName; text: string });

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

type ClickAction = Exclude<ActionId, 'open'>;
const clicks: readonly string[] = ['approve', 'comment', 'deny', 'edit', 'always'] satisfies ClickAction[];

/** Reads a payload of Slack. Undefined if it is not an answer, as for a click on a link. */
export function readInteraction(payload: unknown): Interaction | undefined {
  const parsed = payloadShape.safeParse(payload);
  if (!parsed.success) return undefined;
  const { data } = parsed;
  const { user, team, trigger_id: triggerId } = data;
  const name = (user.username ?? user.name ?? user.id).slice(0, 100);
  if (data.type === 'view_submission') {
    const modal = readModal(data.view);
    if (modal === undefined) return undefined;
    // In an Enterprise organization, the payload's team can differ from the team of the click, which the modal stored.
    const { team: teamOfClick, ...rest } = modal;
    return { kind: 'submit', account: { team: teamOfClick, user: user.id, name }, triggerId, ...rest };
  }
  const teamId = user.team_id ?? team?.id;
  const [{ action_id: action, block_id: blockId }] = data.actions;
  const runBlock = data.message.blocks.find(({ block_id: id }) => id === runBlockId);
  const shown = readShown(blockId, runBlock?.elements?.[0]?.value);
  if (shown === undefined || teamId === undefined || !clicks.includes(action)) return undefined;
  return {
    kind: 'click',
    account: { team: teamId, user: user.id, name },
    channel: data.channel.id,
    triggerId,
    ...(data.response_url !== undefined && { responseUrl: data.response_url }),
    shown,
    action: action as ClickAction,
  };
}

/** The id of the block with a modal's text input. Slack shows errors of the input there. */
export const inputBlock = 'answer';
const inputAction = 'text';
/** The most characters that Slack allows in a text input, and in the data that a modal stores. */
const longestInput = 3_000;
const longestMemory = 3_000;
const longestReason = 2_000;

const verbs = { comment: 'Approve', deny: 'Deny', edit: 'Edit' } as const;

export type ModalName = keyof typeof verbs;

/** What a modal is about. The modal stores all but `request`, and Slack returns that data with the answer. */
interface Asked {
  shown: ShownRequest;
  channel: string;
  /** The team of the account that clicked. */
  team: string;
  responseUrl?: string;
  request: ApprovalDetails | undefined;
}

/** Builds the modal of a button. Undefined if its content does not fit, or is unknown. */
export function modalFor(name: ModalName, asked: Asked): object | undefined {
  const input = { type: 'plain_text_input', action_id: inputAction, multiline: true };
  const reason = { optional: true, element: { ...input, max_length: longestReason } };
  if (name === 'deny') return modal(name, 'Deny', asked, { label: plainText('Reason, for the model'), ...reason });
  if (name === 'comment') {
    const label = plainText("Comment, which the model reads before the tool's result");
    return modal(name, 'Approve', asked, { label, ...reason });
  }
  if (asked.request === undefined) return undefined;
  const { arguments: args, redacted = [] } = asked.request;
  const text = [JSON.stringify(args, null, 2), JSON.stringify(args)].find((each) => each.length <= longestInput);
  if (text === undefined) return undefined;
  const placeholders = ' Leave a placeholder where the tool is to get the value that it hides.';
  return modal(name, 'Approve with these', asked, {
    label: plainText('Arguments as JSON'),
    hint: plainText(`All arguments.${redacted.length === 0 ? '' : placeholders}`),
    element: { ...input, initial_value: text, max_length: longestInput },
  });
}

/** Reads the answer from a modal, and the data that `modal` stored in it. Undefined if the data is invalid. */
export function readModal({
  callback_id: modal,
  private_metadata: memory,
  state,
}: {
  callback_id: string;
  private_metadata: string;
  state: { values: Record<string, Record<string, { value?: string | null }>> };
}): (Omit<Asked, 'request'> & { modal: ModalName; text: string }) | undefined {
  const [blockId, run, channel, team, responseUrl = ''] = readTexts(memory, 5) ?? [];
  const shown = blockId === undefined ? undefined : readShown(blockId, run);
  if (shown === undefined || channel === undefined || team === undefined) return undefined;
  if (!isModalName(modal)) return undefined;
  const text = state.values[inputBlock]?.[inputAction]?.value ?? '';
  return { modal, shown, channel, team, text, ...(responseUrl !== '' && { responseUrl }) };
}

function isModalName(name: string): name is ModalName {
  return Object.hasOwn(verbs, name);
}

/** Builds a modal that stores which request it is about. Undefined if that data is too long for Slack. */
function modal(name: ModalName, submit: string, asked: Asked, input: object) {
  const { shown, channel, team, responseUrl = '', request } = asked;
  const memory = JSON.stringify([writeRequest(shown), writeRun(shown) ?? '', channel, team, responseUrl]);
  if (memory.length > longestMemory) return undefined;
  // Slack allows 24 characters in a title.
  const title = request === undefined ? 'this call' : visibleText(request.toolName);
  const verb = verbs[name];
  return {
    type: 'modal',
    callback_id: name,
    private_metadata: memory,
    title: plainText(title.length <= 24 - verb.length - 1 ? `${verb} ${title}` : `${verb} the call`),
    submit: plainText(submit),
    close: plainText('Cancel'),
    blocks: [{ type: 'input', block_id: inputBlock, ...input }],
  };
}

import type { ApprovalDetails } from '../../contract.ts';
import { visibleText } from '../../text/visible-text.ts';
import { plainText } from './buttons.ts';
import { readShown, readTexts, type ShownRequest, writeRequest, writeRun } from './shown-request.ts';

/** The block of a modal's text input, at which Slack shows what is wrong with it. */
export const inputBlock = 'answer';
const inputAction = 'text';
/** Slack's limits: of a text input, and of what a modal remembers. */
export const longestInput = 3_000;
const longestMemory = 3_000;
const longestReason = 2_000;

const verbs = { comment: 'Approve', deny: 'Deny', edit: 'Edit' } as const;

/** The buttons that open a modal. */
export type ModalName = keyof typeof verbs;

/** What a modal is about. Slack returns it with the answer. */
interface Asked {
  shown: ShownRequest;
  channel: string;
  /** The team of the account that clicked. */
  team: string;
  responseUrl?: string;
  request: Pick<ApprovalDetails, 'toolName'> | undefined;
}

/** Asks for the reason of a denial. Undefined: it does not fit. */
export function denyModal(asked: Asked): object | undefined {
  return modal('deny', 'Deny', asked, {
    label: plainText('Reason, which the model is told'),
    optional: true,
    element: { type: 'plain_text_input', action_id: inputAction, multiline: true, max_length: longestReason },
  });
}

/** Asks for words beside an approval. Undefined: they do not fit. */
export function commentModal(asked: Asked): object | undefined {
  return modal('comment', 'Approve', asked, {
    label: plainText("Comment, which the model reads before the tool's result"),
    optional: true,
    element: { type: 'plain_text_input', action_id: inputAction, multiline: true, max_length: longestReason },
  });
}

/** Asks for other arguments. Undefined: they do not fit, or are not known. */
export function editModal(asked: Asked & { request: ApprovalDetails | undefined }): object | undefined {
  if (asked.request === undefined) return undefined;
  const { arguments: args, redacted = [] } = asked.request;
  const text = [JSON.stringify(args, null, 2), JSON.stringify(args)].find((each) => each.length <= longestInput);
  if (text === undefined) return undefined;
  const hint =
    redacted.length === 0
      ? 'All arguments.'
      : 'All arguments. Leave a placeholder where the tool is to get the value that it hides.';
  return modal('edit', 'Approve with these', asked, {
    label: plainText('Arguments as JSON'),
    hint: plainText(hint),
    element: {
      type: 'plain_text_input',
      action_id: inputAction,
      multiline: true,
      initial_value: text,
      max_length: longestInput,
    },
  });
}

/** What was entered into one of the modals; undefined for any other. */
export function readModal({
  callback_id: modal,
  private_metadata: memory,
  state,
}: {
  callback_id: string;
  private_metadata: string;
  state: { values: Record<string, Record<string, { value?: string | null }>> };
}): (Pick<Asked, 'shown' | 'channel' | 'team' | 'responseUrl'> & { modal: ModalName; text: string }) | undefined {
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

function modal(name: ModalName, submit: string, asked: Asked, input: object) {
  const { shown, channel, team, responseUrl = '', request } = asked;
  const memory = JSON.stringify([writeRequest(shown), writeRun(shown) ?? '', channel, team, responseUrl]);
  if (memory.length > longestMemory) return undefined;
  // Slack takes 24 characters.
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

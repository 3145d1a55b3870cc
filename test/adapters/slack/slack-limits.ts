/** What Slack refuses in blocks and views, as its reference of Block Kit says. */

/** A text, or an instant, which Slack shows by the clock of each reader. */
export interface SlackTextInTest {
  type?: string;
  text?: string;
  timestamp?: number;
  format?: string;
  fallback?: string;
}

export interface SlackElementInTest {
  type: string;
  action_id?: string;
  value?: string;
  url?: string;
  text?: { type: string; text: string };
  confirm?: { title: { text: string }; text: { text: string }; confirm: { text: string }; deny: { text: string } };
  initial_value?: string;
  max_length?: number;
  elements?: SlackTextInTest[];
}

export interface SlackBlockInTest {
  type: string;
  block_id?: string;
  text?: { type: string; text: string };
  elements?: SlackElementInTest[];
  element?: SlackElementInTest;
  label?: { text: string };
}

/** Slack does not document how it counts; this counts more than it can. */
const longestMessage = 13_200;

/** The error of a message that Slack would not take. */
export function messageProblem(text: string, blocks: readonly SlackBlockInTest[]): string | undefined {
  if (text === '' && blocks.length === 0) return 'no_text';
  if (text.length > 40_000) return 'msg_too_long';
  if (/<(?:!|@|#|https?:)/.test(text)) return 'markup_in_text';
  if (JSON.stringify(blocks).length > longestMessage) return 'msg_blocks_too_long';
  return blocks.length > 50 || !areBlocks(blocks, ['header', 'rich_text', 'actions']) ? 'invalid_blocks' : undefined;
}

/** The error of a modal that Slack would not take. */
export function viewProblem(view: object): string | undefined {
  const { type, title, submit, close, private_metadata, blocks } = view as {
    type: string;
    title: { text: string };
    submit: { text: string };
    close: { text: string };
    private_metadata: string;
    blocks: SlackBlockInTest[];
  };
  const areShort = [title, submit, close].every(({ text }) => text.length > 0 && text.length <= 24);
  if (type !== 'modal' || !areShort || private_metadata.length > 3_000 || blocks.length > 100)
    return 'invalid_arguments';
  return areBlocks(blocks, ['input']) ? undefined : 'invalid_blocks';
}

function areBlocks(blocks: readonly SlackBlockInTest[], types: readonly string[]): boolean {
  const ids = blocks.flatMap(({ block_id: id }) => (id === undefined ? [] : [id]));
  return (
    new Set(ids).size === ids.length &&
    ids.every((id) => id.length > 0 && id.length <= 255) &&
    blocks.every((block) => types.includes(block.type) && isBlock(block))
  );
}

function isBlock({ type, text, elements = [], element, label }: SlackBlockInTest): boolean {
  switch (type) {
    case 'header':
      return text?.type === 'plain_text' && isWithin(text.text, 150);
    case 'rich_text':
      return elements.length > 0 && elements.every(isRichElement);
    case 'actions': {
      const ids = elements.map(({ action_id: id }) => id);
      return (
        elements.length >= 1 && elements.length <= 25 && new Set(ids).size === ids.length && elements.every(isButton)
      );
    }
    default: {
      const { max_length: most = 3_000, initial_value: initial = '' } = element ?? {};
      return isWithin(label?.text, 2_000) && most <= 3_000 && initial.length <= most;
    }
  }
}

function isRichElement({ type, elements = [] }: SlackElementInTest): boolean {
  const isKnown = type === 'rich_text_section' || type === 'rich_text_preformatted';
  return (
    isKnown &&
    elements.length > 0 &&
    elements.every((each) => (each.type === 'date' ? isDate(each) : isWithin(each.text, 3_000)))
  );
}

function isDate({ timestamp, format = '', fallback }: SlackTextInTest): boolean {
  const rest = format.replaceAll(/\{(?:date_short_pretty|time)\}/g, '');
  return Number.isSafeInteger(timestamp) && rest !== format && !/[{}]/.test(rest) && isWithin(fallback, 100);
}

function isButton({ action_id, value, url, text, confirm }: SlackElementInTest): boolean {
  return (
    isWithin(action_id, 255) &&
    isWithin(text?.text, 75) &&
    (value === undefined || isWithin(value, 2_000)) &&
    (url === undefined || (isWithin(url, 3_000) && URL.canParse(url))) &&
    (confirm === undefined ||
      (isWithin(confirm.title.text, 100) &&
        isWithin(confirm.text.text, 300) &&
        isWithin(confirm.confirm.text, 30) &&
        isWithin(confirm.deny.text, 30)))
  );
}

function isWithin(text: string | undefined, most: number): boolean {
  return text !== undefined && text.length > 0 && text.length <= most;
}

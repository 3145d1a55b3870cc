import type { ApprovalDetails } from '../../contract.ts';
import { visibleText } from '../../text/visible-text.ts';
import type { AnswerName, Card } from '../../card/card.ts';
import { inboxUrl } from '../../channels/inbox-url.ts';
import { hasCap, isAboveCap } from './severity-cap.ts';
import type { SlackSettings } from './slack-settings.ts';

export type ActionId = 'approve' | 'comment' | 'deny' | 'edit' | 'always' | 'open';

export interface Button {
  type: 'button';
  action_id: ActionId;
  text: PlainText;
  value?: string;
  url?: string;
  style?: 'danger';
  confirm?: { title: PlainText; text: PlainText; confirm: PlainText; deny: PlainText };
}

interface PlainText {
  type: 'plain_text';
  text: string;
}

/** Slack's limit of the text of a confirmation. */
const longestEffect = 300;
/** Less than Slack's limit, because the message has one, too. */
const longestUrl = 1_000;

/** The buttons of an open request. `isAlone`: its message shows no other request, so there is room for more. */
export function buttonsOf(request: ApprovalDetails, card: Card, settings: SlackSettings, isAlone: boolean): Button[] {
  const deny = button('deny', 'Deny…', { style: 'danger' });
  if (isAboveCap(request, settings)) return [deny];
  const offers = (name: AnswerName): boolean => card.answers.some((each) => each.name === name);
  const asking = (name: AnswerName, verb: string): Partial<Button> => (isAlone ? confirmation(card, name, verb) : {});
  // As in the inbox, the prominent button is the one that runs nothing.
  return [
    button('approve', 'Approve', asking('approve', 'Approve')),
    ...(isAlone ? [button('comment', 'Approve with a comment…')] : []),
    deny,
    ...(offers('edit') && !hasCap(settings) ? [button('edit', 'Edit…')] : []),
    ...(offers('always') ? [button('always', 'Always', asking('always', 'Always'))] : []),
  ];
}

/** The button that opens the inbox at a request or a run. `value`: what Slack returns with each click on the message. */
export function openButton(url: string, value: string | undefined): Button {
  return button('open', 'Open in the inbox', { url, ...(value !== undefined && { value }) });
}

/** The page of a request in the web inbox, or of its run; with a name that is too long for Slack, the list. */
export function openUrl(place: { workflowId: string; requestId?: string }, { gatewayUrl }: SlackSettings): string {
  const url = inboxUrl(gatewayUrl, place);
  return url.length <= longestUrl ? url : `${gatewayUrl}/inbox/`;
}

export function plainText(text: string): PlainText {
  return { type: 'plain_text', text };
}

function button(action_id: ActionId, text: string, more: Partial<Button> = {}): Button {
  return { type: 'button', action_id, text: plainText(text), ...more };
}

/** Slack asks once more before it sends the click. */
function confirmation({ answers }: Card, name: AnswerName, verb: string): Pick<Button, 'confirm'> {
  const effect = visibleText(answers.find((each) => each.name === name)?.effect ?? '');
  const text = effect.length <= longestEffect ? effect : `${effect.slice(0, longestEffect - 2)}…`;
  return {
    confirm: {
      title: plainText(`${verb}?`),
      text: plainText(text.toWellFormed()),
      confirm: plainText(verb),
      deny: plainText('Not now'),
    },
  };
}

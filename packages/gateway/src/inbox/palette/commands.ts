import { visibleText, shortened } from 'countersign/base';
import type { InboxRow, Me } from '../../http/inbox/api.ts';

export interface Command {
  id: string;
  /** The text to search and to show. It is already escaped and shortened. */
  text: string;
  group: 'Answer' | 'Go to' | 'Open request' | 'Do';
  /** The path below `/inbox` to which the command goes. Absent: the command has `act` or `answer`. */
  path?: string;
  act?: 'help' | 'notify' | 'keys' | 'settings';
  answer?: AnswerName;
}

const mostRequests = 200;
const mostFound = 50;
const longest = 160;

const answers: Readonly<Record<AnswerName, string>> = {
  deny: 'Deny this request …',
  approve: 'Go to the button that approves this request',
  comment: 'Approve this request with a comment …',
  edit: 'Edit the arguments of this request …',
  respond: 'Answer this request instead of the tool …',
  always: 'Approve this request, and allow similar calls …',
  extend: 'Extend the deadline of this request …',
  delegate: 'Hand this request over …',
  move: 'Move this request to another reviewer …',
};

/** All commands for a person. `rows`: the open requests on the page. `possible`: the answers to the shown request. */
export function commandsFor(
  me: Me | undefined,
  rows: readonly InboxRow[],
  possible: readonly AnswerName[] = [],
): Command[] {
  const has = (role: Me['roles'][number]): boolean => me?.roles.includes(role) ?? false;
  const go = (text: string, path: string): Command => ({ id: `go ${path}`, group: 'Go to', text, path });
  return [
    ...possible.map((name): Command => ({ id: `answer ${name}`, group: 'Answer', text: answers[name], answer: name })),
    go('Inbox', '/'),
    go('Inbox: what waits for me', '/?tab=mine'),
    go('Runs', '/runs'),
    go('Runs that wait for people', '/runs?status=waiting'),
    ...(has('starter') ? [go('Start a run', '/start')] : []),
    ...(has('operator') ? [go('Policy and statistics', '/operator')] : []),
    ...rows.slice(0, mostRequests).map(requestCommand),
    { id: 'help', group: 'Do', text: 'Show all keys', act: 'help' },
    { id: 'notify', group: 'Do', text: 'Notify me of new requests', act: 'notify' },
    { id: 'settings', group: 'Do', text: 'Settings and notifications', act: 'settings' },
    { id: 'keys', group: 'Do', text: 'Turn single-key shortcuts on or off', act: 'keys' },
  ];
}

/** The commands that contain every word of the query. A query that may be the id of a run adds a link to that run. */
export function foundCommands(commands: readonly Command[], query: string): Command[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const found = commands.filter(({ text }) => words.every((word) => text.toLowerCase().includes(word)));
  const id = query.trim();
  // If commands match, a query counts as an id only if it has a digit, a slash or a hyphen.
  const mayBeId = id !== '' && !/\s/.test(id) && (found.length === 0 || /[\d/-]/.test(id));
  const path = `/runs/${encodeURIComponent(id.toWellFormed())}`;
  const run: Command = { id: 'run', group: 'Go to', text: `Run ${boundedText(id)}`, path };
  return [...found.slice(0, mostFound), ...(mayBeId ? [run] : [])];
}

function requestCommand({ workflowId, requestId, agentName, sentence }: InboxRow): Command {
  return {
    id: `request ${workflowId} ${requestId}`,
    group: 'Open request',
    text: shortened(`${sentence} – ${boundedText(agentName)}`, longest),
    path: `/requests/${encodeURIComponent(workflowId)}/${encodeURIComponent(requestId)}`,
  };
}

function boundedText(text: string): string {
  return visibleText(shortened(text, longest).toWellFormed());
}

export type AnswerName =
  'deny' | 'approve' | 'comment' | 'edit' | 'respond' | 'always' | 'extend' | 'delegate' | 'move';

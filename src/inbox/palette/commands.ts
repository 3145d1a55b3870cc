import type { InboxRow, Me } from '../../adapters/http/api.ts';
import { visibleText } from '../../core/base/visible-text.ts';
import { shortened } from '../../core/base/shortened.ts';

/** One thing that the palette can do. */
export interface Command {
  id: string;
  /** What is searched, and shown as it is: visible and bounded already. */
  text: string;
  /** The part of the palette in which it stands. */
  group: 'Go to' | 'Open request' | 'Do';
  /** Where it leads, below `/inbox`; else `act` says what it does. */
  path?: string;
  act?: 'help' | 'notify' | 'keys';
}

const mostRequests = 200;
const mostFound = 50;
const longest = 160;

/** All commands for a person, with the open requests that the page knows. */
export function commandsFor(me: Me | undefined, rows: readonly InboxRow[]): Command[] {
  const has = (role: Me['roles'][number]): boolean => me?.roles.includes(role) ?? false;
  const go = (text: string, path: string): Command => ({ id: `go ${path}`, group: 'Go to', text, path });
  return [
    go('Inbox', '/'),
    go('Inbox: what waits for me', '/?waits=me'),
    go('Runs', '/runs'),
    go('Runs that wait for people', '/runs?status=waiting'),
    ...(has('starter') ? [go('Start a run', '/start')] : []),
    ...(has('operator') ? [go('Policy and statistics', '/operator')] : []),
    ...rows.slice(0, mostRequests).map(requestCommand),
    { id: 'help', group: 'Do', text: 'Show all keys', act: 'help' },
    { id: 'notify', group: 'Do', text: 'Notify me of new requests', act: 'notify' },
    { id: 'keys', group: 'Do', text: 'Turn single-key shortcuts on or off', act: 'keys' },
  ];
}

/** The commands that have every word of the query; for an id, also the run that it may be. */
export function foundCommands(commands: readonly Command[], query: string): Command[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const found = commands.filter(({ text }) => words.every((word) => text.toLowerCase().includes(word)));
  const id = query.trim();
  // An id of a run or a request that the page does not list.
  const run: Command[] =
    id === '' || /\s/.test(id)
      ? []
      : [{ id: 'run', group: 'Go to', text: `Run ${shown(id)}`, path: `/runs/${encodeURIComponent(id)}` }];
  return [...found.slice(0, mostFound), ...run];
}

function requestCommand({ workflowId, requestId, toolName, agentName, sentence }: InboxRow): Command {
  return {
    id: `request ${workflowId} ${requestId}`,
    group: 'Open request',
    // A sentence is visible already.
    text: shortened(`${sentence ?? shown(toolName)} – ${shown(agentName)}`, longest),
    path: `/requests/${encodeURIComponent(workflowId)}/${encodeURIComponent(requestId)}`,
  };
}

function shown(text: string): string {
  return visibleText(shortened(text, longest).toWellFormed());
}

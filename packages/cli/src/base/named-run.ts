import { escapeText } from 'countersign/base';
import type { CountersignClient, ListedRun } from 'countersign/client';
import { shortIds } from './request-id.ts';

/** Finds a run by its id or the first characters of it, and returns the id. Throws `run_not_found`. */
export async function namedRun(client: CountersignClient, name: string): Promise<string> {
  const { runNamed } = await import('countersign/adapter'); // loads Temporal's protocol
  return runNamed(client.session, name);
}

/** The least length of a shortened id: a prefix such as `run-`, and eight characters that distinguish runs. */
const shortRun = 12;

/** Returns a function that shortens ids of runs. In the id of a nested run, only the part before the `/` shrinks. */
export function shortRunIds(ids: readonly string[]): (id: string) => string {
  const headOf = (id: string): string => id.split('/', 1)[0]!;
  const short = shortIds(ids.map(headOf), shortRun);
  return (id) => {
    const head = headOf(id);
    return short(head) + id.slice(head.length);
  };
}

/** Returns a name for a run, such as `support for ann: Order 7 came broken.`, escaped. */
export function runName({ agent, workflowType, callerUserId, task }: ListedRun): string {
  const user = callerUserId === undefined ? '' : ` for ${callerUserId}`;
  return escapeText(`${agent ?? `(${workflowType})`}${user}${task === undefined ? '' : `: ${task}`}`);
}

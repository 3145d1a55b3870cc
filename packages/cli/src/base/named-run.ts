import { escapeText } from 'countersign/base';
import type { CountersignClient, ListedRun } from 'countersign/client';
import { shortIds } from './request-id.ts';

/** The id of the run that this names: its id, or the first characters of it. Throws `run_not_found` otherwise. */
export async function namedRun(client: CountersignClient, name: string): Promise<string> {
  const { runNamed } = await import('countersign/adapter'); // loads Temporal's protocol
  return runNamed(client.session, name);
}

/** Keeps `key-` or `run-` and eight characters of what follows. */
const shortRun = 12;

/** Shortens the ids of runs as far as they remain distinct. What follows the first `/` of a nested run's id stays. */
export function shortRunIds(ids: readonly string[]): (id: string) => string {
  const headOf = (id: string): string => id.split('/', 1)[0]!;
  const short = shortIds(ids.map(headOf), shortRun);
  return (id) => {
    const head = headOf(id);
    return short(head) + id.slice(head.length);
  };
}

/** A name for a run: `support for ann: Order 7 came broken.` Escaped. */
export function runName({ agent, workflowType, callerUserId, task }: ListedRun): string {
  const user = callerUserId === undefined ? '' : ` for ${callerUserId}`;
  return escapeText(`${agent ?? `(${workflowType})`}${user}${task === undefined ? '' : `: ${task}`}`);
}

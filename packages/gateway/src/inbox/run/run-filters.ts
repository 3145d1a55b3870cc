import type { RunList } from '../../http/inbox/api.ts';

type ListedStatus = RunList['runs'][number]['status'];

/** Which runs are listed. Empty texts list all. */
export interface RunFilters {
  status: ListedStatus | '';
  agent: string;
}

export const statuses = ['waiting', 'running', 'completed', 'failed', 'cancelled'] as const satisfies ListedStatus[];

/** Reads the filters of an address. */
export function readRunFilters(query: string): RunFilters {
  const given = new URLSearchParams(query);
  const status = statuses.find((each) => each === given.get('status')) ?? '';
  return { status, agent: given.get('agent') ?? '' };
}

/** The query of an address; empty if nothing is filtered. */
export function writeRunFilters({ status, agent }: RunFilters): string {
  const query = new URLSearchParams();
  if (status !== '') query.set('status', status);
  if (agent !== '') query.set('agent', agent);
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

/** The path of `GET /runs`. */
export function listPath(filters: RunFilters, limit: number): string {
  const query = writeRunFilters(filters);
  return `/runs${query === '' ? '?' : `${query}&`}limit=${limit}`;
}

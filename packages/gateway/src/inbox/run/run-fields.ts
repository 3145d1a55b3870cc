import { parseJson } from 'countersign/json';
import { modes, type Mode } from 'countersign/policy';
import { problemText } from '../state/texts.ts';
import type { RunList } from '../../http/inbox/api.ts';
import { queryText } from '../state/paths.ts';

export interface StartFields {
  agent: string;
  input: string;
  mode: string;
  policy: string;
  caller: string;
  session: boolean;
}

export const noStartFields: StartFields = { agent: '', input: '', mode: '', policy: '', caller: '', session: false };

/** The body of `POST /runs` for the fields of the form, or the first wrong field with a sentence about it. */
export function startBodyOf(
  fields: StartFields,
): { body: Record<string, unknown> } | { field: keyof StartFields; problem: string } {
  const agent = fields.agent.trim();
  if (agent === '') return { field: 'agent', problem: 'Choose an agent.' };
  if (fields.input.trim() === '') return { field: 'input', problem: 'Write the task of the agent.' };
  const policy = policyOf(fields.policy);
  if (typeof policy === 'string') return { field: 'policy', problem: policy };
  const caller = fields.caller.trim();
  return {
    body: {
      agent,
      input: fields.input,
      ...(isModeChoice(fields.mode) && { mode: fields.mode }),
      ...(policy !== undefined && { policy }),
      ...(caller !== '' && { caller: { userId: caller } }),
      ...(fields.session && { session: true }),
    },
  };
}

export function isModeChoice(text: string): text is Mode {
  return modes.some((mode) => mode === text);
}

/** The policy in a text; undefined if the text is empty, and a sentence if it is no JSON object. */
function policyOf(text: string): object | string | undefined {
  if (text.trim() === '') return undefined;
  try {
    const value: unknown = parseJson(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
    return 'A policy is a JSON object.';
  } catch (error) {
    return `This is not JSON: ${problemText(error)}`;
  }
}

type ListedStatus = RunList['runs'][number]['status'];

export interface RunFilters {
  status: ListedStatus | '';
  agent: string;
  /** Words to search in the task, the agent, the caller and the id. */
  text: string;
  mine: boolean;
}

export const statuses = ['waiting', 'running', 'completed', 'failed', 'cancelled'] as const satisfies ListedStatus[];

export function readRunFilters(query: string): RunFilters {
  const given = new URLSearchParams(query);
  const status = statuses.find((each) => each === given.get('status')) ?? '';
  const [agent, text] = [given.get('agent') ?? '', given.get('text') ?? ''];
  return { status, agent, text, mine: given.get('mine') === 'true' };
}

export function writeRunFilters({ status, agent, text, mine }: RunFilters): string {
  const all = { status, agent, text, mine: mine ? 'true' : '' };
  return queryText(new URLSearchParams(Object.entries(all).filter(([, value]) => value !== '')));
}

export function listPath(filters: RunFilters, limit: number): string {
  const query = writeRunFilters(filters);
  return `/runs${query === '' ? '?' : `${query}&`}limit=${limit}`;
}

import { parseJson } from 'countersign/json';
import { modes, type Mode } from 'countersign/policy';
import { problemText } from '../api/problem-text.ts';

/** The fields of the form that starts a run, as they are typed. */
export interface StartFields {
  agent: string;
  input: string;
  mode: string;
  /** JSON. */
  policy: string;
  /** The user for whom the run works. */
  caller: string;
  /** True: the run stays open for more messages. */
  session: boolean;
}

export const noStartFields: StartFields = { agent: '', input: '', mode: '', policy: '', caller: '', session: false };

/** The body of `POST /runs`, or what is wrong with a field. */
export function startBodyOf(
  fields: StartFields,
): { body: Record<string, unknown> } | { field: keyof StartFields; problem: string } {
  const agent = fields.agent.trim();
  if (agent === '') return { field: 'agent', problem: 'Name the agent.' };
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

import { isProblemError } from '../../core/base/problem.ts';

/** What `client.check` checks, in its order. */
export const checkNames = [
  'sdk',
  'server',
  'namespace',
  'clock',
  'attributes',
  'retention',
  'worker',
  'engine',
  'policy',
  'version',
  'codec',
] as const;

/** One thing that `client.check` has checked. */
export interface Check {
  check: (typeof checkNames)[number];
  isOk: boolean;
  /** One sentence; what is wrong comes with the remedy. */
  message: string;
  /** The command that mends it, if there is one. */
  command?: string;
}

export type CheckOutcome = Omit<Check, 'check'>;

export function fine(message: string): CheckOutcome {
  return { isOk: true, message };
}

export function wrong(message: string, command?: string): CheckOutcome {
  return { isOk: false, message, ...(command !== undefined && { command }) };
}

/** Runs one check. A problem that it meets is its finding. */
export async function runCheck(
  check: Check['check'],
  find: () => CheckOutcome | Promise<CheckOutcome>,
): Promise<Check> {
  try {
    return { check, ...(await find()) };
  } catch (error) {
    if (!isProblemError(error)) throw error;
    return { check, ...wrong(error.message) };
  }
}

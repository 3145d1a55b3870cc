import { isProblemError } from '../../core/base/problem.ts';
import { callServer, type Session } from '../server/session.ts';
import type { Registration } from '../../connection/search-attributes.ts';
import { namespaceRetentionDays, registerSearchAttributes } from '../../connection/search-attributes.ts';

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

/** The result of one check of `client.check`. */
export interface Check {
  check: (typeof checkNames)[number];
  isOk: boolean;
  /** One sentence. That of a problem includes the remedy. */
  message: string;
  /** The command that solves the problem, if there is one. */
  command?: string;
}

export type CheckOutcome = Omit<Check, 'check'>;

export function fine(message: string): CheckOutcome {
  return { isOk: true, message };
}

export function wrong(message: string, command?: string): CheckOutcome {
  return { isOk: false, message, ...(command !== undefined && { command }) };
}

/** Runs one check. If the check throws a problem, that problem is its finding. */
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

/** The result of `client.setUp`. */
export interface Setup extends Registration {
  /** How long the namespace keeps closed runs, in days. */
  retentionDays: number;
}

/** Registers the search attributes of the inbox, and returns the retention. A repetition changes nothing. */
export async function setUp(session: Session): Promise<Setup> {
  const { connection, namespace, attributes } = session;
  return callServer(
    session,
    async () => ({
      ...(await registerSearchAttributes(connection, namespace, attributes)),
      retentionDays: await namespaceRetentionDays(connection, namespace),
    }),
    { timeoutMs: 60_000 },
  );
}

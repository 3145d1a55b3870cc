import { ProblemError } from '../../core/base/problem.ts';
import { parseDuration } from '../../core/base/duration.ts';

/** How long a client waits, in milliseconds. An environment variable sets each default (docs/operations.md). */
export interface TimeLimitOptions {
  /** The time limit to connect. Default: `COUNTERSIGN_CONNECT_TIMEOUT`, such as `30s`, else 4,000. */
  connectTimeoutMs?: number;
  /** The time limit of an answer, before `no_worker`. Default: `COUNTERSIGN_QUERY_TIMEOUT`, else 5,000. */
  queryTimeoutMs?: number;
  /** The time limit of an optional answer, as for lists. Default: `COUNTERSIGN_GLANCE_TIMEOUT`, else 2,000. */
  glanceTimeoutMs?: number;
  /** The time limit of a receipt, before `recorded`. Default: `COUNTERSIGN_RECEIPT_TIMEOUT`, else 5,000. */
  receiptTimeoutMs?: number;
  /**
   * How long a request is searched before `unknown_request`: the server's index lists a new one only after a while.
   * Default: `COUNTERSIGN_LOOK_UP_TIMEOUT`, else 3,000.
   */
  lookUpTimeoutMs?: number;
}

/** All limits of a client, in milliseconds. */
export type TimeLimits = Readonly<Required<TimeLimitOptions>>;

const defaults: { readonly [Name in keyof TimeLimits]: { variable: string; ms: number } } = {
  connectTimeoutMs: { variable: 'COUNTERSIGN_CONNECT_TIMEOUT', ms: 4_000 },
  queryTimeoutMs: { variable: 'COUNTERSIGN_QUERY_TIMEOUT', ms: 5_000 },
  glanceTimeoutMs: { variable: 'COUNTERSIGN_GLANCE_TIMEOUT', ms: 2_000 },
  receiptTimeoutMs: { variable: 'COUNTERSIGN_RECEIPT_TIMEOUT', ms: 5_000 },
  lookUpTimeoutMs: { variable: 'COUNTERSIGN_LOOK_UP_TIMEOUT', ms: 3_000 },
};

/** Returns each limit: as given, else of the environment, else the default. Throws `internal` with one sentence. */
export function timeLimits(given: TimeLimitOptions, environment: NodeJS.ProcessEnv = process.env): TimeLimits {
  const limitOf = (name: keyof TimeLimits): number => {
    const { variable, ms } = defaults[name];
    const givenMs = given[name];
    if (givenMs !== undefined) {
      if (Number.isFinite(givenMs) && givenMs > 0) return givenMs;
      throw invalidLimit(`${name}: expected a number of milliseconds above 0`);
    }
    const text = environment[variable] ?? '';
    if (text === '') return ms;
    const parsed = parseDuration(text);
    if ('problem' in parsed) throw invalidLimit(`${variable}: '${text.slice(0, 80)}' ${parsed.problem}`);
    if (parsed.durationMs === null) throw invalidLimit(`${variable}: it cannot be 'never'`);
    return parsed.durationMs;
  };
  return {
    connectTimeoutMs: limitOf('connectTimeoutMs'),
    queryTimeoutMs: limitOf('queryTimeoutMs'),
    glanceTimeoutMs: limitOf('glanceTimeoutMs'),
    receiptTimeoutMs: limitOf('receiptTimeoutMs'),
    lookUpTimeoutMs: limitOf('lookUpTimeoutMs'),
  };
}

function invalidLimit(problem: string): ProblemError {
  return new ProblemError({ code: 'internal', message: `${problem}.` });
}

/**
 * What reviewers denied in a run. A denial answers identical calls and counts against its tool, until the model
 * receives a message of its user or for the whole run (`denialsHoldFor`). Reviewers of an identical call always see it.
 */
import type { Grant } from '../policy/grants.ts';
import type { Limits } from '../policy/limits.ts';

export interface Denials {
  /** Denials of each tool's calls in the whole run. */
  byTool: Record<string, number>;
  /** The last `deniedKept` calls, the latest one last. */
  calls: DeniedCall[];
  /** `byTool` when the model last received a message of its user. Absent: no message since the first denial. */
  heardAt?: Record<string, number>;
}

interface DeniedCall extends Partial<EarlierDenial> {
  digest: string;
  tool?: string;
  /** True if the model has received a message of its user since this denial. */
  isPast?: true;
}

/** What the reviewers of a call are shown about earlier denials of an identical call. */
export interface EarlierDenial {
  reason?: string;
  /** The reviewer of the last denial. */
  reviewerId?: string;
  /** When the call was last denied, in ISO 8601. */
  at: string;
  /** The number of times that reviewers were asked about the call and denied it. */
  times: number;
}

/** `by`: the reviewer; absent if an earlier denial answered the call. `grantId`: the grant that denied the call. */
interface Denial {
  toolName: string;
  digest: string;
  reason: string | undefined;
  by?: Pick<EarlierDenial, 'at' | 'reviewerId'>;
  grantId?: string;
}

interface Denying {
  denied: Denials;
}

type Holding = Pick<Limits, 'denialsHoldFor' | 'maxRetriesAfterDeny'>;

export const deniedKept = 200;

/** Adds a denial. A denial by a grant (`grantId`) is only counted: it must answer nothing once the grant has ended. */
export function withDenial<Counting extends Denying & { counts: { denials: number } }>(
  ledger: Counting,
  { toolName, digest, reason, by, grantId }: Denial,
): Counting {
  const { denied } = ledger;
  const counts = { ...ledger.counts, denials: ledger.counts.denials + 1 };
  if (grantId !== undefined) return { ...ledger, counts };
  const before = denied.calls.find((each) => each.digest === digest);
  // If an earlier denial answered the call, the facts of that denial stay.
  const { at, reviewerId } = by ?? before ?? {};
  const times = (before?.times ?? 0) + (by === undefined ? 0 : 1);
  const call: DeniedCall = { digest, reason: reason || undefined, tool: toolName, at, reviewerId, times };
  return {
    ...ledger,
    counts,
    denied: {
      ...denied,
      byTool: { ...denied.byTool, [toolName]: numberOf(denied.byTool, toolName) + 1 },
      calls: [...denied.calls.filter((each) => each !== before), call].slice(-deniedKept),
    },
  };
}

/** Marks denials as past when the model receives a message of its user; undefined if all are past already. */
export function heardDenials({ byTool, calls }: Denials): Denials | undefined {
  if (calls.every(({ isPast }) => isPast)) return undefined;
  return { byTool, calls: calls.map((each) => ({ ...each, isPast: true })), heardAt: byTool };
}

/** The denial that answers an identical call; undefined if none does. */
export function denialOfCall({ calls }: Denials, digest: string, limits: Holding): DeniedCall | undefined {
  return calls.find((each) => each.digest === digest && (each.isPast !== true || limits.denialsHoldFor === 'run'));
}

/** True if a reviewer denied an identical call, even before the last message of the user. */
export function isDeniedBefore({ calls }: Denials, digest: string): boolean {
  return calls.some((each) => each.digest === digest);
}

/** The earlier denials of an identical call, for its reviewers; undefined if no reviewer denied it. */
export function earlierDenialOf({ calls }: Denials, digest: string): EarlierDenial | undefined {
  const { reason, reviewerId, at, times = 0 } = calls.find((each) => each.digest === digest) ?? {};
  return at === undefined ? undefined : { reason, reviewerId, at, times };
}

/** The denials of a tool, if so many that reviewers are no longer asked about its calls; else undefined. */
export function finalDenials({ byTool, heardAt = {} }: Denials, tool: string, limits: Holding): number | undefined {
  const ended = limits.denialsHoldFor === 'run' ? 0 : numberOf(heardAt, tool);
  const denials = numberOf(byTool, tool) - ended;
  // The setting is a number of denials, whatever its name says. At 0, as at 1, the first denial is final.
  return denials >= Math.max(1, limits.maxRetriesAfterDeny) ? denials : undefined;
}

/** The tools that are denied for good, in the form of grants, for query `grants`. Message `revoke` takes their ids. */
export function deniedTools({ denied }: Denying, limits: Holding): Grant[] {
  return Object.keys(denied.byTool).flatMap((tool) => {
    const denials = finalDenials(denied, tool, limits);
    if (denials === undefined) return [];
    return [{ grantId: deniedToolId(tool), tool, approved: false, scope: { kind: 'tool' }, denials }];
  });
}

/** The tools whose denials a message `revoke` with these ids ends. */
export function toolsToLift({ denied }: Denying, ids: readonly string[]): string[] {
  return Object.keys(denied.byTool).filter((tool) => ids.includes(deniedToolId(tool)));
}

export function withoutDenials({ byTool, calls, heardAt }: Denials, tool: string): Denials {
  return {
    byTool: without(byTool, tool),
    calls: calls.filter((each) => each.tool !== tool),
    ...(heardAt !== undefined && { heardAt: without(heardAt, tool) }),
  };
}

export function deniedToolId(tool: string): string {
  return `denied-${tool}`;
}

function numberOf(byTool: Readonly<Record<string, number>>, tool: string): number {
  return Object.hasOwn(byTool, tool) ? byTool[tool]! : 0;
}

function without(byTool: Readonly<Record<string, number>>, tool: string): Record<string, number> {
  return Object.fromEntries(Object.entries(byTool).filter(([name]) => name !== tool));
}

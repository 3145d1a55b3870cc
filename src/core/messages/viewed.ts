/** What a reviewer saw, as the decision's channel claims. It is not checked, but a signature covers it. */
export interface Viewed {
  /** The channel that showed the request, such as `cli`; at most 40 characters. */
  channel?: string;
  /** SHA-256 of the card that was shown: 64 hex characters. */
  card?: string;
  /** How long it was shown, in milliseconds; at most a year. */
  durationMs?: number;
  /** The `userMessages.count` that was shown. The run refuses an approval that saw fewer (`request_changed`). */
  userMessages?: number;
  /** The `bound.digest` that was shown. The run refuses an approval that saw another preview (`request_changed`). */
  preview?: string;
  /** How many requests were shown and decided at once; at most 10,000. */
  batch?: number;
}

/** The most messages of a session's user that may wait for the model at once. */
export const mostWaiting = 100;
export const viewedBounds = {
  channel: 40,
  durationMs: 365 * 24 * 3_600_000,
  userMessages: mostWaiting,
  batch: 10_000,
} as const;

/** For each member: the expected value in words, and a check of it. */
const members = {
  channel: [
    `text of 1 to ${viewedBounds.channel} characters`,
    (value) =>
      typeof value === 'string' && value !== '' && value.length <= viewedBounds.channel && value.isWellFormed(),
  ],
  card: ['64 lower-case hex characters', isDigest],
  preview: ['64 lower-case hex characters', isDigest],
  durationMs: wholeNumber(0, viewedBounds.durationMs),
  userMessages: wholeNumber(0, viewedBounds.userMessages),
  batch: wholeNumber(1, viewedBounds.batch),
} satisfies Record<keyof Viewed, [string, (value: unknown) => boolean]>;

/** Why a decision's `viewed` is refused, as a clause; undefined if it is accepted. */
export function viewedProblem(viewed: unknown): string | undefined {
  if (typeof viewed !== 'object' || viewed === null || Array.isArray(viewed)) {
    return `'viewed' must be an object { ${Object.keys(members).join(', ')} }, each of them optional`;
  }
  for (const [name, value] of Object.entries(viewed)) {
    if (!Object.hasOwn(members, name)) return `unknown field 'viewed.${name.slice(0, 40)}'`;
    const [expected, fits] = members[name as keyof Viewed];
    if (value !== undefined && !fits(value)) return `'viewed.${name}' must be ${expected}`;
  }
  return undefined;
}

function isDigest(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}

function wholeNumber(least: number, most: number): [string, (value: unknown) => boolean] {
  const isWithin = (value: unknown): boolean =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
  return [`a whole number from ${least} to ${most}`, isWithin];
}

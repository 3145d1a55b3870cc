/** The longest wait that a header can impose: one hour. */
export const longestRetryAfterMs = 3_600_000;

/**
 * The wait that a response's headers ask for, in milliseconds: `retry-after-ms`, or `retry-after` as seconds or as a
 * date (`nowMs` is milliseconds since the epoch). Undefined if there is no readable one.
 */
export function retryAfterMs(headers: Record<string, string> | undefined, nowMs: number): number | undefined {
  const wait = readMilliseconds(headers?.['retry-after-ms']) ?? readSecondsOrDate(headers?.['retry-after'], nowMs);
  return wait === undefined ? undefined : Math.min(Math.max(Math.ceil(wait), 0), longestRetryAfterMs);
}

function readMilliseconds(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined;
}

function readSecondsOrDate(text: string | undefined, nowMs: number): number | undefined {
  const seconds = readMilliseconds(text);
  if (seconds !== undefined) return seconds * 1_000;
  // Accept only HTTP's own date format: Date.parse accepts almost anything, even a negative number.
  const at = /^[A-Z][a-z]{2}, .+ GMT$/.test(text ?? '') ? Date.parse(text ?? '') : Number.NaN;
  return Number.isNaN(at) ? undefined : at - nowMs;
}

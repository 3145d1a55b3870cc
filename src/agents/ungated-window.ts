import type { GatedActivity } from '../core/policy/gated-activity.ts';
import { instantMs } from '../core/messages/control.ts';
import { DefinitionError } from './definition-error.ts';

/**
 * While a gate comes into a system that runs: calls without a permit are admitted until `untilMs`, from executions that
 * started before `sinceMs`. Both are milliseconds since 1970.
 */
export interface UngatedWindow {
  sinceMs: number;
  untilMs: number;
}

/** The window of a declared activity; undefined if it has none. Throws a `DefinitionError`, one sentence. */
export function ungatedWindow(
  place: string,
  { gatedSince, ungatedUntil }: Pick<GatedActivity, 'gatedSince' | 'ungatedUntil'>,
): UngatedWindow | undefined {
  if (gatedSince === undefined && ungatedUntil === undefined) return undefined;
  if (gatedSince === undefined) {
    throw new DefinitionError(
      `${place}: ungatedUntil needs gatedSince, the time from which every new execution has the gate`,
    );
  }
  if (ungatedUntil === undefined) throw new DefinitionError(`${place}: gatedSince needs ungatedUntil`);
  const sinceMs = readInstant(`${place}: gatedSince`, gatedSince);
  const untilMs = readInstant(`${place}: ungatedUntil`, ungatedUntil);
  if (sinceMs < untilMs) return { sinceMs, untilMs };
  throw new DefinitionError(`${place}: ungatedUntil must be later than gatedSince`);
}

function readInstant(place: string, text: unknown): number {
  const isDate = typeof text === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(text);
  const atMs = instantMs(isDate ? `${text}T00:00Z` : text);
  if (atMs !== undefined) return atMs;
  throw new DefinitionError(
    `${place} must be an instant with its offset, such as 2030-01-31T12:00:00Z, or a date such as 2030-01-31`,
  );
}

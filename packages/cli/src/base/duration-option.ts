import { InvalidArgumentError } from 'commander';
import { formatDuration, parseDuration } from 'countersign/base';

/** A parser for commander: a duration such as 30s, in milliseconds; at least `leastMs`. */
export function durationOption(leastMs = 1): (text: string) => number {
  return (text) => {
    const parsed = parseDuration(text);
    if ('problem' in parsed || parsed.durationMs === null) {
      throw new InvalidArgumentError('It must be a whole number and a unit, such as 30s, 5m, 1h or 1d.');
    }
    if (parsed.durationMs < leastMs) throw new InvalidArgumentError(`It must be at least ${formatDuration(leastMs)}.`);
    return parsed.durationMs;
  };
}

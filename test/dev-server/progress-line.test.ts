import { afterEach, beforeEach, describe, expect, vi, test } from 'vitest';
import { startProgressLine } from '../../packages/cli/src/dev-server/progress-line.ts';

const clear = '\r\u001B[2K';

describe('a progress line', () => {
  let lines: string[];
  let written: string[];

  beforeEach(() => {
    vi.useFakeTimers();
    lines = [];
    written = [];
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  function start(isTTY: boolean): ReturnType<typeof startProgressLine> {
    const terminal = { isTTY, write: (text: string) => written.push(text) } as unknown as NodeJS.WriteStream;
    return startProgressLine('Building:', (line) => lines.push(line), terminal);
  }

  test('without a terminal prints a line at once and every 30 seconds, until it stops', () => {
    const progress = start(false);
    progress.detail('12 packages compiled');
    vi.advanceTimersByTime(65_000);
    progress.stop();
    vi.advanceTimersByTime(60_000);
    expect(lines).toEqual([
      'Building: 0:00',
      'Building: 0:30, 12 packages compiled',
      'Building: 1:00, 12 packages compiled',
    ]);
    expect(written).toEqual([]);
  });

  test('on a terminal is one line, rewritten each second, that ends with a line break', () => {
    const progress = start(true);
    vi.advanceTimersByTime(1_000);
    progress.detail('3 packages compiled');
    vi.advanceTimersByTime(1_000);
    progress.stop();
    vi.advanceTimersByTime(5_000);
    const last = `${clear}Building: 0:02, 3 packages compiled`;
    expect(written).toEqual([`${clear}Building: 0:00`, `${clear}Building: 0:01`, last, `${last}\n`]);
    expect(lines).toEqual([]);
  });
});

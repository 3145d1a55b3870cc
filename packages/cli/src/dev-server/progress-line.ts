const terminalIntervalMs = 1_000;
const plainIntervalMs = 30_000;

/** A line about a long operation. `detail` sets the last part of the line; `stop` completes the line. */
export interface ProgressLine {
  detail(text: string): void;
  stop(): void;
}

/** Shows `label` and the elapsed time, such as `1:05`. Rewrites one line of a terminal; elsewhere uses `log`. */
export function startProgressLine(
  label: string,
  log: (line: string) => void,
  terminal: NodeJS.WriteStream = process.stderr,
): ProgressLine {
  const startedAt = performance.now();
  let detail = '';
  const line = (): string => `${label} ${elapsed(performance.now() - startedAt)}${detail && `, ${detail}`}`;
  const show = (): void => {
    if (terminal.isTTY) terminal.write(`\r\u001B[2K${line()}`);
    else log(line());
  };
  show();
  const interval = setInterval(show, terminal.isTTY ? terminalIntervalMs : plainIntervalMs);
  return {
    detail: (text) => {
      detail = text;
    },
    stop: () => {
      clearInterval(interval);
      if (terminal.isTTY) terminal.write(`\r\u001B[2K${line()}\n`);
    },
  };
}

function elapsed(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

import { DefaultLogger, type Logger, type LogLevel, LogTimestamp } from '@temporalio/worker';
import { LineTerminal } from '../channels/line-terminal.ts';

/** Temporal's own logger. A question that a console channel has put on the terminal is asked again below each line. */
export function defaultLogger(level: LogLevel): Logger {
  const plain = new DefaultLogger(level);
  return new DefaultLogger(level, ({ level: ofLine, message, meta, timestampNanos }) =>
    LineTerminal.logBeside(() => plain.log(ofLine, message, { ...meta, [LogTimestamp]: timestampNanos })),
  );
}

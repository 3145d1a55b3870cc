import stringWidth from 'string-width';
import type { Channel, ChannelAnswer, ChannelRequest } from './channel.ts';
import { lineCard, noAlways } from '../card/narrowest-scope.ts';
import { renderTerminal } from '../card/render-terminal.ts';
import { aborted } from '../text/aborted.ts';
import { terminalClock } from '../text/instant-text.ts';
import { consoleLineHelp, readConsoleLine } from '../text/console-line.ts';
import { checkOptions } from '../agents/check-options.ts';
import { whatWasShown } from './channel-answer.ts';
import { type Asking, LineTerminal, type TerminalInput, type TerminalOutput } from './line-terminal.ts';

/** Options of `consoleChannel`. */
export interface ConsoleOptions {
  /** The input of the terminal. Default: the process's standard input. */
  input?: TerminalInput;
  /** The output of the terminal. Default: the process's standard output. */
  output?: TerminalOutput;
  /** How long a request stays open if this is its only channel, in milliseconds. Default: 300,000 (5 minutes). */
  timeoutMs?: number;
}

const defaultTimeoutMs = 300_000;
const unneeded = 'No answer is needed here any more: it was settled elsewhere, its time is over, or the worker stops.';

/**
 * Creates a channel that asks at the worker's terminal, one request at a time. It prints the card and reads one line:
 * `a` (approve, yes, y) approves, `A` (always) also approves later calls of the run, as the card describes, `d` (deny,
 * no, n) denies, and `s` (skip) denies with the reason "skipped". After any other line it asks again. It asks after
 * half a second without typing; earlier typing and pasted text are no answer. Without a terminal, and after the end of
 * the input, `resolve` waits until its signal aborts and then rejects, so the request stays open. Throws a
 * `DefinitionError` for an unknown option.
 *
 * @example
 * ```ts
 * import { consoleChannel } from 'countersign/channels';
 *
 * console.log(consoleChannel({ timeoutMs: 60_000 }).timeoutMs); // 60000
 * ```
 */
export function consoleChannel(options: ConsoleOptions = {}): Channel {
  checkOptions('consoleChannel', options, { input: true, output: true, timeoutMs: true });
  const { input = process.stdin, output = process.stdout, timeoutMs = defaultTimeoutMs } = options;
  return {
    timeoutMs,
    resolve: async (request, signal) => {
      let isAsked = false;
      const asked = LineTerminal.of(input, output).use(signal, (asking) => {
        isAsked = true;
        return ask(asking, request);
      });
      const answer = await asked.catch((error: unknown) => {
        if (signal.aborted && isAsked) output.write(`${unneeded}\n`); // the question is still on the screen
        throw error;
      });
      return answer ?? aborted(signal);
    },
  };
}

/** Asks until a line answers the request; undefined once the input has ended. */
async function ask(asking: Asking, request: ChannelRequest): Promise<ChannelAnswer | undefined> {
  const shown = whatWasShown(request);
  const hasAllArguments = request.shown === 'all';
  const nowMs = Date.now();
  const { card, always } = lineCard(request, nowMs);
  asking.print(
    `\n${renderTerminal(card, { width: asking.columns, columnsOf: stringWidth, raw: true, clock: terminalClock(nowMs) })}\n`,
  );
  for (;;) {
    const line = await asking.answer(`[a]pprove ${always === undefined ? '' : '[A]lways '}[d]eny [s]kip: `);
    if (line === undefined) {
      asking.print('The input has ended: the request stays open.');
      return undefined;
    }
    const answer = readConsoleLine(line);
    if (answer === 'skip') return { approved: false, reason: 'skipped', ...shown };
    if (answer === 'deny') return { approved: false, ...shown };
    if (answer === undefined) asking.print(`Not an answer: ${consoleLineHelp}.`);
    else if (!hasAllArguments) asking.print('Not all arguments are shown here, so it cannot be approved here.');
    else if (answer === 'approve') return { approved: true, ...shown };
    else if (always === undefined) asking.print(noAlways(request));
    else return { approved: true, ...shown, always };
  }
}

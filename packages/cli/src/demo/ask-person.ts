import type { Json } from 'countersign/base';
import type { CallOutcome, RunStatusName } from 'countersign/client';
import type { Action } from 'countersign/policy';
import { createInterface } from 'node:readline';
import { LineTerminal } from 'countersign/adapter';
import { readConsoleLine } from 'countersign/card';

/** The events of the demo. `--json` prints each as it is, `tellPeople` prints sentences. */
export type DemoEvent =
  | { event: 'server'; address: string; uiUrl: string; pid: number }
  | { event: 'folder'; path: string; model: string; scripted: boolean }
  | { event: 'worker'; pid: number; again: boolean }
  | { event: 'run'; workflowId: string; url: string }
  | { event: 'said'; text: string }
  | {
      event: 'ruling';
      callId: string;
      tool: string;
      args: Json;
      /** `refused`: no policy decided, for example for an unknown tool. */
      action: Action | 'refused';
      rule: string | null;
      reason: string;
    }
  | { event: 'killed'; pid: number }
  | { event: 'listed'; requestId: string; tool: string; deadline: string | null }
  | {
      event: 'asking';
      requestId: string;
      tool: string;
      args: Json;
      context: string;
      digest: string;
      /** The page of the request in the inbox. Absent if no reviewer is asked. */
      url?: string;
      commands: string[];
    }
  | { event: 'nobody'; requestId: string }
  | { event: 'decided'; requestId: string; approved: boolean; by: string; message: string }
  | { event: 'elsewhere'; requestId: string; message: string }
  | { event: 'counted'; callId: string; tool: string; times: number; log: string }
  | { event: 'result'; status: RunStatusName; output: string; outcomes: CallOutcome[] }
  | { event: 'links'; url: string; commands: string[]; keep: boolean }
  | { event: 'note'; text: string }
  | { event: 'gone' };

export type Tell = (event: DemoEvent) => void;

export type TypedAnswer = { approved: true } | { approved: false; reason?: string };

/** Asks the person at standard input until they answer. Resolves to `nobody` when the input ends without an answer. */
export type AskPerson = (signal: AbortSignal) => Promise<TypedAnswer | 'nobody'>;

const prompt = '  a/approve/yes/y or d/deny/no/n: ';

/** Returns a function that asks on a terminal; elsewhere the lines of standard input are the answers. */
export function createAskPerson(output: NodeJS.WriteStream): AskPerson {
  const nextLine = process.stdin.isTTY && output.isTTY ? terminalLine(output) : pipedLine(output);
  return async (signal) => {
    for (;;) {
      const line = await nextLine(signal);
      if (line === undefined) return 'nobody';
      const answer = readConsoleLine(line);
      if (answer === 'approve') return { approved: true };
      if (answer === 'deny') return { approved: false };
      // A skipped request would be the next one again, so the demo denies it.
      if (answer === 'skip') return { approved: false, reason: 'skipped' };
      if (line.trim() !== '') output.write('  Please answer a (approve) or d (deny).\n');
    }
  };
}

type NextLine = (signal: AbortSignal) => Promise<string | undefined>;

function terminalLine(output: NodeJS.WriteStream): NextLine {
  const terminal = LineTerminal.of(process.stdin, output);
  return (signal) => terminal.use(signal, (asking) => asking.answer(prompt));
}

/** Reads answers from a pipe, one line for each question. Returns undefined at the end of the input. */
function pipedLine(output: NodeJS.WritableStream): NextLine {
  let lines: AsyncIterator<string> | undefined;
  let pending: Promise<IteratorResult<string>> | undefined;
  return async (signal) => {
    lines ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]();
    output.write(prompt);
    // If the last question was aborted, its read still waits, and its line answers this question.
    pending ??= lines.next();
    const aborted = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
    const { done, value } = await Promise.race([pending, aborted]);
    pending = undefined;
    output.write('\n');
    return done === true ? undefined : value;
  };
}

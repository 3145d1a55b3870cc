import { setTimeout as sleep } from 'node:timers/promises';
import { createInterface, type Interface } from 'node:readline';
import stringWidth from 'string-width';
import { terminalClock } from 'countersign/base';
import { lineCard, noAlways, renderTerminal, armingMs, consoleLineHelp, readConsoleLine } from 'countersign/card';
import type { CountersignClient, ApprovalSummary } from 'countersign/client';
import { readRequest } from '../base/read-request.ts';
import { rowFacts } from '../inbox/row-view.ts';
import type { Output } from '../base/output.ts';
import { lookEveryMs, mostListed, type ReviewOptions } from './review-on-screen.ts';
import type { ReviewAnswer, OpenCard } from './review-state.ts';
import { sendAnswer } from './send-answer.ts';

/**
 * Reviews on a terminal that cannot move its cursor (`TERM=dumb`): prints each request in full and reads one line. What
 * is skipped stays open. Waits for further requests until the end of the input. True: it ended by Ctrl-C.
 */
export async function reviewByLines(client: CountersignClient, { filter, sender }: ReviewOptions): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stdout, terminal: false });
  const interrupted = Promise.withResolvers<'interrupted'>();
  const interrupt = (): void => interrupted.resolve('interrupted');
  process.on('SIGINT', interrupt);
  try {
    const work = reviewAll(client, { filter, sender }, lines);
    return (await Promise.race([work, interrupted.promise])) === 'interrupted';
  } finally {
    process.off('SIGINT', interrupt);
    lines.close();
  }
}

async function reviewAll(
  client: CountersignClient,
  { filter, sender }: Pick<ReviewOptions, 'filter' | 'sender'>,
  lines: Interface,
): Promise<void> {
  const aside = new Set<string>();
  const ended = new AbortController();
  lines.once('close', () => ended.abort());
  let isIdle = false;
  for (;;) {
    const { approvals } = await client.approvals.list({ ...filter, limit: mostListed + aside.size });
    const row = approvals.find(({ requestId }) => !aside.has(requestId));
    if (row === undefined) {
      if (!isIdle) print('Nothing else waits for approval. What comes is shown here; Ctrl-C or Ctrl-D ends it.');
      isIdle = true;
      await sleep(lookEveryMs, undefined, { signal: ended.signal }).catch(() => undefined);
      if (ended.signal.aborted) return;
      continue;
    }
    isIdle = false;
    const card = await readCard(client, row);
    const answer = await ask(lines, card);
    if (answer === 'end') return;
    if (answer === 'skip') aside.add(row.requestId);
    else {
      const { notice, isDone } = await sendAnswer(client, card, answer, sender);
      print(notice.text);
      if (isDone) aside.add(row.requestId);
    }
  }
}

async function readCard(client: CountersignClient, row: ApprovalSummary): Promise<OpenCard> {
  const read = await readRequest(client, row.requestId, row.workflowId);
  const shown = { row, unfolded: true, scroll: 0, seen: Infinity, shownAtMs: Date.now() };
  return 'details' in read ? { ...shown, request: read.details } : { ...shown, unanswered: read.why.message };
}

/** Prints the card and asks until a line answers. */
async function ask(lines: Interface, card: OpenCard): Promise<ReviewAnswer | 'skip' | 'end'> {
  const { row, request } = card;
  const isShown = (request ?? row).shown === 'all';
  const nowMs = Date.now();
  const shown = request && lineCard(request, nowMs);
  const always = shown?.always;
  print(
    `\n${shown === undefined ? rowText(row) : renderTerminal(shown.card, { width: process.stdout.columns, columnsOf: stringWidth, raw: true, clock: terminalClock(nowMs) })}\n`,
  );
  for (;;) {
    const line = await nextLine(lines, `[a]pprove ${always === undefined ? '' : '[A]lways '}[d]eny [s]kip: `);
    if (line === undefined) return 'end';
    const answer = readConsoleLine(line);
    if (answer === 'skip') return 'skip';
    if (answer === 'deny') return { approved: false };
    if (answer === undefined) print(`Not an answer: ${consoleLineHelp}.`);
    else if (!isShown) print('Not all arguments are shown to you, so it cannot be approved here.');
    else if (answer === 'approve') return { approved: true };
    else if (always === undefined) print(noAlways(request ?? {}));
    else return { approved: true, always };
  }
}

function rowText(row: ApprovalSummary): string {
  return rowFacts({ style: (_, text) => text, width: process.stdout.columns } as Output, row);
}

/** The next line; undefined at the end of the input. Lines that came before the question, or just after it, do not count. */
function nextLine(lines: Interface, question: string): Promise<string | undefined> {
  process.stdout.write(question);
  let quietFromMs = Date.now();
  return new Promise((resolve) => {
    const take = (line: string): void => {
      const nowMs = Date.now();
      if (nowMs - quietFromMs < armingMs) {
        quietFromMs = nowMs;
        process.stdout.write(`Too fast to be meant for this request. ${question}`);
        return;
      }
      lines.off('line', take).off('close', end);
      resolve(line);
    };
    const end = (): void => resolve(undefined);
    lines.on('line', take).once('close', end);
  });
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

import { setTimeout as sleep } from 'node:timers/promises';
import { isProblemError } from 'countersign/base';
import type { CountersignClient, ApprovalFilter, ApprovalSummary } from 'countersign/client';
import { reviewerOf } from '../base/reviewer.ts';
import type { Styling } from './card-lines.ts';
import { cardStanding } from './card-state.ts';
import { frameOf } from './layout.ts';
import { editorCommand, openEditor } from './open-editor.ts';
import { readPastCalls } from './transcript-calls.ts';
import { type Effect, openReview, type ReviewEvent } from './review-state.ts';
import { openScreen } from './screen.ts';
import { type AnswerSender, sendAnswer, sendExtension } from './send-answer.ts';
import { step } from './step.ts';

export interface ReviewOptions {
  filter: Omit<ApprovalFilter, 'limit'>;
  sender: AnswerSender;
  style: Styling;
}

/** Modest: each look is one query of the server's index or of one run, and adds nothing to any history. */
export const lookEveryMs = 2_000;
/** Looking at all of a large inbox takes seconds. */
export const mostListed = 100;
/** How often times on the screen are brought up to date. */
const tickEveryMs = 100;

/** Shows one request after another until the person leaves. True: by Ctrl-C. */
export async function reviewOnScreen(
  client: CountersignClient,
  { filter, sender, style }: ReviewOptions,
): Promise<boolean> {
  const stop = new AbortController();
  const ended = Promise.withResolvers<boolean>();
  const editor = editorCommand(process.env);
  let state = openReview({
    size: { columns: process.stdout.columns, rows: process.stdout.rows },
    nowMs: Date.now(),
    reviewer: reviewerOf(sender),
    hasEditor: editor !== undefined,
  });
  const screen = openScreen({
    press: (press) => dispatch({ kind: 'press', press }),
    resize: (size) => dispatch({ kind: 'resized', size }),
  });

  let isDrawing = false;
  let shown: string | undefined;
  const draw = async (): Promise<void> => {
    if (isDrawing) return; // the loop below looks at the state again
    isDrawing = true;
    for (;;) {
      const { view } = state;
      const lines = frameOf(state, style);
      const text = lines.join('\n');
      if (text !== shown) await screen.draw(lines);
      ({ state } = step(state, { kind: 'drawn', view }, Date.now(), style));
      if (text === shown) break;
      shown = text;
    }
    isDrawing = false;
  };
  const dispatch = (event: ReviewEvent): void => {
    if (stop.signal.aborted) return;
    const next = step(state, event, Date.now(), style);
    state = next.state;
    for (const effect of next.effects) void run(effect).catch(ended.reject);
    void draw().catch(ended.reject);
  };

  const run = async (effect: Effect): Promise<void> => {
    switch (effect.kind) {
      case 'quit':
        return ended.resolve(effect.isInterrupted);
      case 'read':
        return read(effect.row);
      case 'read-past': {
        const { requestId, workflowId, toolName } = effect.request;
        return dispatch({ kind: 'past', requestId, calls: await readPastCalls(client, workflowId, toolName) });
      }
      case 'decide':
        return dispatch({ kind: 'sent', ...(await sendAnswer(client, effect.card, effect.answer, sender)) });
      case 'extend':
        return dispatch({ kind: 'sent', ...(await sendExtension(client, effect.card, effect.untilMs, sender)) });
      case 'open-editor': {
        let edited: Awaited<ReturnType<typeof openEditor>> | undefined;
        await screen.lend(async () => {
          edited = await openEditor(editor!, effect.arguments);
        });
        return dispatch('arguments' in edited! ? { kind: 'edited', ...edited } : { kind: 'not-edited', ...edited });
      }
    }
  };
  const read = async ({ requestId, workflowId }: ApprovalSummary): Promise<void> => {
    try {
      dispatch({ kind: 'read', request: await client.approvals.get(requestId, { workflowId }) });
    } catch (error) {
      if (!isProblemError(error)) throw error;
      if (error.code === 'server_unreachable') dispatch({ kind: 'failed', message: error.message });
      else dispatch({ kind: 'unanswered', requestId, message: error.message });
    }
  };
  const list = async (): Promise<void> => {
    try {
      // What was put aside does not count, so that there is always a next one.
      const limit = mostListed + Object.keys(state.aside).length;
      const { approvals, unread, more, next } = await client.approvals.list({ ...filter, limit });
      const ids = unread.flatMap(({ requestIds }) => requestIds);
      const isCut = next !== undefined;
      dispatch({ kind: 'listed', rows: approvals, unread: ids.length + (isCut ? 0 : more), isCut });
    } catch (error) {
      if (!isProblemError(error)) throw error;
      dispatch({ kind: 'failed', message: error.message });
    }
  };
  const repeat = async (everyMs: number, once: () => Promise<void> | void): Promise<void> => {
    while (!stop.signal.aborted) {
      await once();
      await sleep(everyMs, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  };

  const readAgain = async (): Promise<void> => {
    const { card } = state;
    if (card !== undefined && cardStanding(card, state.nowMs) !== 'settled') await read(card.row);
  };
  const loops = [
    repeat(tickEveryMs, () => dispatch({ kind: 'tick' })),
    repeat(lookEveryMs, list),
    repeat(lookEveryMs, readAgain),
  ];
  for (const loop of loops) loop.catch(ended.reject);
  try {
    return await ended.promise;
  } finally {
    stop.abort();
    await screen.close();
    const { notice } = state;
    if (notice !== undefined) process.stdout.write(`${notice.text}\n`);
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { escapeText, isProblemError } from 'countersign/base';
import type { ApprovalList, UnreadRun, ApprovalSummary } from 'countersign/client';
import { linesOfRequest, renderInbox } from './approval-views.ts';
import type { Output } from '../base/output.ts';

/** Shows each list, or the error of a poll. */
interface View {
  show(list: ApprovalList): void;
  fail(problem: string): void;
}

/** Polls the list until `stop` aborts. Throws an error of the first poll; shows later problems, and goes on. */
export async function watchApprovals(
  list: () => Promise<ApprovalList>,
  output: Output,
  { intervalMs, stop }: { intervalMs: number; stop: AbortSignal },
): Promise<void> {
  const view = output.forPeople ? screen(output) : changes(output);
  view.show(await list());
  for (;;) {
    await sleep(intervalMs, undefined, { signal: stop }).catch(() => undefined);
    if (stop.aborted) return;
    try {
      view.show(await list());
    } catch (error) {
      if (stop.aborted) return; // the connection is closed
      if (!isProblemError(error)) throw error;
      view.fail(error.message);
    }
  }
}

const toTop = '\u001b[H\u001b[J';

/** Returns a view for people. After a change, it draws the list over the earlier one, with as many requests as fit. */
function screen(output: Output): View {
  let last = '';
  let inbox = '';
  const draw = (problem: string): void => {
    const shown = [inbox, problem, output.style('dim', 'Ctrl-C stops it.')].filter((part) => part !== '').join('\n');
    if (shown !== last) output.line(`${toTop}${shown}`);
    last = shown;
  };
  return {
    show: (list) => {
      // Four lines stay free: the head of the table, the number of omitted rows, a problem, and the last line. The
      // most urgent request is shown even if the terminal is too low for it.
      const fitting = Math.max(1, Math.floor((output.height - list.unread.length - 4) / linesOfRequest));
      const approvals = list.approvals.slice(0, fitting);
      const omitted = list.approvals.length - approvals.length + list.more;
      inbox = renderInbox(output, { ...list, approvals }, Date.now());
      if (omitted > 0) inbox += `\n${omitted} more are not shown.`;
      draw('');
    },
    fail: (problem) => draw(output.style('red', escapeText(problem))),
  };
}

/** Returns a view for programs. It prints what appeared, changed or is gone: requests, and runs that are unreadable. */
function changes(output: Output): View {
  let known = new Map<string, ApprovalSummary | UnreadRun>();
  let problem = '';
  return {
    show: ({ approvals, unread, more }) => {
      const now = new Map<string, ApprovalSummary | UnreadRun>();
      for (const run of unread) now.set(run.workflowId, run);
      for (const row of approvals) now.set(`${row.requestId} ${row.workflowId}`, row);
      for (const [key, item] of known) {
        if (now.has(key)) continue;
        // A request that is no longer in the list may still be open, if its run is unreadable or the list is cut.
        const mayBeOpen = more > 0 || ('requestId' in item && now.has(item.workflowId));
        if (mayBeOpen) now.set(key, item);
        else output.json({ change: 'gone', ...item });
      }
      for (const [key, item] of now) {
        const before = known.get(key);
        if (before === undefined) output.json({ change: 'appeared', ...item });
        else if (JSON.stringify(before) !== JSON.stringify(item)) output.json({ change: 'changed', ...item });
      }
      known = now;
      problem = '';
    },
    // A problem that lasts for several polls is printed once.
    fail: (message) => {
      if (message !== problem) output.note(escapeText(message));
      problem = message;
    },
  };
}

import { escapeText, isProblemError } from 'countersign/base';
import type { ApprovalSummary, RecordedEvent } from 'countersign/client';
import { renderEvent } from '../runs/event-lines.ts';
import type { Context } from './questions.ts';

/** How many of a run's last events are printed, and of each run above it. */
const [mostOfRun, mostAbove] = [20, 5];

/** Prints what the run of a request did so far, after the last events of the runs that called it. */
export async function printContext({ questions, client, output }: Context, row: ApprovalSummary): Promise<void> {
  const { workflowId, lineage = [] } = row;
  for (const run of [...lineage, workflowId]) {
    questions.print(output.style('bold', `\nRun ${escapeText(run)}`));
    try {
      const events: RecordedEvent[] = [];
      for await (const event of client.events(run, { follow: false })) {
        if (event.type !== 'RawResponseEvent') events.push(event);
      }
      const most = run === workflowId ? mostOfRun : mostAbove;
      // The task comes first, however long the run is.
      const left = events.length - most;
      const shown = left > 0 ? [events[0]!, ...events.slice(left + 1)] : events;
      for (const [index, event] of shown.entries()) {
        questions.print(renderEvent(output, event, {}));
        if (index === 0 && left > 0) questions.print(output.style('dim', `${left} events are left out`));
      }
    } catch (error) {
      if (!isProblemError(error)) throw error;
      questions.print(output.style('yellow', escapeText(error.message)));
    }
  }
}

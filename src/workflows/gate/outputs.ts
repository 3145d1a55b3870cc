import type { Messages } from '../messages/receive-messages.ts';
import type { GateState } from '../state/gate-state.ts';
import type { ScheduledTask } from '../state/scheduler.ts';
import type { VisibilityIndex } from './visibility-index.ts';

/** Writes the gate's own commands, once no waiter can go on: timer, index, previews and announcements, else the journal. */
export function outputsOf(
  state: GateState,
  { queue, deadlines }: Messages,
  index: VisibilityIndex,
  others: readonly ScheduledTask[],
): ScheduledTask {
  const outputs: ScheduledTask[] = [deadlines, index, ...others];
  return {
    get isDue() {
      return queue.needsCommand || (queue.isOpen && outputs.some(({ isDue }) => isDue));
    },
    run() {
      if (queue.isOpen) for (const output of outputs) output.run();
      if (queue.needsCommand && !state.hasWritten) index.writeJournal();
      queue.noteCommandWritten();
    },
  };
}

/** Workflows that do and do not depend on where their workflow tasks end, and one that never replays. */
import {
  condition,
  defineSignal,
  defineUpdate,
  proxyActivities,
  setHandler,
  sleep,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';

const { hold } = proxyActivities<{ hold: (name: string) => Promise<void> }>({ startToCloseTimeout: '1 minute' });

/** Counts values, by signal and by update. An update with a value other than `good` is refused. */
function countValues(): void {
  let count = 0;
  const add = (): void => upsertMemo({ count: ++count });
  setHandler(defineSignal('value'), add);
  setHandler(
    defineUpdate<number, [string]>('value'),
    () => {
      add();
      return count;
    },
    {
      validator: (value) => {
        if (value !== 'good') throw new Error('refused');
      },
    },
  );
}

/** Writes the same command for each message, whatever else its activation holds. */
export async function ignoresBoundaries(): Promise<void> {
  countValues();
  await Promise.all([hold('first'), hold('second')]);
}

/** Starts another activity on signal `more`, but only if `first` has ended by then. */
export async function readsEnds(): Promise<void> {
  let hasEnded = false;
  countValues();
  setHandler(defineSignal('more'), () => {
    if (hasEnded) void hold('more');
    else upsertMemo({ isEarly: true });
  });
  await Promise.all([hold('first').then(() => (hasEnded = true)), hold('second')]);
}

/**
 * Starts another activity in the first task that runs a second or more after signal `more`, by the clock of the task.
 */
export async function readsClock(): Promise<void> {
  let toldMs = Number.POSITIVE_INFINITY;
  countValues();
  setHandler(defineSignal('more'), () => {
    toldMs = Date.now();
  });
  void condition(() => Date.now() >= toldMs + 1_000).then(() => hold('more'));
  await Promise.all([hold('first'), hold('second')]);
}

/** Makes different commands on replay. */
export async function differsOnReplay(): Promise<void> {
  if (workflowInfo().unsafe.isReplaying) void sleep(1);
  await hold('first');
}

import type { ChaosSchedule, PlannedRun, PlannedTurn } from './schedule.ts';

/** All runs; each comes before its nested runs. */
export function allRuns(runs: readonly PlannedRun[]): PlannedRun[] {
  return runs.flatMap((run) => [run, ...allRuns(nestedOf(run))]);
}

function nestedOf({ turns }: PlannedRun): PlannedRun[] {
  return turns.flatMap(({ calls }) => calls.flatMap(({ nested }) => nested ?? []));
}

/** How many requests the runs open if all of them complete. */
export function askedCalls({ runs }: Pick<ChaosSchedule, 'runs'>): number {
  const calls = allRuns(runs).flatMap(({ turns }) => turns.flatMap((turn) => turn.calls));
  return calls.filter(({ tool }) => tool !== 'look' && tool !== 'helper').length;
}

/** Decisions (a batch counts as one) and control messages. */
export function plannedSends({ runs }: Pick<ChaosSchedule, 'runs'>): number {
  return allRuns(runs)
    .flatMap(({ turns }) => turns)
    .reduce((sum, turn) => sum + sendsOfTurn(turn), 0);
}

export function sendsOfTurn({ sends, controls }: PlannedTurn): number {
  return sends.length + controls.length;
}

import { definitionOf } from '../../src/agents/registry.ts';
import { callDigest } from '../../src/core/base/digest.ts';
import { chaosAgent } from './chaos-agent.ts';
import type { PlannedRun } from './schedule.ts';
import { allRuns } from './all-runs.ts';

export interface CallPlace {
  run: PlannedRun;
  turn: number;
  call: number;
}

/** Maps a request's digest to its place in the schedule. Digests are unique because each call writes its own text. */
export function callDirectory(runs: readonly PlannedRun[]): ReadonlyMap<string, CallPlace> {
  const definitions = new Map(chaosAgent('').tools.map((tool) => [tool.name, definitionOf(tool).definition]));
  return new Map(
    allRuns(runs).flatMap((run) =>
      run.turns.flatMap(({ calls }, turn) =>
        calls.map(({ tool, text }, call): [string, CallPlace] => [
          callDigest({ tool, args: { text }, definition: definitions.get(tool)! }),
          { run, turn, call },
        ]),
      ),
    ),
  );
}

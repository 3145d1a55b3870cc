/** The part of the benchmarks' `--json` output that the budgets need. */
export interface RunsMeasured {
  events: { rows: { name: string; addedTotal: number; budget?: number }[] };
  latency: { b3: number; b6: number; reads: number; budgets: { b3: number; b6: number } };
  waiting: { memory: number; processor: number; budgets: { memory: number; processor: number } };
  recovery: {
    runs: number;
    lost: number;
    notRun: number;
    twice: number;
    readyMs: number;
    endedSeconds: { most: number };
  };
}

export interface Verdict {
  /** `B1`, … */
  budget: string;
  what: string;
  measured: number;
  most: number;
  shown: string;
  limit: string;
  kept: boolean;
}

/** Compares each budget of runs with its measurement. */
export function verdictsOf({ events, latency, waiting, recovery }: RunsMeasured): Verdict[] {
  const budgeted = events.rows.filter((row) => row.budget !== undefined);
  const lostOrTwice = recovery.lost + recovery.notRun + recovery.twice;
  const recovered = `${lostOrTwice} (worker back in ${seconds(recovery.readyMs / 1_000)}, all ended in ${seconds(recovery.endedSeconds.most)})`;
  return [
    ...budgeted.map((row) =>
      verdict(row.budget === 0 ? 'B1' : 'B2', `history events added: ${row.name}`, row.addedTotal, row.budget!),
    ),
    ratio('B3', 'decision to start of its tool, by that of a gate by hand', latency.b3, latency.budgets.b3),
    ratio('B5', 'memory of a waiting run, by that of a bare one', waiting.memory, waiting.budgets.memory),
    ratio('B5', 'processor time of a run until it waits, by a bare one', waiting.processor, waiting.budgets.processor),
    ratio(
      'B6',
      `decision latency with 25 viewers and ${latency.reads} reads, by without`,
      latency.b6,
      latency.budgets.b6,
    ),
    {
      ...verdict('B7', `kill -9 with ${recovery.runs} waiting runs: lost or run twice`, lostOrTwice, 0),
      shown: recovered,
    },
  ];
}

function verdict(budget: string, what: string, measured: number, most: number): Verdict {
  return { budget, what, measured, most, shown: String(measured), limit: `at most ${most}`, kept: measured <= most };
}

function ratio(budget: string, what: string, measured: number, most: number): Verdict {
  return {
    ...verdict(budget, what, measured, most),
    shown: `${measured.toFixed(2)} times`,
    limit: `at most ${most} times`,
  };
}

function seconds(value: number): string {
  return `${value.toFixed(1)} s`;
}

/** One whole chaos test: opens a stage, plays the schedule and verifies the records of all runs. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '../../src/client/client.ts';
import { replayLines, replayServer, type FailedReplay } from '../support/replay-server.ts';
import { eventually } from '../support/eventually.ts';
import type { RanLine } from './chaos-agent.ts';
import { readRanLines } from './chaos-agent.ts';
import { gatherBooks } from './gather-books.ts';
import type { PlayOptions } from './play-schedule.ts';
import { playSchedule } from './play-schedule.ts';
import type { RunBook } from './run-book.ts';
import type { ChaosSchedule } from './schedule.ts';
import { openSenders } from './senders.ts';
import { openStage } from './stage.ts';
import type { Violation } from './verify.ts';
import { verifyBook } from './verify.ts';

export interface ChaosOutcome {
  violations: Violation[];
  books: RunBook[];
  /** Disturbances that happened. */
  disturbances: number;
  /** The error output of workers that ended although nobody killed them. */
  crashes: string[];
}

export interface ChaosOptions extends Partial<Pick<PlayOptions, 'progress' | 'runLimitMs'>> {
  /** Created if missing. Holds the database, the schedule and what the tools wrote. */
  folder: string;
  bundlePath: string;
  signal?: AbortSignal;
  log?: (line: string) => void;
}

export async function runChaos(schedule: ChaosSchedule, options: ChaosOptions): Promise<ChaosOutcome> {
  const { folder, bundlePath, signal = new AbortController().signal, log = () => undefined } = options;
  const { progress } = options;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'schedule.json'), `${JSON.stringify(schedule, undefined, 2)}\n`);
  const stage = await openStage({ folder, bundlePath, caches: schedule.caches, log });
  const { address } = stage;
  const client = await createClient({ address });
  const senders = await openSenders(address);
  let disturbances = 0;
  try {
    const played = await playSchedule(schedule, {
      client,
      senders: senders.all,
      stage,
      signal,
      ...(options.runLimitMs === undefined ? {} : { runLimitMs: options.runLimitMs }),
      progress: (state) => {
        ({ disturbances } = state);
        progress?.(state);
      },
    });
    signal.throwIfAborted();
    log('Reading the histories.');
    const books = await gatherBooks(client, schedule, played, folder);
    const nobody = await eventually('an empty inbox', async () => isEmpty(await client.approvals.list())).catch(
      (error: Error) => error,
    );
    log('Replaying the histories.');
    await stage.stopWorkers();
    const replay = await replayServer({ address, bundles: [{ codePath: bundlePath }] });
    for (const line of replayLines(replay)) log(line);
    return {
      books,
      disturbances,
      crashes: stage.crashes,
      violations: [
        ...replay.failed.map(unreplayed),
        ...books.flatMap(verifyBook),
        ...strangers(readRanLines(folder), books),
        ...(nobody instanceof Error ? [general('nothing stays listed as open', nobody.message)] : []),
      ],
    };
  } finally {
    await senders.close();
    await client.close();
    await stage.close();
  }
}

function isEmpty({ approvals, more }: { approvals: unknown[]; more: number }): boolean {
  return approvals.length + more === 0;
}

/** Every tool execution must belong to a known run. */
function strangers(lines: RanLine[], books: RunBook[]): Violation[] {
  const known = new Set(books.map(({ workflowId }) => workflowId));
  return lines
    .filter(({ workflowId }) => !known.has(workflowId))
    .map(({ workflowId, callId }) => general('nothing else runs (I1)', `${workflowId}/${callId} is of no run`));
}

function unreplayed({ workflowId, error, file }: FailedReplay): Violation {
  return { rule: 'every history replays (I12)', workflowId, run: '', what: `${error} (${file})` };
}

function general(rule: string, what: string): Violation {
  return { rule, what, workflowId: '', run: '' };
}

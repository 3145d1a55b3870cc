/** Plays a schedule: starts the runs, answers their requests and disturbs the stage meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CountersignClient } from '../../src/client/countersign-client.ts';
import { watchInbox } from './watch-inbox.ts';
import { callDirectory } from './call-directory.ts';
import { plainSender, type ChaosSchedule, type PlannedRun } from './schedule.ts';
import { plannedSends, sendsOfTurn } from './all-runs.ts';
import type { Told } from './play-turn.ts';
import { playTurn } from './play-turn.ts';
import { queryRuns } from './query-runs.ts';
import { isOver, startRun } from './run-calls.ts';
import type { RunUnderWay } from './run-under-way.ts';
import { runsUnderWay } from './run-under-way.ts';
import type { Sender } from './senders.ts';
import type { SentChange } from './sent-change.ts';
import type { SentControl } from './sent-control.ts';
import type { SentItem } from './sent-item.ts';
import type { Stage } from './stage.ts';

export interface Played {
  /** Workflow ids by run name; includes nested runs that never started. */
  workflowIds: Map<string, string>;
  sent: SentItem[];
  controls: SentControl[];
  changes: SentChange[];
  /** Names of runs that did not end in time. */
  stuck: string[];
}

export interface PlayOptions {
  /** Starts the runs and observes them. */
  client: CountersignClient;
  senders: readonly Sender[];
  stage: Stage;
  /** Ends the play early. */
  signal: AbortSignal;
  /** Called about once a second. */
  progress: (state: { ended: number; requests: number; sends: number; disturbances: number }) => void;
  /** The longest time that one run may take, in milliseconds. Default 600,000. */
  runLimitMs?: number;
}

export async function playSchedule(schedule: ChaosSchedule, options: PlayOptions): Promise<Played> {
  const { client, senders, stage, signal, progress, runLimitMs = 600_000 } = options;
  const played: Played = { workflowIds: new Map(), sent: [], controls: [], changes: [], stuck: [] };
  const state = { ended: 0, requests: 0, sends: 0, disturbances: 0 };
  const over = new AbortController();
  const untilOver = AbortSignal.any([signal, over.signal]);
  const underWay = new Map<string, RunUnderWay>();
  const directory = callDirectory(schedule.runs);
  const total = plannedSends(schedule);

  const watching = watchInbox(client, untilOver, (rows) => {
    for (const each of underWay.values()) each.listed.clear();
    const turns: (() => void)[] = [];
    for (const { requestId, workflowId, digest, deadline } of rows) {
      const place = directory.get(digest);
      const run = underWay.get(workflowId);
      if (place === undefined || run === undefined) continue;
      run.listed.add(requestId);
      if (run.requests.has(digest)) continue;
      run.requests.set(digest, { ...place, requestId, deadlineMs: Date.parse(deadline ?? '') });
      state.requests++;
      if (run.turnsSeen.has(place.turn)) continue;
      run.turnsSeen.add(place.turn);
      turns.push(() => run.acts.push(playTurn(senders, run, place.turn, told)));
    }
    // Start the turns only after the loop, when the deadlines of all their requests are known.
    for (const begin of turns) begin();
    for (const each of underWay.values()) each.looks++;
  });
  const querying = queryRuns(senders[plainSender]!, untilOver, () => underWay.keys());
  const told: Told = {
    sent: (items) => {
      played.sent.push(...items);
      state.sends++;
    },
    controlled: (control) => {
      if (control !== undefined) played.controls.push(control);
      state.sends++;
    },
    changed: (change) => played.changes.push(change),
  };

  const disturbing = (async () => {
    for (const disturbance of schedule.disturbances) {
      while (state.sends < disturbance.atShare * total && !untilOver.aborted) await sleep(50);
      if (untilOver.aborted) return;
      await stage.disturb(disturbance);
      state.disturbances++;
    }
  })();
  const telling = setInterval(() => progress(state), 1_000);

  async function playRun(plan: PlannedRun): Promise<void> {
    const { run, all, close } = runsUnderWay(plan, untilOver);
    for (const each of all) {
      played.workflowIds.set(each.plan.name, each.workflowId);
      underWay.set(each.workflowId, each);
    }
    await startRun(client, run);
    const limitMs = Date.now() + runLimitMs;
    for (const { workflowId, plan: watched } of all) {
      while (!untilOver.aborted && !(await isOver(client, workflowId))) {
        if (Date.now() > limitMs) {
          played.stuck.push(watched.name);
          break;
        }
        await sleep(500);
      }
    }
    close();
    for (const each of all) {
      await Promise.all(each.acts);
      underWay.delete(each.workflowId);
      // Count the messages of turns that never happened as sent; disturbances would wait for them otherwise.
      const unseen = each.plan.turns.filter((_turn, index) => !each.turnsSeen.has(index));
      state.sends += unseen.reduce((sum, turn) => sum + sendsOfTurn(turn), 0);
    }
    state.ended++;
  }

  const waiting = [...schedule.runs];
  const lanes = Array.from({ length: schedule.concurrency }, async () => {
    for (let plan = waiting.shift(); plan !== undefined && !untilOver.aborted; plan = waiting.shift()) {
      await playRun(plan);
    }
  });
  try {
    await Promise.all(lanes);
  } finally {
    over.abort();
    clearInterval(telling);
    await Promise.all([watching, querying, disturbing]);
    progress(state);
  }
  return played;
}

/** Plays a schedule: starts the runs, answers what they ask, and disturbs the stage meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { CountersignClient } from '../../src/client/client.ts';
import { watchInbox } from './watch-inbox.ts';
import { policyOf } from './approval-settings.ts';
import { callDirectory } from './call-directory.ts';
import type { ChaosSchedule, PlannedRun } from './schedule.ts';
import { plannedSends, sendsOfTurn } from './schedule.ts';
import type { Told } from './play-turn.ts';
import { playTurn } from './play-turn.ts';
import type { RunUnderWay } from './run-under-way.ts';
import { runUnderWay } from './run-under-way.ts';
import type { SentChange } from './sent-change.ts';
import type { SentControl } from './sent-control.ts';
import type { SentItem } from './sent-item.ts';
import type { Stage } from './stage.ts';

export interface Played {
  /** Workflow ids, by the names of the runs. */
  workflowIds: Map<string, string>;
  sent: SentItem[];
  controls: SentControl[];
  changes: SentChange[];
  /** Names of runs that were not over in time. */
  stuck: string[];
}

export interface PlayOptions {
  client: CountersignClient;
  stage: Stage;
  /** Ends the play early. */
  signal: AbortSignal;
  /** Told about once a second. */
  progress: (state: { ended: number; requests: number; sends: number; disturbances: number }) => void;
  /** How long one run may take, in milliseconds. */
  runLimitMs?: number;
}

export async function playSchedule(schedule: ChaosSchedule, options: PlayOptions): Promise<Played> {
  const { client, stage, signal, progress, runLimitMs = 240_000 } = options;
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
      turns.push(() => run.acts.push(playTurn(client, run, place.turn, told)));
    }
    // Only now are the deadlines of all of a turn's requests known.
    for (const begin of turns) begin();
    for (const each of underWay.values()) each.looks++;
  });
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
    const run = runUnderWay(plan, untilOver);
    played.workflowIds.set(plan.name, run.workflowId);
    underWay.set(run.workflowId, run);
    await startRun(client, run);
    const limitMs = Date.now() + runLimitMs;
    while (!untilOver.aborted && !(await isOver(client, run.workflowId))) {
      if (Date.now() > limitMs) {
        played.stuck.push(plan.name);
        break;
      }
      await sleep(500);
    }
    run.close();
    await Promise.all(run.acts);
    underWay.delete(run.workflowId);
    // What nobody could send, since its turn never came, is over too: the disturbances wait for none of it.
    state.sends += plan.turns.reduce((sum, each, turn) => sum + (run.turnsSeen.has(turn) ? 0 : sendsOfTurn(each)), 0);
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
    await Promise.all([watching, disturbing]);
    progress(state);
  }
  return played;
}

async function startRun({ session }: CountersignClient, { plan, workflowId, signal }: RunUnderWay): Promise<void> {
  const turns = plan.turns.map(({ calls }) => ({
    calls: calls.map(({ modelCallId: id, tool, text }) => ({ id, tool, args: { text } })),
  }));
  const input = {
    agent: 'chaos',
    input: JSON.stringify([...turns, { text: 'done' }]),
    policy: policyOf(plan),
  };
  while (!signal.aborted) {
    try {
      await session.connection.withDeadline(Date.now() + 5_000, () =>
        session.client.workflow.start('agentRun', { workflowId, taskQueue: 'countersign', args: [input] }),
      );
      return;
    } catch (error) {
      // The server took it, and died before it could say so.
      if (error instanceof WorkflowExecutionAlreadyStartedError) return;
      await sleep(250);
    }
  }
}

async function isOver({ session }: CountersignClient, workflowId: string): Promise<boolean> {
  try {
    const { status } = await session.connection.withDeadline(Date.now() + 5_000, () =>
      session.client.workflow.getHandle(workflowId).describe(),
    );
    return status.name !== 'RUNNING';
  } catch {
    return false;
  }
}

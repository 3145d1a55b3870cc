import { randomUUID } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { expect, test } from 'vitest';
import { sentences } from '../../../src/core/ledger/sentences.ts';
import { attributesOf, tasksOf, type HistoryEvent, type WorkflowTask } from './history-tasks.ts';
import { installQuietRuntime } from '../../support/quiet-runtime.ts';
import { eventTypeOf, idOf, onScriptedWorker, updateBefore } from './replay-tails.ts';
import type { PolledTask, ScriptedServer } from './scripted-server.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { sharedBundle } from '../bundles/shared-bundle.ts';
import { runs } from '../../support/thorough.ts';

/**
 * The task of an update that is refused is withdrawn, and the next events get the ids of its two events. A query may
 * hand a worker these two events. The worker must not skip the next events, which have the same ids (decision 58).
 */

installQuietRuntime({ errors: false });

/** A run that is idle after a task, and the task that comes next. */
interface Place {
  name: string;
  events: readonly HistoryEvent[];
  kept: WorkflowTask;
  /** The last event that the task left. */
  last: HistoryEvent;
  next: WorkflowTask;
}

const folder = new URL('../../histories/', import.meta.url);

function placesOf(file: string): Place[] {
  const { events } = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as { events: HistoryEvent[] };
  const { tasks } = tasksOf(events);
  return tasks.flatMap((kept, index) => {
    const next = tasks[index + 1];
    const last = kept.commands.at(-1) ?? kept.completed;
    // The worker is handed an update beside the history, not in it.
    const hasUpdate = next?.commands.some(({ eventType }) => eventType.includes('_UPDATE_')) ?? true;
    // After a task that left nothing, the SDK takes the next one for its continuation (docs/decisions/0058).
    if (next === undefined || hasUpdate || next.before.length === 0 || kept.commands.length === 0) return [];
    return [{ name: `${file}: after task ${kept.started.eventId}`, events, kept, last, next }];
  });
}

const random = seededRandom(1);
/** With `COUNTERSIGN_TEST_THOROUGH=20` all places. */
const places = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .flatMap(placesOf)
  .filter(() => random.chance(runs(50) / 1_000));

const [scheduled, started, completed] = ['SCHEDULED', 'STARTED', 'COMPLETED'].map((name) => `WORKFLOW_TASK_${name}`);

/** Tasks start this far in the future, so that a busy worker, too, gets them within five seconds of their start. */
const soonMs = 4_000;

/** Events after `last`, one for each type, all of one moment. */
function after({ last }: Place, types: readonly string[], inMs = soonMs): HistoryEvent[] {
  const eventTime = new Date(Date.now() + inMs).toISOString();
  const first = Number(last.eventId) + 1;
  let scheduledEventId = '';
  let startedEventId = '';
  return types.map((type, index) => {
    const eventId = `${first + index}`;
    if (type === scheduled) scheduledEventId = eventId;
    if (type === started) startedEventId = eventId;
    const name = `${type.toLowerCase().replaceAll(/_[a-z]/g, (each) => each[1]!.toUpperCase())}EventAttributes`;
    const attributes = { scheduledEventId, ...(type === completed && { startedEventId }) };
    return { eventId, eventTime, eventType: `EVENT_TYPE_${type}`, [name]: attributes };
  });
}

class Run {
  readonly #server: ScriptedServer;
  readonly #place: Place;
  readonly #runId = randomUUID();

  constructor(server: ScriptedServer, place: Place) {
    this.#server = server;
    this.#place = place;
  }

  /** Hands over the history up to an event, and further ones. */
  #task(upTo: HistoryEvent, previous: HistoryEvent | undefined, more: readonly HistoryEvent[] = []): PolledTask {
    const { events } = this.#place;
    const { workflowType, workflowId } = attributesOf(events[0]!) as { workflowType: object; workflowId: string };
    const given = events.filter(({ eventId }) => Number(eventId) <= Number(upTo.eventId));
    return {
      workflowType,
      workflowExecution: { workflowId, runId: this.#runId },
      previousStartedEventId: idOf(previous?.eventId ?? '0'),
      attempt: 1,
      history: historyFromJSON({ events: [...given, ...more] }),
    };
  }

  /** Sends a query with the history and further events. Returns why it was refused; undefined if it was answered. */
  async query(types: readonly string[], inMs?: number): Promise<string | undefined> {
    const { kept, last } = this.#place;
    const query = { queryType: '__temporal_workflow_metadata' };
    const task = this.#task(last, kept.started, after(this.#place, types, inMs));
    return (await this.#server.give({ ...task, query })).failure;
  }

  /** A task that brings an update which no run accepts, and that the server withdraws. */
  async refuseUpdate(): Promise<void> {
    const { kept, last } = this.#place;
    const events = after(this.#place, [scheduled!, started!]);
    const { eventId } = events[1]!;
    const task = { ...this.#task(last, kept.started, events), startedEventId: idOf(eventId) };
    const messages = [updateBefore(eventId, 'nobody-takes-this')];
    await this.#server.give({ ...task, messages }, { withdrawnTo: kept.started.eventId });
  }

  /** Hands over the next task. Returns the event types of its commands, or why the task failed. */
  async goOn(): Promise<string> {
    const { kept, next } = this.#place;
    const task = { ...this.#task(next.started, kept.started), startedEventId: idOf(next.started.eventId) };
    const { failure, commands } = await this.#server.give(task);
    return failure ?? commands.map(({ commandType }) => eventTypeOf(commandType ?? 0)).join(', ');
  }
}

interface Played {
  name: string;
  refusal: string | undefined;
  made: string;
}

async function play(before: (run: Run) => Promise<string | undefined>): Promise<Played[]> {
  return onScriptedWorker(await sharedBundle('recorded-workflows.ts'), places, async (server, place) => {
    const run = new Run(server, place);
    const refusal = await before(run);
    return { name: place.name, refusal, made: await run.goOn() };
  });
}
const recorded = new Map(
  places.map(({ name, next }) => [
    name,
    next.commands.map(({ eventType }) => eventType.replace('EVENT_TYPE_', '')).join(', '),
  ]),
);
const wrong = (played: Played[]) => played.filter(({ name, made }) => made !== recorded.get(name));
const unlike = (played: Played[], refusal: string | undefined) => played.filter((each) => each.refusal !== refusal);

test('there are places', () => expect(places.length).toBeGreaterThan(30));

test('a run that is loaded for a query is dropped if its history ends with such a task', async () => {
  const played = await play((run) => run.query([scheduled!, started!]));
  expect([wrong(played), unlike(played, sentences.notTakenYet)]).toEqual([[], []]);
});

test.each([
  ['scheduled', [scheduled!]],
  ['started', [scheduled!, started!]],
])('so is a run that refused the update itself, if the query comes after it and saw it %s', async (_, types) => {
  const played = await play(async (run) => {
    await run.refuseUpdate();
    return run.query(types);
  });
  expect([wrong(played), unlike(played, sentences.notTakenYet)]).toEqual([[], []]);
});

test.each<[string, (run: Run) => Promise<string | undefined>]>([
  ['history ends as the last task left it', (run) => run.query([])],
  ['such a task started long ago', (run) => run.query([scheduled!, started!, completed!], -6_000)],
  [
    'it was an attempt that nobody took in time, and another one came',
    (run) => run.query([scheduled!, 'WORKFLOW_TASK_TIMED_OUT', scheduled!, started!, completed!]),
  ],
  [
    'the run has refused an update',
    async (run) => {
      await run.refuseUpdate();
      return run.query([]);
    },
  ],
])('a query is answered if %s', async (_, before) => {
  const played = await play(before);
  expect(unlike(played, undefined)).toEqual([]);
});

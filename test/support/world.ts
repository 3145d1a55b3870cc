import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import type { QueryDefinition } from '@temporalio/common';
import type { Agent } from '../../src/agents/definitions.ts';
import type { CountersignClient } from '../../src/client/countersign-client.ts';
import { isNotTakenUp, isNotTakenYet } from '../../src/client/server/client-plugin.ts';
import { createClient } from '../../src/client/client.ts';
import type { TimeLimits } from '../../src/client/server/time-limits.ts';
import { grpcStatus, grpcStatusOf } from '../../src/connection/server-error.ts';
import type { ApprovalRequest, Message, RunInput, RunResult, RunStatus } from '../../src/contract.ts';
import { isProblemError } from '../../src/core/base/problem.ts';
import type { ScriptedTurn } from '../../src/models/scripted.ts';
import { type CountersignWorker, type WorkerOptions, createWorker } from '../../src/worker.ts';
import { eventually } from './eventually.ts';
import { sharedAddress } from './shared-server.ts';
import { ranLines, testAgent } from './test-agent.ts';

export type Turns = ScriptedTurn[];
/** The calls of one turn. */
export type Calls = NonNullable<ScriptedTurn['calls']>;

/** A worker on its own task queue, and helpers for runs on it. */
export interface World {
  client: CountersignClient;
  folder: string;
  taskQueue: string;
  start(turns: Turns, input?: Partial<RunInput>): Promise<RunInTest>;
  /** A run started by something else, such as a nested one. */
  run(workflowId: string): RunInTest;
  /** Stops the worker and waits until it is gone. */
  stopWorker(): Promise<void>;
  startWorker(options?: Partial<WorkerOptions>): Promise<void>;
  /** One line for each tool execution. */
  ran(): string[];
  close(): Promise<void>;
}

export interface RunInTest {
  handle: WorkflowHandle;
  workflowId: string;
  /** Waits until at least `count` requests are open and returns them. */
  open(count?: number): Promise<ApprovalRequest[]>;
  status(): Promise<RunStatus>;
  /** One line for each message of the transcript, without the first one, the script. */
  transcript(): Promise<string[]>;
  /** Waits until the session awaits its user; with `turn`, after so many turns. */
  awaitsUser(turn?: number): Promise<unknown>;
  result(): Promise<RunResult>;
}

export interface WorldOptions extends Partial<WorkerOptions> {
  agentPolicy?: object;
  /** Default: only `testAgent`. */
  agentsIn?: (folder: string) => Agent[];
  /** More options of each worker, which depend on the folder. */
  workerIn?: (folder: string) => Partial<WorkerOptions>;
  /** Default: the shared server of the durable tests. */
  address?: string;
  /** False: the test starts its own workers. */
  worker?: boolean;
}

export async function openWorld({
  agentPolicy,
  agentsIn = (folder) => [testAgent(folder, agentPolicy)],
  workerIn = () => ({}),
  address = sharedAddress(),
  worker = true,
  ...options
}: WorldOptions = {}): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'));
  const taskQueue = `test-${randomUUID()}`;
  const { namespace, attributes } = options;
  const client = await createClient({
    address,
    taskQueue,
    ...(namespace === undefined ? {} : { namespace }),
    ...(attributes === undefined ? {} : { attributes }),
  });
  // A session reads its limits at each call.
  const limits: { -readonly [Name in keyof TimeLimits]: number } = client.session.limits;
  const usual = { ...limits };
  Object.assign(limits, patient);
  let running: { worker: CountersignWorker; done: Promise<void> } | undefined;
  const world: World = {
    client,
    folder,
    taskQueue,
    start: async (turns, input = {}) => {
      const workflowId = `run-${randomUUID()}`;
      const args: [RunInput] = [{ agent: 'tester', input: JSON.stringify(turns), ...input }];
      const handle = await client.session.client.workflow.start('agentRun', { workflowId, taskQueue, args });
      return runInTest(client, workflowId, handle);
    },
    run: (workflowId) => runInTest(client, workflowId, client.session.client.workflow.getHandle(workflowId)),
    startWorker: async (more = {}) => {
      const created = await createWorker({
        address,
        taskQueue,
        agents: agentsIn(folder),
        workflowBundle: { codePath: testBundle() },
        shutdownGraceTime: 500,
        logLevel: 'ERROR',
        ...testCache(),
        ...workerIn(folder),
        ...options,
        ...more,
      });
      running = { worker: created, done: created.run() };
      Object.assign(limits, patient);
    },
    stopWorker: async () => {
      running?.worker.shutdown();
      await running?.done.catch(unlessCoreStays);
      running = undefined;
      // Nothing answers now, and many tests are about that.
      Object.assign(limits, usual);
    },
    ran: () => ranLines(folder),
    close: async () => {
      await world.stopWorker();
      await client.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  if (worker) await world.startWorker();
  return world;
}

/** A worker answers, however busy the machine is: no test depends on how soon. */
const patient = { receiptTimeoutMs: 60_000, queryTimeoutMs: 60_000, glanceTimeoutMs: 60_000 };

/** Now and then the SDK's core does not end a worker that has nothing to do (docs/decisions/0075). No test is about that. */
function unlessCoreStays(error: unknown): void {
  if (!isProblemError(error) || !error.message.startsWith('The worker has ended without')) throw error;
  process.stderr.write(`${error.message}\n`);
}

/** The worker's cache size: with `COUNTERSIGN_TEST_CACHE=0`, each step replays. */
export function testCache(): { maxCachedWorkflows?: number } {
  const cached = process.env.COUNTERSIGN_TEST_CACHE;
  return cached === undefined ? {} : { maxCachedWorkflows: Number(cached) };
}

/** The workflow bundle that the global setup made for all tests. */
export function testBundle(): string {
  const path = process.env.COUNTERSIGN_TEST_BUNDLE;
  if (path === undefined) throw new Error('the workflow bundle is made only for tests in the durable folders');
  return path;
}

function runInTest(client: CountersignClient, workflowId: string, impatient: WorkflowHandle): RunInTest {
  const query = <Answer, Args extends unknown[]>(name: string | QueryDefinition<Answer, Args>, ...args: Args) =>
    asked(() => impatient.query(name, ...args));
  const handle: WorkflowHandle = { ...impatient, query };
  return {
    handle,
    workflowId,
    open: (count = 1) =>
      eventually(`${count} open requests of ${workflowId}`, async () => {
        // A query may include the effect of an unfinished task that is run again later. Read the index first: its
        // content is final.
        const { searchAttributes, status } = await handle.describe();
        const kept = searchAttributes['ApprovalIds'] ?? [];
        if (kept.length < count && status.name !== 'RUNNING') throw new Error(await endOf(workflowId, handle));
        if (kept.length < count) return false;
        const open = await handle.query<ApprovalRequest[]>('approvals');
        return open.length >= count && open.every(({ requestId }) => kept.some((each) => each === requestId)) && open;
      }),
    status: () => handle.query<RunStatus>('run'),
    transcript: async () => {
      const messages = await handle.query<Message[]>('transcript');
      return messages.slice(1).map(({ role, content }) => `${role}: ${content}`);
    },
    awaitsUser: (turn) =>
      eventually(`${workflowId} awaits its user after turn ${turn}`, async () => {
        const status = await handle.query<RunStatus>('run');
        return status.awaitsMessage === true && (turn === undefined || status.turn === turn);
      }),
    result: () => client.run(workflowId).result(),
  };
}

/** How a run ended that ought to be open. */
async function endOf(workflowId: string, handle: WorkflowHandle): Promise<string> {
  const { status } = await handle.describe();
  const end = await handle.result().then(
    (result) => JSON.stringify(result),
    (error: Error) => `${error.message}: ${String(error.cause)}`,
  );
  return `${workflowId} is ${status.name} before that: ${end.slice(0, 1_000)}`;
}

/**
 * Repeats a query that no worker has answered in time, because the server gives up after ten seconds, and one of a run
 * with events that no workflow task has taken, or that does not know its past yet, as the client does for three seconds.
 */
async function asked<Answer>(query: () => Promise<Answer>): Promise<Answer> {
  return eventually('the answer to a query', () =>
    query().catch((error: unknown) => {
      const isUnanswered = grpcStatusOf(error) === grpcStatus.DEADLINE_EXCEEDED;
      if (isUnanswered || isNotTakenYet(error) || isNotTakenUp(error)) return undefined;
      throw error;
    }),
  );
}

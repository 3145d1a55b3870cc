import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { type RunnerTestCase, TestRunner } from 'vitest';
import { waitsNow } from './eventually.ts';

/** What a test file cost, in seconds. */
export interface Cost {
  wall: number;
  /** Processor time of the process that ran it, workers inside included. */
  own: number;
  /** Processor time of its child processes, with theirs. Linux only. */
  children: number;
  /** How long it was idle, and for what. */
  waited: Waited;
}

export type Waited = Record<WaitsFor, number>;
type WaitsFor = 'browser' | 'processes' | 'timers' | 'server';

type HookOf<Name extends 'onCollectStart' | 'onAfterRunSuite'> = Parameters<TestRunner[Name]>[0];

/**
 * Runs test files as Vitest does, and leaves in `meta.cost` of each what it cost. A test that runs out of time says what it
 * waited for. Each file begins with the environment variables of the first: files of one process share them.
 */
export default class MeasuredRunner extends TestRunner {
  readonly #meters = new Map<string, () => Cost>();

  override onCollectStart(file: HookOf<'onCollectStart'>): void {
    this.#meters.set(file.filepath, startMeter());
    super.onCollectStart(file);
  }

  override async onAfterRunSuite(suite: HookOf<'onAfterRunSuite'>): Promise<void> {
    await super.onAfterRunSuite(suite);
    if (!('filepath' in suite)) return;
    restoreEnvironment();
    const cost = this.#meters.get(suite.filepath as string)?.();
    this.#meters.delete(suite.filepath as string);
    if (cost !== undefined) Object.assign(suite.meta, { cost });
  }

  onTaskFinished({ result }: RunnerTestCase): void {
    for (const error of result?.errors ?? []) {
      if (!error.message.includes(' timed out in ')) continue;
      const waits = waitsNow();
      error.message += `\nIt waited for ${waits.length === 0 ? 'no condition' : waits.join(', ')}.`;
    }
  }
}

/** Of this process, before its first test file. */
const environment = { ...process.env };

function restoreEnvironment(): void {
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(environment, name)) delete process.env[name];
  Object.assign(process.env, environment);
}

const sampleMs = 100;
/** A sample in which the file's own code ran for less than this share counts as waiting. */
const idleBelow = 0.5;
const ticksPerSecond = 100;
/** A dev server of the file's own, and the shell that ends it. */
const serverNames = new Set(['temporal', 'sh']);

function startMeter(): () => Cost {
  const ownAtStart = process.cpuUsage();
  const childrenAtStart = secondsBelow(process.pid);
  const startedAt = performance.now();
  const waited: Waited = { browser: 0, processes: 0, timers: 0, server: 0 };
  const waitsFor = createWaitsFor();
  let last = performance.eventLoopUtilization();
  let lastAt = startedAt;
  const timer = setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(last);
    const now = performance.now();
    if (utilization < idleBelow) waited[waitsFor()] += (now - lastAt) / 1_000;
    last = performance.eventLoopUtilization();
    lastAt = now;
  }, sampleMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    const { user, system } = process.cpuUsage(ownAtStart);
    return {
      wall: (performance.now() - startedAt) / 1_000,
      own: (user + system) / 1_000_000,
      children: secondsBelow(process.pid) - childrenAtStart,
      waited,
    };
  };
}

/**
 * What an idle test file waits for, as far as that can be seen from outside. Files share a browser: it counts while it
 * works.
 */
function createWaitsFor(): () => WaitsFor {
  let browserSeconds = 0;
  return () => {
    const children = childrenOf(process.pid).map((id) => ({ id, name: readOnLinux(`/proc/${id}/comm`).trim() }));
    const [browsers, others] = [true, false].map((wanted) =>
      children.filter(({ name }) => name.startsWith('chrom') === wanted),
    ) as [typeof children, typeof children];
    const seconds = browsers.reduce((so, { id }) => so + secondsOf(id, [11, 12]), 0);
    const isBrowserAtWork = seconds > browserSeconds;
    browserSeconds = seconds;
    if (isBrowserAtWork) return 'browser';
    if (others.some(({ name }) => name !== '' && !serverNames.has(name))) return 'processes';
    return process.getActiveResourcesInfo().includes('Timeout') ? 'timers' : 'server';
  };
}

function childrenOf(id: number): number[] {
  return readOnLinux(`/proc/${id}/task/${id}/children`).split(' ').filter(Boolean).map(Number);
}

/** Processor seconds of all processes that this one has started and those have started, whether they run or have ended. */
function secondsBelow(id: number): number {
  const running = childrenOf(id).map((child) => secondsOf(child, [11, 12]) + secondsBelow(child));
  return running.reduce((so, seconds) => so + seconds, secondsOf(id, [13, 14]));
}

function secondsOf(id: number, columns: readonly number[]): number {
  // The name in the second field may hold spaces and brackets.
  const fields = readOnLinux(`/proc/${id}/stat`).split(') ').at(-1)!.split(' ');
  return columns.reduce((so, column) => so + Number(fields[column] ?? 0), 0) / ticksPerSecond;
}

function readOnLinux(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

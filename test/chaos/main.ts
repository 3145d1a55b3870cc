/**
 * `npm run chaos -- --runs N --seed S [--at-once N] [--json] [--schedule]`: runs many agents with many approval
 * requests, kills workers and the server meanwhile, then verifies the record of every run and replays every history.
 * Progress goes to standard error, the summary to standard output; the exit code is 1 if anything is wrong.
 * `--schedule` prints the plan and does nothing else.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundleWorkflows } from '../../src/worker.ts';
import { runChaos } from './chaos.ts';
import { makeSchedule } from './make-schedule.ts';
import { allRuns, askedCalls } from './all-runs.ts';
import { summaryOf } from './summary.ts';

const shownViolations = 20;

const options = {
  runs: { type: 'string', default: '200' },
  seed: { type: 'string', default: '1' },
  'at-once': { type: 'string', default: '30' },
  json: { type: 'boolean', default: false },
  schedule: { type: 'boolean', default: false },
} as const;

const { values } = parseArgs({ options });
const runs = whole('--runs', values.runs, 1);
const seed = whole('--seed', values.seed, 0);
const concurrency = whole('--at-once', values['at-once'], 1);
const schedule = makeSchedule({ runs, seed, concurrency });
const again = `To play the same schedule again: npm run chaos -- --runs ${runs} --seed ${seed} --at-once ${concurrency}`;
if (values.schedule) process.stdout.write(`${JSON.stringify(schedule, undefined, 2)}\n`);
else process.exitCode = await play();

async function play(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-chaos-'));
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  const nested = allRuns(schedule.runs).length - runs;
  const planned = `${runs} runs, ${nested} nested ones, ${askedCalls(schedule)} requests`;
  log(`Seed ${seed}: ${planned}, ${schedule.disturbances.length} disturbances, ${schedule.concurrency} at a time.`);
  const bundlePath = join(folder, 'workflows.js');
  writeFileSync(bundlePath, (await bundleWorkflows()).code);
  try {
    const startedAt = performance.now();
    const outcome = await runChaos(schedule, {
      folder,
      bundlePath,
      log,
      signal: interrupted.signal,
      progress: ({ ended, requests, sends, disturbances }) =>
        log(`${ended}/${runs} runs over, ${requests} requests, ${sends} answers, ${disturbances} disturbances`),
    });
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    const summary = { seed, seconds, ...summaryOf(outcome) };
    const { violations } = outcome;
    process.stdout.write(`${JSON.stringify(values.json ? { ...summary, violations } : summary, undefined, 2)}\n`);
    for (const { rule, run, workflowId, what } of violations.slice(0, shownViolations)) {
      log(`${run} (${workflowId}): ${rule}: ${what}`);
    }
    if (violations.length === 0) {
      rmSync(folder, { recursive: true, force: true });
      return 0;
    }
    if (violations.length > shownViolations) log(`… and ${violations.length - shownViolations} more: see --json`);
    log(again);
    log(`The histories and what ran are in ${folder}: temporal server start-dev --db-filename ${folder}/temporal.db`);
    return 1;
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    log(`Interrupted. ${again}`);
    rmSync(folder, { recursive: true, force: true });
    return 1;
  }
}

function whole(name: string, text: string, least: number): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  process.stderr.write(`${name} must be a whole number of at least ${least}, not '${text}'.\n`);
  process.exit(2);
}

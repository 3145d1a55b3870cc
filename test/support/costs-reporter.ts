import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import type { Cost } from './measured-runner.ts';

const shown = 30;

/**
 * Prints what the costliest test files of a run cost; with `COUNTERSIGN_TEST_COSTS=all` every file. Each row has the
 * wall time, the processor time of the file's own process and of its children, and how long the file waited for what.
 */
export default class CostsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const all = process.env.COUNTERSIGN_TEST_COSTS === 'all';
    const rows = modules.flatMap((module) => {
      const { cost } = module.meta() as { cost?: Cost };
      return cost === undefined ? [] : [{ file: relative('.', module.moduleId), ...cost }];
    });
    if (!all && rows.length <= shown) return;
    rows.sort((one, other) => total(other) - total(one));
    const sum = (name: 'wall' | 'own' | 'children'): string => seconds(rows.reduce((so, row) => so + row[name], 0));
    const lines = [
      `${rows.length} test files: ${sum('wall')} s of wall time; processor time ${sum('own')} s of their own, ` +
        `${sum('children')} s of their children, ${seconds(serverSeconds())} s of the server.`,
      `${all ? 'All' : `The ${shown} costliest`}, in seconds:`,
      '    wall     own children  file, and what it waited for',
      ...rows.slice(0, all ? rows.length : shown).map(lineOf),
    ];
    process.stderr.write(`${lines.join('\n')}\n`);
  }
}

function total({ wall, own, children }: Cost): number {
  return wall + own + children;
}

function lineOf({ file, wall, own, children, waited }: Cost & { file: string }): string {
  const waits = Object.entries(waited).filter(([, time]) => time >= 0.5);
  const cells = [seconds(wall).padStart(8), seconds(own).padStart(7), seconds(children).padStart(8)];
  return `${cells.join(' ')}  ${[file, ...waits.map(([what, time]) => `${what} ${seconds(time)}`)].join(', ')}`;
}

function seconds(number: number): string {
  return number.toFixed(1);
}

/** Processor seconds of the Temporal server that this process started; 0 where /proc is missing. */
function serverSeconds(): number {
  return (existsSync('/proc') ? readdirSync('/proc') : [])
    .filter((name) => /^\d+$/u.test(name))
    .map((id) => /^\d+ \(temporal\) (.*)/u.exec(statOf(id))?.[1]?.split(' '))
    .filter((fields) => fields !== undefined && Number(fields[1]) === process.pid)
    .reduce((so, fields) => so + (Number(fields![11]) + Number(fields![12])) / 100, 0);
}

/** Empty if the process has ended. */
function statOf(id: string): string {
  try {
    return readFileSync(`/proc/${id}/stat`, 'utf8');
  } catch {
    return '';
  }
}

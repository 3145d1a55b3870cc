import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { relative } from 'node:path';
import type { TestModule } from 'vitest/node';
import type { Cost } from './measured-runner.ts';
import { found, tiers } from './tiers.ts';

const shown = 30;

/**
 * What the costliest test files of a run cost; with `COUNTERSIGN_TEST_COSTS=all` each tier and every file. Each row has the
 * wall time, the processor time of the file's own process and of its children, and how long the file waited for what.
 * Empty for a run of few files.
 */
export function costLines(modules: readonly TestModule[]): string[] {
  const all = process.env.COUNTERSIGN_TEST_COSTS === 'all';
  const rows = modules.flatMap((module): Row[] => {
    const { cost } = module.meta() as { cost?: Cost };
    const tests = [...module.children.allTests()].length;
    return cost === undefined ? [] : [{ file: relative('.', module.moduleId), tests, ...cost }];
  });
  if (!all && rows.length <= shown) return [];
  rows.sort((one, other) => total(other) - total(one));
  return [
    `${rows.length} test files: ${sumOf(rows, 'wall')} s of wall time; processor time ${sumOf(rows, 'own')} s of their own, ` +
      `${sumOf(rows, 'children')} s of their children, ${seconds(serverSeconds())} s of the server.`,
    ...(all ? tierLines(rows) : []),
    `${all ? 'All' : `The ${shown} costliest`}, in seconds:`,
    '    wall     own children  file, and what it waited for',
    ...rows.slice(0, all ? rows.length : shown).map(lineOf),
  ];
}

type Row = Cost & { file: string; tests: number };

function tierLines(rows: readonly Row[]): string[] {
  const tierOf = new Map(Object.entries(tiers).flatMap(([tier, files]) => found(files).map((file) => [file, tier])));
  const groups = Map.groupBy(rows, ({ file }) => tierOf.get(file) ?? 'gate');
  return [
    '   files   tests     own children  tier',
    ...[...groups].map(([tier, of]) => {
      const tests = of.reduce((so, row) => so + row.tests, 0);
      const cells = [of.length, tests, sumOf(of, 'own'), sumOf(of, 'children')];
      return `${cells.map((cell) => String(cell).padStart(8)).join('')}  ${tier}`;
    }),
  ];
}

function sumOf(rows: readonly Row[], name: 'wall' | 'own' | 'children'): string {
  return seconds(rows.reduce((so, row) => so + row[name], 0));
}

function total({ wall, own, children }: Cost): number {
  return wall + own + children;
}

function lineOf({ file, wall, own, children, waited }: Row): string {
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

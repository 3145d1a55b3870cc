import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { repository } from './ruling-files.ts';

/** One small change to one file, as Stryker would make it. */
export interface Mutant {
  /** Path from the root of the repository. */
  file: string;
  /** Both start at 1. */
  line: number;
  column: number;
  /** The line without indentation. */
  code: string;
  /** Stryker's name for the kind of change. */
  kind: string;
  original: string;
  replacement: string;
  /** The position of `original` in the file, in UTF-16 units. */
  from: number;
  to: number;
}

/**
 * The part of Stryker's instrumenter that is used. The package is installed only in this folder, so its types are
 * written out here.
 */
interface Instrumenter {
  instrument(
    files: { name: string; mutate: true; content: string }[],
    options: { plugins: null; excludedMutations: string[]; ignorers: never[] },
  ): Promise<{ mutants: { location: Record<'start' | 'end', Place>; mutatorName: string; replacement: string }[] }>;
}
/** Both start at 0. */
interface Place {
  line: number;
  column: number;
}

/** Every mutant of a file, ordered by position. */
export async function mutantsOf(path: string): Promise<Mutant[]> {
  const name: string = '@stryker-mutator/instrumenter';
  const { Instrumenter } = (await import(name)) as { Instrumenter: new (logger: object) => Instrumenter };
  const silent = { debug() {}, info() {}, isDebugEnabled: () => false };
  const content = readFileSync(path, 'utf8');
  const options = { plugins: null, excludedMutations: [], ignorers: [] };
  const { mutants } = await new Instrumenter(silent).instrument([{ name: path, mutate: true, content }], options);
  const lines = content.split('\n');
  const starts = [0, ...[...content.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const offset = ({ line, column }: Place): number => starts[line]! + column;
  return mutants
    .map(({ location: { start, end }, mutatorName, replacement }) => ({
      file: relative(repository, path),
      line: start.line + 1,
      column: start.column + 1,
      code: lines[start.line]!.trim(),
      kind: mutatorName,
      original: content.slice(offset(start), offset(end)),
      replacement,
      from: offset(start),
      to: offset(end),
    }))
    .toSorted((one, other) => one.from - other.from || one.to - other.to);
}

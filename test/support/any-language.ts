import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findPythonSdk } from './python-sdk.ts';
import { blocksOf, shellLinesOf } from './readme.ts';

/** The steps of docs/any-language.md in each of its languages, as a reader takes them. */

const page = 'docs/any-language.md';
const root = join(import.meta.dirname, '..', '..');

/** Runs a command line in a shell and resolves to what it prints. Rejects if it fails. */
type Output = (command: string, env?: NodeJS.ProcessEnv) => Promise<string>;

export interface Steps {
  start(run: string): Promise<string>;
  /** What it prints has a line `RUN … REQUEST …` for each open request. */
  list(): Promise<string>;
  answer(step: 'approve' | 'deny', run: string, requestId: string): Promise<string>;
}

export interface Language {
  name: string;
  /** Why its program cannot run here; undefined if it can. */
  missing: string | undefined;
  /** Makes the program in `folder`. */
  prepare: (folder: string, output: Output) => Promise<Steps>;
}

const python = findPythonSdk();
const go = process.env.COUNTERSIGN_TEST_GO;

export const languages: Language[] = [
  {
    name: 'TypeScript',
    missing: undefined,
    prepare: async (folder, output) => {
      symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
      return program(`${process.execPath} ${written('ts', join(folder, 'runs.mts'))}`, output);
    },
  },
  {
    name: 'Python',
    missing: python === undefined ? 'COUNTERSIGN_TEST_PYTHON, or python3 with temporalio' : undefined,
    prepare: async (folder, output) => program(`${python} ${copied('runs.py', join(folder, 'runs.py'))}`, output),
  },
  {
    name: 'Go',
    missing: go === undefined ? 'COUNTERSIGN_TEST_GO' : undefined,
    prepare: async (folder, output) => {
      // The versions from which the Temporal CLI is built: their modules may be here, and compiled.
      const versions = join(root, 'tools', 'temporal');
      for (const file of ['go.mod', 'go.sum']) copyFileSync(join(versions, file), join(folder, file));
      const built = join(folder, 'runs');
      const source = copied('main.go', join(folder, 'main.go'));
      await output(`cd ${folder} && GOWORK=off ${go} build -buildvcs=false -o ${built} ${source}`);
      return program(built, output);
    },
  },
  { name: 'the temporal command', missing: undefined, prepare: async (_folder, output) => byTemporal(output) },
];

/** Writes the page's program in a language into a file, and returns its path. */
function written(language: string, path: string): string {
  writeFileSync(path, blocksOf(page, language).join(''));
  return path;
}

/** Copies the program of the examples to which the page links, and returns its path. */
function copied(name: string, path: string): string {
  const file = `examples/any-language/${name}`;
  if (!readFileSync(join(root, page), 'utf8').includes(`(../${file})`))
    throw new Error(`${page} has no link to ${file}`);
  copyFileSync(join(root, file), path);
  return path;
}

function program(command: string, output: Output): Steps {
  return {
    start: (run) => output(`${command} start ${run}`),
    list: () => output(`${command} list`),
    answer: (step, run, requestId) => output(`${command} ${step} ${run} ${requestId}`),
  };
}

function byTemporal(output: Output): Steps {
  const [start = '', list = '', query = '', approve = '', deny = ''] = shellLinesOf(page);
  return {
    start: (RUN) => output(start, { RUN }),
    list: async () => {
      const [, ...rows] = (await output(list)).trim().split('\n');
      const requests = rows.map(async (row) => {
        const [, RUN = ''] = row.trim().split(/\s+/);
        return `${RUN} ${(await output(query, { RUN })).replaceAll('\n', ' ')}`;
      });
      return (await Promise.all(requests)).join('\n');
    },
    answer: (step, RUN, ID) => output(step === 'approve' ? approve : deny, { RUN, ID }),
  };
}

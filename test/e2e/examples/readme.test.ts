import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, copyFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunResult } from '../../../src/contract.ts';
import { parsePolicy } from '../../../src/policy-file/parse-policy.ts';
import { freePort } from '../../../packages/cli/src/dev-server/free-port.ts';
import { eventually } from '../../support/eventually.ts';
import { blocksOf, shellLinesOf, ShellCommand } from './readme.ts';
import { startOn } from '../../support/start-on.ts';
import { findPythonSdk } from './python-sdk.ts';

/** The steps of docs/any-language.md in each of its languages, as a reader takes them. */

const page = 'docs/any-language.md';
const root = join(import.meta.dirname, '..', '..', '..');

/** Runs a command line in a shell and resolves to what it prints. Rejects if it fails. */
type Output = (command: string, env?: NodeJS.ProcessEnv) => Promise<string>;

interface Steps {
  start(run: string): Promise<string>;
  /** What it prints has a line `RUN … REQUEST …` for each open request. */
  list(): Promise<string>;
  answer(step: 'approve' | 'deny', run: string, requestId: string): Promise<string>;
}

interface Language {
  name: string;
  /** Why its program cannot run here; undefined if it can. */
  missing: string | undefined;
  /** Makes the program in `folder`. */
  prepare: (folder: string, output: Output) => Promise<Steps>;
}

const python = findPythonSdk();
const go = process.env.COUNTERSIGN_TEST_GO;

const languages: Language[] = [
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

/**
 * Runs every command of the first pages as written, and the programs of docs/any-language.md. Only the server's ports
 * are added, with the flags that the README names; everything else comes from the environment.
 */

const commands = ['README.md', 'docs/install.md', 'docs/cli.md', 'docs/any-language.md'].flatMap(shellLinesOf);
/** Run by demo.test.ts with its own model server, by outside-project.test.ts, and by readers. */
const runElsewhere = [
  'npm install && npm run demo',
  'npm install && npm test',
  'OPENAI_BASE_URL=http://127.0.0.1:11434/v1 COUNTERSIGN_MODEL=llama3.3 npm run demo',
  'npm install && npm run packages',
  'npm install ../countersign/dist/countersign-0.1.0.tgz ../countersign/dist/countersign-gateway-0.1.0.tgz ../countersign/dist/countersign-cli-0.1.0.tgz zod',
  'npm install ../countersign/dist/countersign-0.1.0.tgz @temporalio/worker @temporalio/activity @temporalio/workflow @temporalio/plugin zod',
];
const redact = commands.find((command) => command.endsWith('| countersign redact'));
const [alias, server, worker, run, approvals, show, approve, ...ofTemporal] = commands.filter(
  (command) => !runElsewhere.includes(command) && command !== redact,
);

const folder = mkdtempSync(join(tmpdir(), 'countersign-readme-'));
const { OPENAI_API_KEY: _key, OPENAI_BASE_URL: _url, ...env } = process.env;
const running: ShellCommand[] = [];

function sh(command: string, extra: NodeJS.ProcessEnv = {}): ShellCommand {
  const started = new ShellCommand(alias!, command, { ...env, ...extra });
  running.push(started);
  return started;
}

async function output(command: string, extra?: NodeJS.ProcessEnv): Promise<string> {
  const started = sh(command, extra);
  expect({ command, code: await started.ended(), stderr: started.stderr }).toMatchObject({ command, code: 0 });
  return started.stdout;
}

let client: Client;

beforeAll(async () => {
  symlinkSync(env.COUNTERSIGN_TEMPORAL_BINARY!, join(folder, 'temporal'));
  const port = await freePort();
  Object.assign(env, {
    PATH: `${folder}${delimiter}${env.PATH}`,
    TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
    TIDY_FOLDER: join(folder, 'files'),
  });
  await startOn(port, async () => {
    const started = sh(`${server} --port ${port} --ui-port 0`);
    await Promise.race([
      eventually('the server', () => started.stdout.includes('uiUrl')),
      started.ended().then(() => Promise.reject(new Error(started.stderr))),
    ]);
  });
  const working = sh(worker!);
  await eventually('the worker', () => working.stdout.includes('agents'));
  client = new Client({ connection: await Connection.connect({ address: env.TEMPORAL_ADDRESS! }) });
});

afterAll(async () => {
  for (const each of running.toReversed()) await each.interrupt();
  rmSync(folder, { recursive: true, force: true });
  await client.connection.close();
});

test('the commands are exactly those that run here, including both lines for a new machine', () => {
  expect(commands.filter((command) => runElsewhere.includes(command))).toEqual(runElsewhere);
  const named = [alias, server, worker, run, approvals, show, approve, ...ofTemporal, redact];
  expect(commands).toHaveLength(runElsewhere.length + named.length);
  expect(named.map((command) => command?.split(' ').slice(0, 2).join(' '))).toEqual([
    `alias countersign='npm`,
    'countersign server',
    'countersign worker',
    'countersign run',
    'countersign approvals',
    'countersign approvals',
    'countersign approve',
    ...Array.from({ length: 5 }, () => 'temporal workflow'),
    `echo 'Card`,
  ]);
});

test('redact prints what the manual says', async () => {
  expect(blocksOf('docs/cli.md', 'text')).toContain(await output(redact!));
});

test('its policy loads', () => {
  expect(blocksOf('README.md', 'yaml').map((text) => parsePolicy(text))).toMatchObject([
    { policy: { rules: [{ pattern: 'refund' }] } },
  ]);
});

test('five minutes: a run waits, is listed, shown and approved', async () => {
  const following = sh(run!);
  const ID = await eventually('a request', async () => {
    const [line = ''] = (await output(approvals!)).split('\n');
    return line !== '' && (JSON.parse(line) as { requestId: string }).requestId;
  });
  expect(await output(show!, { ID })).toContain('report (copy).txt');
  expect(existsSync(join(folder, 'files', 'report (copy).txt'))).toBe(true);
  await output(approve!, { ID });
  expect(await following.ended()).toBe(0);
  expect(following.stdout).toContain('deleted report (copy).txt');
  expect(existsSync(join(folder, 'files', 'report (copy).txt'))).toBe(false);
  expect(readFileSync(join(folder, 'files.log'), 'utf8').match(/"delete_file"/g)).toHaveLength(1);
});

describe.each(languages)('docs/any-language.md: $name', ({ name, missing, prepare }) => {
  test.skipIf(missing !== undefined)('a run is started, listed, approved and denied', async () => {
    const { workflow } = client;
    const waits = (id: string) =>
      eventually(`${id} in the list`, async () => {
        const { count } = await workflow.count(`WorkflowId = "${id}" AND ApprovalIds IS NOT NULL`);
        return count === 1;
      });
    const steps = await prepare(mkdtempSync(join(folder, 'program-')), output);
    const word = name.split(' ').at(-1)!;
    const runs = { approve: `${word}-approved`, deny: `${word}-denied` };
    await steps.start(runs.approve);
    await waits(runs.approve);
    const args = [{ agent: 'tidy', input: 'Please tidy up' }];
    await workflow.start('agentRun', { workflowId: runs.deny, taskQueue: 'countersign', args });
    await waits(runs.deny);
    const lines = await steps.list();
    for (const step of ['approve', 'deny'] as const) {
      const request = new RegExp(`^${runs[step]} (?=.*report \\(copy\\)).*?\\b([0-9a-f]{32})\\b`, 'm');
      expect(lines).toMatch(request);
      const [, requestId = ''] = request.exec(lines)!;
      await steps.answer(step, runs[step], requestId);
      const { outcomes } = (await workflow.getHandle(runs[step]).result()) as RunResult;
      const [outcome, ran] = step === 'approve' ? ['approved', 'yes'] : ['denied', 'no'];
      expect(outcomes).toContainEqual(expect.objectContaining({ requestId, outcome, ran }));
    }
  });
});

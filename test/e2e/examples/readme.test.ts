import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parsePolicy } from '../../../src/policy-file/parse-policy.ts';
import { freePort } from '../../../packages/cli/src/dev-server/free-port.ts';
import { eventually } from '../../support/eventually.ts';
import { blocksOf, shellLinesOf, ShellCommand } from '../../support/readme.ts';

/**
 * Runs every command of the first pages as written. Only the server's ports are added, with the flags that the README names;
 * everything else comes from the environment.
 */

const commands = ['README.md', 'docs/install.md', 'docs/cli.md'].flatMap(shellLinesOf);
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
const [alias, server, worker, run, approvals, show, approve, start, signal, showRun] = commands.filter(
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

const waiting = (runs: (workflowId: string) => boolean) =>
  eventually('a request', async () => {
    const lines = (await output(approvals!)).split('\n').filter((line) => line !== '');
    const rows = lines.map((line) => JSON.parse(line) as { requestId: string; workflowId: string });
    return rows.find(({ workflowId }) => runs(workflowId));
  });

beforeAll(async () => {
  symlinkSync(env.COUNTERSIGN_TEMPORAL_BINARY!, join(folder, 'temporal'));
  const port = await freePort();
  Object.assign(env, {
    PATH: `${folder}${delimiter}${env.PATH}`,
    TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
    TIDY_FOLDER: join(folder, 'files'),
  });
  const started = sh(`${server} --port ${port} --ui-port 0`);
  await eventually('the server', () => started.stdout.includes('uiUrl'));
  const working = sh(worker!);
  await eventually('the worker', () => working.stdout.includes('agents'));
});

afterAll(async () => {
  for (const each of running.toReversed()) await each.interrupt();
  rmSync(folder, { recursive: true, force: true });
});

test('the commands are exactly those that run here, including both lines for a new machine', () => {
  expect(commands.filter((command) => runElsewhere.includes(command))).toEqual(runElsewhere);
  const named = [alias, server, worker, run, approvals, show, approve, start, signal, showRun, redact];
  expect(commands).toHaveLength(runElsewhere.length + named.length);
  expect(named.map((command) => command?.split(' ').slice(0, 2).join(' '))).toEqual([
    `alias countersign='npm`,
    'countersign server',
    'countersign worker',
    'countersign run',
    'countersign approvals',
    'countersign approvals',
    'countersign approve',
    'temporal workflow',
    'temporal workflow',
    'countersign show',
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
  const { requestId: ID } = await waiting(() => true);
  expect(await output(show!, { ID })).toContain('report (copy).txt');
  expect(existsSync(join(folder, 'files', 'report (copy).txt'))).toBe(true);
  await output(approve!, { ID });
  expect(await following.ended()).toBe(0);
  expect(following.stdout).toContain('deleted report (copy).txt');
  expect(existsSync(join(folder, 'files', 'report (copy).txt'))).toBe(false);
});

test('from any language: started and decided with the temporal command line', async () => {
  const RUN = 'by-temporal';
  await output(start!, { RUN });
  const { requestId: ID } = await waiting((workflowId) => workflowId === RUN);
  await output(signal!, { RUN, ID });
  const shown = await eventually('its end', async () => {
    const text = await output(showRun!, { RUN });
    return text.includes('"completed"') && text;
  });
  expect(JSON.parse(shown)).toMatchObject({ workflowId: RUN, status: 'completed' });
  // The first run deleted the copy: the call was approved and made, and the tool found nothing.
  expect(shown).toContain(`there is no 'report (copy).txt'`);
  const log = readFileSync(join(folder, 'files.log'), 'utf8');
  expect(log.match(/"delete_file"/g)).toHaveLength(1);
});

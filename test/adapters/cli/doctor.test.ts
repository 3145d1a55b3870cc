/** `countersign doctor`: each fault made for real, on a real server, and named with the command that mends it. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { msToTs } from '@temporalio/common/lib/time.js';
import { engine } from '../../../src/core/policy/ruling.ts';
import { ownVersion, workerFacts, workerIdentity } from '../../../src/connection/one-sdk.ts';
import { checkWorkers } from '../../../src/client/doctor/check-workers.ts';
import type { Session } from '../../../src/client/server/session.ts';
import { createClient } from '../../../src/client/client.ts';
import { eventually } from '../../support/eventually.ts';
import { makeNamespace } from '../../support/make-namespace.ts';
import { copySdk } from '../../worker/second-sdk-copy.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { type World, openWorld } from '../../support/world.ts';
import { cli, jsonLines, startCli } from './support.ts';
import { noServer } from './in-process.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'countersign-doctor-')));
const namespace = `doctor-${randomUUID()}`;
let world: World;
beforeAll(async () => {
  await makeNamespace(namespace, 30);
  const operator = await createClient({ address: sharedAddress(), namespace });
  await operator.setUp();
  await operator.close();
  world = await openWorld({ namespace });
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

interface Line {
  check: string;
  ok: boolean;
  message: string;
  command?: string;
}

/** With `env` in a process of its own. */
async function doctor(
  words: string[] = [],
  env?: Record<string, string>,
): Promise<{ code: number | null; lines: Line[] }> {
  const queue = words.includes('--task-queue') ? [] : ['--task-queue', world.taskQueue];
  const where = words.includes('--namespace') ? [] : ['--namespace', namespace];
  const all = ['doctor', ...where, ...queue, ...words];
  const result = await (env === undefined
    ? cli(all, { cwd: folder, env: words.includes('127.0.0.1:1') ? noServer : {} })
    : startCli(all, { cwd: folder, env }).ended);
  expect(result.stderr).toBe('');
  return { code: result.code, lines: jsonLines(result) as unknown as Line[] };
}

/** The checks that failed. */
const wrongIn = (lines: Line[]): Line[] => lines.filter(({ ok }) => !ok);

test('nothing is wrong: every check says so, exit 0', async () => {
  const { code, lines } = await doctor([], {});
  expect(wrongIn(lines)).toEqual([]);
  expect(code).toBe(0);
  const names = [
    'sdk',
    'server',
    'namespace',
    'clock',
    'attributes',
    'retention',
    'worker',
    'engine',
    'policy',
    'version',
    'codec',
  ];
  expect(lines.map(({ check }) => check)).toEqual(names);
  expect(lines.map(({ message }) => message).join('\n')).toContain(`with engine ${engine}, as this version does`);
});

test('no server: exit 6', async () => {
  const { code, lines } = await doctor(['--address', '127.0.0.1:1']);
  expect([code, lines.at(-1)]).toEqual([
    6,
    {
      check: 'server',
      ok: false,
      message:
        'No Temporal server answered at 127.0.0.1:1 in time: start one with `countersign server`, or name another with --address or TEMPORAL_ADDRESS.',
      command: 'countersign server',
    },
  ]);
});

test.each([
  ['a host of Temporal Cloud', 'agents.a1b2c.tmprl.cloud.invalid:7233', {}],
  ['an API key', '127.0.0.1:1', { ...noServer, TEMPORAL_API_KEY: 'key' }],
  ['TLS', '127.0.0.1:1', { ...noServer, TEMPORAL_TLS: 'true' }],
])('no server, with %s: no command starts one', async (_what, address, env) => {
  const { lines } = await doctor(['--address', address], env);
  expect(lines.at(-1)).toEqual({
    check: 'server',
    ok: false,
    message: `No Temporal server answered at ${address} in time: check that address and its TLS settings and API key, or name another with --address or TEMPORAL_ADDRESS.`,
  });
});

describe('the channels of a module', () => {
  const found = async (channels: string, file = '') => {
    writeFileSync(join(folder, 'channels.yaml'), file);
    const module = join(folder, `channels-${randomUUID()}.js`);
    writeFileSync(module, `export default { agents: [], channels: ${channels} };`);
    const { lines } = await doctor(['--config', module, '--address', '127.0.0.1:1']);
    return lines.find(({ check }) => check === 'channels');
  };

  test('that can start are named', async () => {
    const line = { check: 'channels', ok: true, message: 'A worker can start with its channels: desk.' };
    expect(await found('{ desk: () => true }')).toEqual(line);
    expect(await found(`'channels.yaml'`, 'channels: { desk: { kind: auto_deny } }')).toEqual(line);
  });

  test('no default: it says which requests no channel carries', async () => {
    const requests = 'requests: [{ tool: pay, channels: [desk] }]';
    const file = `channels: { desk: { kind: auto_deny } }\nroutes: { default: [], ${requests} }`;
    const message = 'A worker can start with its channels: desk. Only the inbox has requests that no route matches.';
    expect(await found(`'channels.yaml'`, file)).toEqual({ check: 'channels', ok: true, message });
  });

  test.each([
    ['{ desk: { check() { throw new Error("No key."); }, resolve: () => true } }', '', "channel 'desk': No key."],
    [`'channels.yaml'`, 'channels: { desk: { kind: auto_deni } }', expect.stringContaining("'kind' must be one of")],
    [`'none.yaml'`, '', expect.stringContaining('no file')],
  ])('that cannot: %s %s', async (channels, file, message) => {
    expect(await found(channels, file)).toEqual({ check: 'channels', ok: false, message });
  });
});

describe('a test message by channels of a module', () => {
  const sending = `{
    team: { notify: () => undefined, test: () => Promise.resolve('a message to channel C1') },
    mail: { notify: () => undefined, test: () => Promise.reject(new Error('no such host')) },
    desk: () => true,
  }`;
  const lineOf = {
    team: { channel: 'team', ok: true, message: 'Sent a message to channel C1.' },
    mail: { channel: 'mail', ok: false, message: 'no such host.' },
    desk: { channel: 'desk', ok: true, message: 'It sends no messages, so nothing was sent.' },
  };
  const module = join(folder, 'sending.js');
  beforeAll(() => writeFileSync(module, `export default { agents: [], channels: ${sending} };`));
  const channels = (...words: string[]) => cli(['channels', 'test', ...words, '--config', module]);

  test.each([
    ['team', 0],
    ['mail', 1],
    ['desk', 0],
  ] as const)('channels test %s: exit code %i', async (name, code) => {
    const result = await channels(name, '--json');
    expect([result.code, jsonLines(result)]).toEqual([code, [lineOf[name]]]);
  });

  test('channels test of a channel that is not there', async () => {
    expect(await channels('other')).toMatchObject({
      code: 2,
      stderr: "error: The module has no channel 'other'. It has: team, mail, desk.\n",
    });
  });

  test('doctor --send: one for each', async () => {
    const { code, lines } = await doctor(['--config', module, '--send']);
    expect(code).toBe(1);
    expect(lines.filter((line) => 'channel' in line)).toEqual(Object.values(lineOf));
  });
});

test('a namespace that does not exist: the command creates it', async () => {
  const { code, lines } = await doctor(['--namespace', 'nowhere']);
  const command = `temporal operator namespace create --namespace nowhere --address ${sharedAddress()} --retention 30d`;
  expect(code).toBe(1);
  expect(wrongIn(lines)).toEqual([
    {
      check: 'namespace',
      ok: false,
      message: `The Temporal server at ${sharedAddress()} has no namespace 'nowhere'. Name another with --namespace, or create it: \`${command}\`.`,
      command,
    },
  ]);
});

describe('a namespace without attributes that keeps runs for two days', () => {
  const poor = `doctor-${randomUUID()}`;
  beforeAll(() => makeNamespace(poor, 2));
  const commands = {
    attributes: 'countersign setup',
    worker: 'countersign worker --task-queue empty',
    retention: (days: number) => `temporal operator namespace update --namespace ${poor} --retention ${days}d`,
  };
  const wrongHere = async (words: string[] = []) => {
    const { code, lines } = await doctor(['--namespace', poor, '--task-queue', 'empty', ...words]);
    expect(code).toBe(1);
    return wrongIn(lines).map(({ check, command }) => [check, command]);
  };

  test('attributes, retention and worker are named', async () => {
    const found = await wrongHere();
    expect(found).toEqual(
      expect.arrayContaining([
        ['attributes', commands.attributes],
        ['retention', commands.retention(30)],
        ['worker', commands.worker],
      ]),
    );
  });

  test.each([
    ['approval: { max_timeout: 40d }', 40],
    ['approval: { max_timeout: 36h }', undefined],
    ['rules: []', undefined],
    ['approval: { max_timeout: never }', 30],
    ['rules: 7', 30],
  ])("retention by the operator's policy: %s", async (policy, days) => {
    writeFileSync(join(folder, 'policy.yaml'), `${policy}\n`);
    const module = join(folder, `agents-${randomUUID()}.js`);
    writeFileSync(module, `export default { agents: [], policy: 'policy.yaml' };`);
    const retention = (await wrongHere(['--config', module])).filter(([check]) => check === 'retention');
    expect(retention).toEqual(days === undefined ? [] : [['retention', commands.retention(days)]]);
  });
});

test.each([
  [40, true, "A worker is running for task queue 'q' (last seen 40 s ago)."],
  [90, false, "A worker polled task queue 'q' 90 s ago, and none since: start one with `countersign worker`."],
])('a worker that polled %i s ago', async (seconds, isOk, message) => {
  const lastAccessTime = msToTs(Date.now() - seconds * 1_000);
  const describeTaskQueue = () => Promise.resolve({ pollers: [{ identity: 'x', lastAccessTime }] });
  const withDeadline = (_: unknown, call: () => unknown) => call();
  const session = {
    connection: { workflowService: { describeTaskQueue }, withDeadline },
    namespace,
  } as unknown as Session;
  const [worker] = await checkWorkers(session, 'q', true);
  expect(worker).toMatchObject({ isOk, message });
});

describe('the engine and the policy of the workers', () => {
  /** Polls a queue under each identity while `doctor` looks at it; returns what it says of the workers. */
  async function seen(check: 'engine' | 'policy', ...identities: string[]): Promise<Line | undefined> {
    const taskQueue = `engines-${randomUUID()}`;
    const { connection } = world.client.session;
    const giveUp = new AbortController();
    const polls = identities.map((identity) =>
      connection
        .withAbortSignal(giveUp.signal, () =>
          connection.withDeadline(Date.now() + 60_000, () =>
            connection.workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: { name: taskQueue }, identity }),
          ),
        )
        .catch(() => undefined),
    );
    try {
      await eventually('the pollers', async () => {
        const taskQueueOf = { namespace, taskQueue: { name: taskQueue } };
        const { pollers } = await connection.workflowService.describeTaskQueue(taskQueueOf);
        return pollers.length === identities.length;
      });
      return (await doctor(['--task-queue', taskQueue])).lines.find((line) => line.check === check);
    } finally {
      giveUp.abort();
      await Promise.all(polls);
    }
  }

  const [one, other] = ['a', 'b'].map((digit, at) =>
    workerIdentity(`host-${at}`, { engine, policyDigest: digit.repeat(64) }),
  ) as [string, string];
  const without = workerIdentity('host-3', { engine });

  test('two workers of one queue with different policies are named', async () => {
    const line = await seen('policy', one, other);
    expect(line?.ok).toBe(false);
    for (const part of [one, other, 'policy aaaaaaaaaaaa', 'policy bbbbbbbbbbbb'])
      expect(line!.message).toContain(part);
  });

  test('one with a policy and one without are named', async () => {
    const line = await seen('policy', without, other);
    expect(line).toMatchObject({ ok: false, message: expect.stringContaining('no policy of the operator') });
  });

  test('with one policy all is well, and who says nothing is not counted', async () => {
    expect(await seen('policy', one, one.replace('host-0', 'host-7'), 'night-shift')).toMatchObject({
      ok: true,
      message: '2 workers of 3 say which policy of the operator they have: policy aaaaaaaaaaaa.',
    });
    expect(await seen('policy', 'night-shift')).toMatchObject({ ok: true });
  });

  test.each([
    [engine - 1, '0.0.9', ownVersion(), 'where that worker runs'],
    [engine + 1, '9.9.9', '9.9.9', 'here'],
  ])('a worker with engine %i is named, with the version to install', async (other, version, wanted, where) => {
    const identity = `1@host;countersign=${version};engine=${other}`;
    const line = await seen('engine', identity);
    expect(line).toMatchObject({ ok: false, command: `npm install countersign@${wanted}` });
    expect(line!.message).toContain(`Worker '${identity}' of task queue`);
    expect(line!.message).toContain(where);
  });

  test('an identity that its author has chosen says nothing, and is no fault', async () => {
    expect(await seen('engine', 'night-shift')).toMatchObject({
      ok: true,
      message: '1 of 1 workers have an identity of their own, which does not say with which engine they rule.',
    });
  });

  test('what a worker writes is what is read; nothing else is', () => {
    const policyDigest = '0123456789abcdef'.repeat(4);
    const facts = { version: ownVersion(), engine: 7 };
    expect(workerFacts(workerIdentity('host.internal', { engine: 7, policyDigest }))).toEqual({
      ...facts,
      policy: '0123456789ab',
    });
    expect(workerFacts(workerIdentity('host.internal', { engine: 7 }))).toEqual({ ...facts, policy: 'none' });
    // A worker of an older version.
    expect(workerFacts('1@h;countersign=0.1.0;engine=2')).toEqual({ version: '0.1.0', engine: 2 });
    for (const other of [
      '',
      '1@host',
      'x;countersign=1;engine=2',
      '1@h;countersign=1 2;engine=2',
      '1@h;countersign=1;engine=2 ',
      '1@h;countersign=1;engine=2;policy=all',
    ])
      expect(workerFacts(other)).toBeUndefined();
  });
});

/** Shifts the clock of the process before anything else runs. */
const shift = (ms: number): Record<string, string> => ({
  NODE_OPTIONS: `--import ${JSON.stringify(`data:text/javascript,const real = Date.now; const Real = Date; globalThis.Date = class extends Real { constructor(...a) { a.length === 0 ? super(real() + ${ms}) : super(...a); } static now() { return real() + ${ms}; } };`.replaceAll(' ', '%20'))}`,
});

test.each([
  [600_000, "This machine's clock is 10m ahead of the server's"],
  [-60_000, "This machine's clock is 1m behind the server's"],
])('a clock that is %i ms off is named', async (ms, sentence) => {
  const { code, lines } = await doctor([], shift(ms));
  expect(code).toBe(1);
  expect(wrongIn(lines)).toEqual([
    expect.objectContaining({
      check: 'clock',
      message: expect.stringContaining(sentence),
      command: 'sudo timedatectl set-ntp true',
    }),
  ]);
});

test("two copies of Temporal's SDK are named", async () => {
  copySdk(folder, ['client']);
  // A module of the user's that takes the other copy along.
  writeFileSync(join(folder, 'countersign.config.js'), `import '@temporalio/client'; export default { agents: [] };`);
  try {
    const { code, lines } = await doctor([], {});
    expect([code, wrongIn(lines)]).toEqual([
      1,
      [
        expect.objectContaining({
          check: 'sdk',
          message: expect.stringContaining('There are two copies of @temporalio/client'),
          command: 'npm ls @temporalio/client @temporalio/worker',
        }),
      ],
    ]);
  } finally {
    rmSync(join(folder, 'countersign.config.js'));
  }
});

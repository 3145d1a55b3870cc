import { randomBytes, randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CountersignClient, createClient } from '../../../src/client.ts';
import { EncryptionCodec } from '../../../src/codec.ts';
import { cli, jsonLines } from '../../adapters/cli/support.ts';
import { type CodecServer, startCodecServer } from '../../codec/test-codec-server.ts';
import { eventually } from '../../support/eventually.ts';
import { makeNamespace } from '../../support/make-namespace.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { type World, openWorld } from '../../support/world.ts';

/** Workers with a codec; clients with the same codec, by a codec server, with the wrong key and with none. */

const codec = new EncryptionCodec();
const dataConverter = { payloadCodecs: [codec] };
const namespace = `codec-${randomUUID()}`;
const wrong = { id: 'k1', key: randomBytes(32) };
const unknown = { id: 'k9', key: randomBytes(32) };
const isEncoded =
  /it is encoded(?: with key '\w+')?, and the codecs here do not decode it\. Give this client what its workers have: /;

let world: World;
let server: CodecServer;
let client: CountersignClient;
const blind: Record<string, CountersignClient> = {};
beforeAll(async () => {
  // Its own namespace: the check looks at all runs of the namespace.
  await makeNamespace(namespace, 30);
  const operator = await createClient({ address: sharedAddress(), namespace });
  await operator.setUp();
  await operator.close();
  world = await openWorld({ namespace, dataConverter });
  const connected = { address: sharedAddress(), namespace, taskQueue: world.taskQueue };
  client = await createClient({ ...connected, dataConverter });
  server = await startCodecServer(codec, 'Bearer one');
  for (const [name, key] of Object.entries({ 'with the wrong key': wrong, 'with an unknown key': unknown })) {
    const payloadCodecs = [new EncryptionCodec({ keys: [key] })];
    blind[name] = await createClient({ ...connected, dataConverter: { payloadCodecs } });
  }
  blind['without a codec'] = await createClient(connected);
});
afterAll(async () => {
  await Promise.all([client, ...Object.values(blind)].map((each) => each.close()));
  await server.close();
  await world.close();
});

async function waiting(count = 1): Promise<{ workflowId: string; ids: string[] }> {
  const calls = Array.from({ length: count }, (_, index) => ({
    tool: 'pay',
    args: { to: `p${index}`, amount: index },
  }));
  const { workflowId } = await client.start('tester', JSON.stringify([{ calls }, { text: '{{lastResult}}' }]));
  // The list of all runs comes from the index, which follows the run.
  const ids = await eventually(`${count} open requests in the list of all runs`, async () => {
    const own = (await client.approvals.list()).approvals.filter((each) => each.workflowId === workflowId);
    return own.length === count && own.map(({ requestId }) => requestId);
  });
  return { workflowId, ids };
}

describe('a client with the codec of the workers', () => {
  test('lists, shows, edits, reads the result and the journal', async () => {
    const { workflowId, ids } = await waiting();
    const requestId = ids[0]!;
    expect(await client.approvals.get(requestId)).toMatchObject({ arguments: { to: 'p0', amount: 0 } });
    const modifiedArguments = { to: 'p0', amount: 7 };
    const receipt = await client.decide({ requestId, approved: true, modifiedArguments, reviewerId: 'ann' });
    expect(receipt).toMatchObject({ accepted: true });
    const [next] = (await client.approvals.list({ workflowId })).approvals;
    if (next !== undefined) await client.decide({ requestId: next.requestId, approved: true, reviewerId: 'ann' });
    expect(await client.run(workflowId).result()).toMatchObject({ output: expect.stringContaining('paid 7 to p0') });
    const { entries, unread } = await client.journal(workflowId);
    expect(entries.map(({ kind }) => kind)).toContain('opened');
    expect(entries.map(({ kind }) => kind)).toContain('settled');
    expect(unread).toBeUndefined();
    expect((await client.check()).filter(({ isOk }) => !isOk)).toEqual([]);
  });
});

test('shown arguments are encoded in the memo and in the summary of the timer, which stays small enough', async () => {
  const to = `qzxmarker ${'漢'.repeat(300)}`;
  const turns = JSON.stringify([{ calls: [{ tool: 'pay', args: { to, amount: 1 } }] }, { text: 'end' }]);
  const policy = { version: 1 as const, rules: [], approval: { show: { pay: ['to'] } } };
  const { workflowId } = await client.start('tester', turns, { policy });
  const [row] = await eventually('the request', async () => {
    const { approvals } = await client.approvals.list({ workflowId });
    return approvals.length === 1 && approvals;
  });
  expect(row!.shownArguments!['to']).toMatch(/^qzxmarker 漢+… \[110 more characters\]$/);
  const { connection } = client.session;
  const execution = { workflowId };
  const { history } = await connection.workflowService.getWorkflowExecutionHistory({ namespace, execution });
  const { workflowExecutionInfo } = await connection.workflowService.describeWorkflowExecution({
    namespace,
    execution,
  });
  const timer = history!.events!.find(({ timerStartedEventAttributes }) => timerStartedEventAttributes != null);
  const summary = timer!.userMetadata!.summary!;
  const written = [summary, workflowExecutionInfo!.memo!.fields!['approvals']!];
  for (const { data } of written) expect(Buffer.from(data!).toString()).not.toContain('qzxmarker');
  expect(summary.data!.length).toBeLessThan(400);
  const [decoded] = await codec.decode([summary]);
  expect(Buffer.from(decoded!.data!).toString()).toContain('pay(to: qzxmarker 漢');
  await client.decide({ requestId: row!.requestId, approved: false }, { workflowId });
});

const keyed = ['with the wrong key', 'with an unknown key'];

describe.each([...keyed, 'without a codec'])('a client %s', (name) => {
  test('lists what it cannot read, with the run, its requests and the remedy', async () => {
    const { workflowId, ids } = await waiting(2);
    const list = await blind[name]!.approvals.list({ workflowId });
    expect(list).toEqual({
      approvals: [],
      more: 0,
      unread: [{ workflowId, requestIds: expect.arrayContaining(ids), message: expect.stringMatching(isEncoded) }],
    });
    expect((await blind[name]!.approvals.list()).unread.map((each) => each.workflowId)).toContain(workflowId);
    await client.decide(ids.map((requestId) => ({ requestId, approved: false })));
  });

  test('says why it cannot show a request, a result, a journal', async () => {
    const { workflowId, ids } = await waiting();
    for (const look of [
      () => blind[name]!.approvals.get(ids[0]!),
      () => blind[name]!.run(workflowId).status(),
      () => blind[name]!.grants(workflowId),
    ]) {
      await expect(look()).rejects.toMatchObject({ code: 'undecodable', message: expect.stringMatching(isEncoded) });
    }
    expect(await blind[name]!.show(workflowId)).toMatchObject({
      status: 'waiting',
      open: [],
      more: 1,
      unread: { workflowId, requestIds: ids, message: expect.stringMatching(isEncoded) },
      note: expect.stringMatching(isEncoded),
    });
    await client.decide({ requestId: ids[0]!, approved: true });
    await client.run(workflowId).result();
    await expect(blind[name]!.run(workflowId).result()).rejects.toMatchObject({ code: 'undecodable' });
    const { entries, unread } = await blind[name]!.journal(workflowId);
    expect(entries).toEqual([]);
    expect(unread).toBeGreaterThan(0);
  });

  test('the check names the codec', async () => {
    const { ids, workflowId } = await waiting();
    expect((await blind[name]!.check()).filter(({ isOk }) => !isOk)).toEqual([
      expect.objectContaining({ check: 'codec', isOk: false, message: expect.stringMatching(isEncoded) }),
    ]);
    await client.decide({ requestId: ids[0]!, approved: false }, { workflowId });
  });
});

test.each(keyed)('a client %s sends nothing that the workers could not read', async (name) => {
  const { workflowId, ids } = await waiting();
  const refusal = { code: 'undecodable', message: expect.stringMatching(/^Nothing is sent to run '/) };
  for (const send of [
    () => blind[name]!.decide({ requestId: ids[0]!, approved: true }),
    () => blind[name]!.setPolicy(workflowId, { mode: 'plan' }),
    () => blind[name]!.closeRun(workflowId),
  ]) {
    await expect(send()).rejects.toMatchObject(refusal);
  }
  expect((await client.approvals.list({ workflowId })).approvals).toHaveLength(1);
  await client.decide({ requestId: ids[0]!, approved: false }, { workflowId });
});

test('a signal with the wrong key is refused and counted; the run goes on', async () => {
  const { workflowId, ids } = await waiting();
  const stranger = blind['with the wrong key']!.session.client.workflow.getHandle(workflowId);
  await stranger.signal('decide', { requestId: ids[0]!, approved: true });
  const { refused } = await client.run(workflowId).status();
  expect(refused).toMatchObject({ total: 1, last: [{ code: 'undecodable' }] });
  await client.decide({ requestId: ids[0]!, approved: true }, { workflowId });
  expect(await client.run(workflowId).result()).toMatchObject({ output: 'paid 0 to p0' });
});

test('a decision of a client without a codec counts, and is not reported as failed', async () => {
  const { workflowId, ids } = await waiting();
  const receipt = await blind['without a codec']!.decide({ requestId: ids[0]!, approved: true });
  expect(receipt).toEqual({
    requestId: ids[0],
    accepted: true,
    recorded: true,
    message: expect.stringMatching(isEncoded),
  });
  expect(receipt.message).toMatch(/^The run has taken the decision, but its receipt cannot be read: /);
  expect(await client.run(workflowId).result()).toMatchObject({ output: 'paid 0 to p0' });
  await expect(
    blind['without a codec']!.decide({ requestId: ids[0]!, approved: false }, { workflowId }),
  ).rejects.toMatchObject({ code: 'run_closed' });
});

describe('the command line', () => {
  const flags = (): string[] => ['--codec-endpoint', server.endpoint, '--codec-auth', 'Bearer one'];
  const run = (...words: string[]) => cli([...words, '--namespace', namespace]);

  test('with a codec server: approvals, show, approve', async () => {
    const { workflowId, ids } = await waiting();
    const [listed] = jsonLines(await run('approvals', '--run', workflowId, ...flags()));
    expect(listed).toMatchObject({ requestId: ids[0], toolName: 'pay' });
    const [shown] = jsonLines(await run('approvals', 'show', ids[0]!, ...flags()));
    expect(shown).toMatchObject({ arguments: { to: 'p0', amount: 0 } });
    const approved = await run('approve', ids[0]!, ...flags());
    expect([approved.code, jsonLines(approved)[0]]).toEqual([0, expect.objectContaining({ outcome: 'approved' })]);
  });

  test('without a codec: what cannot be read is listed, approve asks for --unseen, doctor names the codec', async () => {
    const { workflowId, ids } = await waiting();
    const [unread] = jsonLines(await run('approvals', '--run', workflowId));
    expect(unread).toEqual({ workflowId, requestIds: ids, message: expect.stringMatching(isEncoded) });
    const doctor = await run('doctor', '--task-queue', world.taskQueue);
    expect([doctor.code, jsonLines(doctor).at(-1)]).toEqual([
      1,
      {
        check: 'codec',
        ok: false,
        message: expect.stringMatching(isEncoded),
        command: 'countersign doctor --codec-endpoint URL',
      },
    ]);
    expect(await run('approve', ids[0]!)).toMatchObject({ code: 2, stderr: expect.stringContaining('add --unseen') });
    const approved = await run('approve', ids[0]!, '--unseen');
    expect([approved.code, jsonLines(approved)[0]]).toEqual([0, expect.objectContaining({ accepted: true })]);
    expect(await client.run(workflowId).result()).toMatchObject({ output: 'paid 0 to p0' });
  });
});

test("Temporal's own command line reads a run through the codec server", async () => {
  const { workflowId, ids } = await waiting();
  const words = ['workflow', 'query', '--workflow-id', workflowId, '--type', 'approvals', '--output', 'json'];
  const flags = [
    '--address',
    sharedAddress(),
    '--namespace',
    namespace,
    '--codec-endpoint',
    server.endpoint,
    '--codec-auth',
    'Bearer one',
  ];
  const child = spawn(process.env['COUNTERSIGN_TEMPORAL_BINARY']!, [...words, ...flags]);
  const [printed, complaint] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(complaint).toBe('');
  expect(printed).toContain(ids[0]);
  expect(printed).toContain('p0');
  await client.decide({ requestId: ids[0]!, approved: false }, { workflowId });
});

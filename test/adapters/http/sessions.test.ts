import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunJournal, ShownRun } from '../../../packages/gateway/src/http/inbox/api.ts';
import type { Receipt } from '../../../src/contract.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { openGatewayWorld } from '../../support/gateway-world.ts';
import { httpProblem } from '../../support/http-problem.ts';
import { identityOf, makeToken } from '../../support/identity.ts';
import { openPeopleWorld } from './people-world.ts';
import { once, pay } from '../../support/team.ts';

/** Sessions through the gateway: who may say more to a run. */

const world = forAllTests(() =>
  openPeopleWorld({
    ann: ['viewer', 'starter'],
    bob: ['viewer', 'starter', 'reviewer', 'operator'],
    vera: ['viewer'],
  }),
);

const json = async <Body>(response: Response): Promise<Body> => (await response.json()) as Body;
const turns = JSON.stringify([{ text: 'first' }, { text: 'second' }, { text: 'third' }]);

async function started(by: string, body: object = {}): Promise<string> {
  const response = await world.as(by)('POST', '/runs', { agent: 'tester', input: turns, session: true, ...body });
  expect(response.status).toBe(201);
  const { workflowId } = await json<{ workflowId: string }>(response);
  return workflowId;
}

const tell = (by: string, id: string, content: string, headers = {}): Promise<Response> =>
  world.as(by)('POST', `/runs/${id}/messages`, { content }, headers);

const answered = (id: string, turn: number): Promise<unknown> => world.run(id).awaitsUser(turn);

test('the person for whom a session works says more to it, once for each key', async () => {
  const id = await started('ann');
  await answered(id, 1);
  const key = { 'idempotency-key': 'question-2' };
  const first = await tell('ann', id, 'And order 8?', key);
  expect(first.status).toBe(200);
  const receipt = await json<Receipt>(first);
  expect(receipt).toMatchObject({ accepted: true, requestId: '' });
  expect(await json(await tell('ann', id, 'And order 8?', key))).toEqual(receipt);
  const other = await tell('ann', id, 'And order 9?', key);
  expect(await httpProblem(other)).toMatchObject({ status: 422, code: 'invalid_message' });
  await answered(id, 2);
  const { entries } = await json<RunJournal>(await world.as('ann')('GET', `/runs/${id}/journal`));
  expect(entries).toMatchObject([{ kind: 'message', reviewerId: 'ann', identity: 'claimed' }]);
  expect((await world.as('ann')('POST', `/runs/${id}/close`, {})).status).toBe(200);
  expect(await world.run(id).result()).toMatchObject({ status: 'closed', output: 'second' });
  expect(await httpProblem(await tell('ann', id, 'too late'))).toMatchObject({ status: 410, code: 'run_closed' });
});

describe('nobody else does', () => {
  let id: string;
  beforeAll(async () => {
    id = await started('ann');
    await answered(id, 1);
  });
  afterAll(() => world.run(id).handle.terminate());

  test.each(['bob', 'vera'])('%s', async (name) => {
    expect(await httpProblem(await tell(name, id, 'I am ann'))).toMatchObject({ status: 403, code: 'forbidden' });
    expect((await world.run(id).status()).turn).toBe(1);
  });

  test('and nobody says who they are in the body', async () => {
    const body = { content: 'hi', by: 'ann' };
    const refused = await world.as('ann')('POST', `/runs/${id}/messages`, body);
    expect(await httpProblem(refused)).toMatchObject({ status: 422 });
  });

  test('the page of the run offers it to that person alone, while the run is open', async () => {
    const offered = async (name: string, of = id): Promise<unknown> =>
      (await json<ShownRun>(await world.as(name)('GET', `/runs/${of}`))).takesMessages;
    expect(await offered('ann')).toBe(true);
    expect(await offered('bob')).toBeUndefined();
    expect(await offered('vera')).toBeUndefined();
    const plain = await started('ann', { session: false, input: JSON.stringify(once(pay('shop'))) });
    await world.run(plain).open();
    expect(await offered('ann', plain)).toBeUndefined();
    await world.run(plain).handle.terminate();
    const ended = await started('ann');
    await world.run(ended).handle.signal('close');
    await world.run(ended).result();
    expect(await offered('ann', ended)).toBeUndefined();
  });
});

test.each(['', 'x'.repeat(100_001)])('a message of the wrong length is refused', async (content) => {
  expect(await httpProblem(await tell('ann', 'any', content))).toMatchObject({ status: 422 });
});

test('the person for whom a session works has a turn that failed tried again, once for each key', async () => {
  const id = await started('ann', { input: JSON.stringify([{ error: { status: 401 } }]) });
  await eventually('the turn fails', async () => (await world.run(id).status()).failedTurn !== undefined);
  const shown = await json<ShownRun>(await world.as('ann')('GET', `/runs/${id}`));
  expect(shown).toMatchObject({
    status: 'running',
    takesMessages: true,
    run: { awaitsMessage: true, failedTurn: { turn: 1, code: 'model_refused' } },
  });
  const post = (by: string, body: object, headers = {}) => world.as(by)('POST', `/runs/${id}/messages`, body, headers);
  expect(await httpProblem(await post('bob', { retry: true }))).toMatchObject({ status: 403, code: 'forbidden' });
  for (const body of [{}, { retry: false }, { retry: true, content: 'and this' }]) {
    expect(await httpProblem(await post('ann', body))).toMatchObject({ status: 422 });
  }
  const key = { 'idempotency-key': 'again' };
  const receipt = await json<Receipt>(await post('ann', { retry: true }, key));
  expect(receipt).toMatchObject({ accepted: true, message: 'the model is asked again' });
  expect(await json(await post('ann', { retry: true }, key))).toEqual(receipt);
  await world.run(id).handle.terminate();
});

test('a run that is no session: refused, also if somebody else asks', async () => {
  const id = await started('ann', { session: false, input: JSON.stringify(once(pay('shop'))) });
  await world.run(id).open();
  expect(await httpProblem(await tell('bob', id, 'hi'))).toMatchObject({ status: 422, code: 'invalid_message' });
  await world.run(id).handle.terminate();
});

test('a service that acts for others says more, under its own name', async () => {
  const id = await started('ann');
  await answered(id, 1);
  const services = [makeToken('desk', ['starter'], { acts_for_others: true }), makeToken('other', ['starter'])];
  const identity = identityOf({ tokens: services.map(({ entry }) => entry) });
  const desk = await openGatewayWorld({ worker: false }, { identity });
  try {
    const [may, mayNot] = await Promise.all(
      services.map(({ bearer }) => desk.call('POST', `/runs/${id}/messages`, { content: 'For ann' }, bearer)),
    );
    expect([may!.status, mayNot!.status]).toEqual([200, 403]);
    await answered(id, 2);
    const { entries } = await world.client.journal(id);
    expect(entries).toMatchObject([{ kind: 'message', reviewerId: 'desk' }]);
    await world.run(id).handle.terminate();
  } finally {
    await desk.close();
  }
});

test('a session without a caller, and a gateway without authentication', async () => {
  const run = await world.start(JSON.parse(turns) as never, { session: true });
  await answered(run.workflowId, 1);
  expect((await tell('bob', run.workflowId, 'hi')).status).toBe(200);
  await run.handle.terminate();
  const local = await openGatewayWorld();
  try {
    const workflowId = `session-${randomUUID()}`;
    await local.client.start('tester', turns, { workflowId, session: true, caller: { userId: 'carl' } });
    expect((await local.call('POST', `/runs/${workflowId}/messages`, { content: 'hi' })).status).toBe(200);
    await local.run(workflowId).handle.terminate();
  } finally {
    await local.close();
  }
});

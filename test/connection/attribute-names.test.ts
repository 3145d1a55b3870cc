import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomUUID } from 'node:crypto';
import { createClient } from '../../src/client/client.ts';
import type { CountersignClient } from '../../src/client/countersign-client.ts';
import { attributeNamesOf } from '../../src/connection/search-attributes.ts';
import { eventually } from '../support/eventually.ts';
import { makeNamespace } from '../support/make-namespace.ts';
import { sharedAddress } from '../support/shared-server.ts';
import { type World, openWorld } from '../support/world.ts';

describe('the value of COUNTERSIGN_ATTRIBUTES', () => {
  const read = (text: string) => attributeNamesOf(undefined, { COUNTERSIGN_ATTRIBUTES: text });

  test.each([
    ['', { ids: 'ApprovalIds', tags: 'ApprovalTags', due: 'ApprovalDue' }],
    ['ids=MyIds, tags = off', { ids: 'MyIds', tags: null, due: 'ApprovalDue' }],
    ['due=D,tags=T', { ids: 'ApprovalIds', tags: 'T', due: 'D' }],
  ])('%j', (text, names) => {
    expect(read(text)).toEqual(names);
  });

  test.each([
    ['MyIds', "COUNTERSIGN_ATTRIBUTES: 'MyIds' is none of ids, tags, due; write it like ids=MyIds,tags=off,due=MyDue."],
    [
      'ids=',
      "COUNTERSIGN_ATTRIBUTES: '' is not a name: letters, digits and _, at most 64, not beginning with Temporal; write it like ids=MyIds,tags=off,due=MyDue.",
    ],
  ])('%j is refused', (text, message) => {
    expect(() => read(text)).toThrow(message);
  });
});

describe('a namespace with other names, and no tags', () => {
  const namespace = `named-${randomUUID()}`;
  const attributes = { ids: 'OrderApprovals', tags: false, due: 'OrderApprovalDue' } as const;
  let client: CountersignClient;
  let world: World;

  beforeAll(async () => {
    await makeNamespace(namespace);
    client = await createClient({ address: sharedAddress(), namespace, attributes });
    await client.setUp();
    world = await openWorld({ namespace, attributes, continueAsNewAfter: { historyEvents: 30 } });
  });
  afterAll(async () => {
    await world.close();
    await client.close();
  });

  test('setup registers exactly these', async () => {
    const { customAttributes } = await client.session.connection.operatorService.listSearchAttributes({ namespace });
    expect(
      Object.keys(customAttributes ?? {})
        .filter((name) => /Approval/.test(name))
        .sort(),
    ).toEqual(['OrderApprovalDue', 'OrderApprovals']);
    expect((await client.setUp()).added).toEqual([]);
  });

  test('a worker with the default names is refused', async () => {
    await expect(world.startWorker({ attributes: {} })).rejects.toMatchObject({
      message: expect.stringContaining('lacks the search attributes ApprovalIds, ApprovalTags, ApprovalDue'),
    });
  });

  test('a request is listed, found by its id, carried along, decided, and removed from the list', async () => {
    const run = await world.start([{ calls: [{ tool: 'pay', args: { to: 'x', amount: 1 } }] }, { text: 'done' }]);
    const requestId = await eventually('it is listed', async () => {
      const { approvals } = await client.approvals.list();
      return approvals[0]?.requestId;
    });
    const { searchAttributes } = await run.handle.describe();
    expect(searchAttributes).toMatchObject({ OrderApprovals: [requestId], OrderApprovalDue: [expect.any(Date)] });
    expect(Object.keys(searchAttributes).filter((name) => name.startsWith('Approval'))).toEqual([]);
    await eventually('the run continues as new', async () => {
      await run.handle.signal('noise');
      return (await run.status()).executions >= 2;
    });
    // A worker with other attribute names takes over the run, which keeps the names that it recorded.
    await world.stopWorker();
    const plain = await createClient({ address: sharedAddress(), namespace, attributes: {} });
    await plain.setUp();
    await plain.close();
    await world.startWorker({ attributes: {} });
    expect((await client.approvals.get(requestId)).toolName).toBe('pay');
    await client.decide({ requestId, approved: true });
    expect((await run.result()).outcomes).toMatchObject([{ outcome: 'approved', ran: 'yes' }]);
    await eventually('it is not listed', async () => (await client.approvals.list()).approvals.length === 0);
    // Settled ids are tags, which are off here; the request is still found by its run's id.
    expect(await client.approvals.get(requestId, { workflowId: run.workflowId })).toMatchObject({
      settled: { outcome: 'approved' },
    });
  });
});

import { afterEach, expect, test } from 'vitest';
import type { WorkflowHandle } from '@temporalio/client';
import type { ApprovalRequest } from '../../../src/contract.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { gated } from './gated-declarations.ts';
import { openGatedWorld } from '../../support/gated-world.ts';

/**
 * What is approved is what runs (I8), also in a user's own workflow: the declaration of a gated activity is part of the
 * call.
 */

const world = forAllTests(() => openGatedWorld());
afterEach(async () => {
  await world.stopWorker();
  await world.startWorker();
});

const changed = {
  ...gated,
  pay: { ...gated.pay, description: 'Pays at once.', arguments: ['payee', 'amount'], subject: 'payee' },
  look: { ...gated.look, description: 'Looks twice.' },
} as const;
const versions = { old: gated, new: changed };

const deploy = async (version: keyof typeof versions): Promise<void> => {
  await world.stopWorker();
  await world.startWorker({ gated: versions[version] });
};

const approveAndDeploy = async (
  handle: WorkflowHandle,
  { requestId }: ApprovalRequest,
  version: keyof typeof versions,
): Promise<void> => {
  await world.stopWorker();
  await handle.signal('decide', { requestId, approved: true });
  await deploy(version);
};

const askedAgain = (handle: WorkflowHandle, { requestId }: ApprovalRequest): Promise<ApprovalRequest> =>
  eventually('a request about the changed activity', async () =>
    (await world.open(handle)).find(
      ({ replaces }) => replaces?.requestId === requestId && replaces.by === 'definition',
    ),
  );

test('an approved call whose declaration has changed is asked about again, with the changes', async () => {
  const handle = await world.start('inTurn', [
    { name: 'pay', args: ['ann', 3] },
    { name: 'look', args: ['x'] },
    { name: 'look', args: ['y'] },
  ]);
  const [request] = await world.open(handle);
  await approveAndDeploy(handle, request!, 'new');
  const again = await askedAgain(handle, request!);
  expect(again.arguments).toEqual({ payee: 'ann', amount: 3 });
  expect(again.contextSummary).toBe(
    `Tool 'pay' has changed since this call passed the gate: description '' became 'Pays at once.'; argument 'to' is gone; new argument 'payee'. Workflow inTurn`,
  );
  expect(world.ran()).toEqual([]);
  await world.client.decide({ requestId: again.requestId, approved: true }, { workflowId: handle.workflowId });
  // A call that the policy allows is evaluated again without a person, and only once, because the run then has the
  // current declaration.
  expect(await handle.result()).toEqual([{ result: 'paid 3 to ann' }, { result: ['x'] }, { result: ['y'] }]);
  expect(world.ran()).toEqual(['pay ann 3', 'look ["x"]', 'look ["y"]']);
  const { events = [] } = await handle.fetchHistory();
  expect(events!.filter((event) => event.activityTaskFailedEventAttributes != null)).toHaveLength(2);
});

test('a declaration that changes with each start is refused after three more requests', async () => {
  const handle = await world.start('calls', [{ name: 'pay', args: ['ann', 4] }]);
  let [request] = (await world.open(handle)) as [ApprovalRequest];
  for (const version of ['new', 'old', 'new'] as const) {
    await approveAndDeploy(handle, request, version);
    request = await askedAgain(handle, request);
  }
  await approveAndDeploy(handle, request, 'old');
  expect(JSON.stringify(await handle.result())).toContain(`tool 'pay' was not started: its definition changed 4 times`);
  expect(world.ran()).toEqual([]);
});

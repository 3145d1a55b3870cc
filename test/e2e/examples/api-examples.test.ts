import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { layOutExamples } from '../../api/example-folder.ts';
import { printedBy } from '../../api/examples.ts';
import { printsOf } from '../../api/run-example.ts';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type CountersignClient, createClient } from '../../../src/client.ts';
import { defineAgent, defineTool, scriptedModel } from '../../../src/index.ts';
import { bundleWorkflows, createWorker } from '../../../src/worker.ts';
import { makeNamespace } from '../../support/make-namespace.ts';
import { eventually } from '../../support/eventually.ts';
import { testBundle, testCache } from '../../support/world.ts';
import { exampleBundle } from '../../api/example-bundle.ts';

/** Runs the examples of docs/api.md that need a server, as files of a project that has the package installed. */

const folder = mkdtempSync(join(tmpdir(), 'countersign-examples-'));
const { examples, path } = layOutExamples(folder);
const ofKind = (wanted: string) => examples.filter(({ kind }) => kind === wanted);
let stage: ExampleStage;

beforeAll(async () => {
  const payloads = join(folder, 'payloads');
  mkdirSync(payloads);
  stage = await openExampleStage(path, payloads);
});
afterEach(() => stage.clearInbox());
afterAll(async () => {
  await stage.close();
  rmSync(folder, { recursive: true, force: true });
});

test.each(ofKind('server').map((each) => [each.title, each] as const))(
  '%s prints what it says',
  async (_title, { file, code }) => {
    if (/(?:approvals|workflow)\.list\(|approvalQueue\(/.test(code)) await stage.openRequest();
    const said = printedBy(code);
    expect(said).not.toEqual([]);
    expect(await printsOf(join(path, file))).toEqual(said);
  },
);

type Expected = [
  workflow: string,
  argument: string,
  decision: { approved: boolean; reason?: string } | undefined,
  unknown,
];
const denied = { approved: false, reason: 'No receipt' };

/** The workflows of the examples, and what they return. */
const workflows: Record<string, Expected> = {
  agentRun: ['askClerk', 'Where is order 7?', undefined, 'It is on its way.'],
  ApprovalGate: ['returnOrder', 'o-17', { approved: true }, 'refunded o-17'],
  forModel: ['refundForModel', 'o-17', denied, 'Denied: No receipt'],
  gateRefusal: ['refundOrExplain', 'o-17', denied, 'refund is denied: No receipt'],
};

test.each(ofKind('workflow').map(({ title }) => title))('the workflow of %s runs on a worker', async (title) => {
  expect(workflows).toHaveProperty(title);
  const [workflow, argument, decision, result] = workflows[title]!;
  expect(await stage.runWorkflow(workflow, argument, decision)).toEqual(result);
});

test('the page has examples of each kind', () => {
  expect(ofKind('server').length).toBeGreaterThan(10);
  expect(
    ofKind('workflow')
      .map(({ title }) => title)
      .toSorted(),
  ).toEqual(Object.keys(workflows).toSorted());
});

/** A namespace for the examples, and workers with the agents and workflows that they name. */
interface ExampleStage {
  client: CountersignClient;
  /** Starts a run that waits for an answer, and waits until the inbox has it. */
  openRequest(): Promise<void>;
  /** Closes the runs that wait, and waits until the inbox is empty. */
  clearInbox(): Promise<void>;
  /** Starts a workflow, answers its request if there is a decision, and returns its result. */
  runWorkflow(type: string, argument: string, decision?: { approved: boolean; reason?: string }): Promise<unknown>;
  close(): Promise<void>;
}

const policy = 'rules: [{ pattern: refund, action: ask, reason: Money leaves the house }]';

/** Sets the environment of this process, by which the examples reach the server. */
async function openExampleStage(project: string, payloadFolder: string): Promise<ExampleStage> {
  const namespace = `examples-${randomUUID()}`;
  Object.assign(process.env, { TEMPORAL_NAMESPACE: namespace, COUNTERSIGN_PAYLOAD_FOLDER: payloadFolder });
  await makeNamespace(namespace);
  const client = await createClient();
  await eventually('the search attributes', () => client.setUp().catch(() => undefined));
  const codePath = exampleBundle(testBundle());
  writeFileSync(codePath, (await bundleWorkflows(join(project, 'workflows.ts'))).code);
  const { clerk, support } = exampleAgents();
  const common = {
    policy,
    workflowBundle: { codePath },
    logLevel: 'ERROR',
    shutdownGraceTime: 500,
    ...testCache(),
  } as const;
  const workers = [
    await createWorker({ ...common, agents: [clerk, support] }),
    await createWorker({
      ...common,
      agents: [clerk],
      taskQueue: 'workflows',
      gated: { refund: { risk: 'destructive', arguments: ['orderId'] } },
      activities: { refund: (orderId: string) => Promise.resolve(`refunded ${orderId}`) },
      workflowTypes: ['returnOrder', 'refundForModel', 'refundOrExplain'],
    }),
  ];
  const running = workers.map((worker) => worker.run());
  const inbox = async () => (await client.approvals.list()).approvals;
  const openRequest = async (): Promise<string> => {
    const found = await eventually('a request in the inbox', async () => (await inbox())[0]);
    return found.requestId;
  };
  return {
    client,
    openRequest: async () => {
      await client.start('support', 'Please refund order o-17');
      await openRequest();
    },
    clearInbox: async () => {
      for (const { workflowId } of await inbox()) await client.closeRun(workflowId).catch(() => undefined);
      await eventually('an empty inbox', async () => (await inbox()).length === 0);
    },
    runWorkflow: async (type, argument, decision) => {
      const { workflow } = client.session.client;
      const handle = await workflow.start(type, { workflowId: type, taskQueue: 'workflows', args: [argument] });
      if (decision !== undefined) await client.decide({ requestId: await openRequest(), ...decision });
      return handle.result();
    },
    close: async () => {
      for (const worker of workers) worker.shutdown();
      await Promise.all(running);
      await client.close();
    },
  };
}

/** `clerk` answers at once; `support` makes a refund, which asks. */
function exampleAgents() {
  const clerk = defineAgent({
    name: 'clerk',
    instructions: 'You look orders up.',
    model: scriptedModel([{ text: 'It is on its way.' }]),
  });
  const refund = defineTool({
    name: 'refund',
    description: 'Refunds an order.',
    input: z.object({ orderId: z.string(), amount: z.number() }),
    execute: ({ orderId, amount }) => `refunded ${amount} for ${orderId}`,
  });
  const support = defineAgent({
    name: 'support',
    instructions: 'You help customers with their orders.',
    model: scriptedModel([
      { calls: [{ tool: 'refund', args: { orderId: 'o-17', amount: 20 } }] },
      { text: '{{lastResult}}' },
    ]),
    tools: [refund],
  });
  return { clerk, support };
}

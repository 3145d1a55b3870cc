import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Gateway, startGateway } from '../../../packages/gateway/src/index.ts';
import { createClient } from '../../../src/client/client.ts';
import type { CountersignClient } from '../../../src/client/countersign-client.ts';
import type { ApprovalRequest } from '../../../src/contract.ts';
import type { WorkerOptions } from '../../../src/worker.ts';
import { createWorker } from '../../../src/worker.ts';
import { eventually } from '../../support/eventually.ts';
import { inboxAgents, inboxPolicy, scripts } from './inbox-agents.ts';

/** A gateway with runs in every state, for tests of the inbox's look and for its pictures. */
export interface InboxStage {
  gateway: Gateway;
  client: CountersignClient;
  /** By workflow id: its open requests. */
  open: Readonly<Record<string, ApprovalRequest[]>>;
  /** Starts a further run, and waits for its request. */
  start(workflowId: string, script: keyof typeof scripts): Promise<ApprovalRequest[]>;
  close(): Promise<void>;
}

export interface InboxStageOptions {
  address: string;
  namespace?: string;
  workflowBundle?: WorkerOptions['workflowBundle'];
  undoMs?: number;
}

const waiting = {
  'ticket-17': 'broken',
  'ticket-21': 'late',
  'disk-web-2': 'logs',
  'limits-4': 'config',
  'invoice-9': 'odd',
} as const satisfies Record<string, keyof typeof scripts>;

/** Opens the stage. Its namespace must be set up, and nobody else may use it. */
export async function openInboxStage(options: InboxStageOptions): Promise<InboxStage> {
  const { address, namespace, workflowBundle, undoMs } = options;
  const folder = mkdtempSync(join(tmpdir(), 'countersign-stage-'));
  const policy = join(folder, 'policy.yaml');
  writeFileSync(policy, inboxPolicy);
  const common = { address, ...(namespace !== undefined && { namespace }) };
  const worker = await createWorker({
    ...common,
    agents: inboxAgents(),
    policy,
    logLevel: 'ERROR',
    shutdownGraceTime: 500,
    ...(workflowBundle !== undefined && { workflowBundle }),
  });
  const working = worker.run();
  const client = await createClient(common);
  const gateway = await startGateway({
    client,
    port: 0,
    log: () => undefined,
    temporalUi: 'http://127.0.0.1:8233',
    ...(undoMs !== undefined && { undoMs }),
    authenticator: {
      authenticate: async () => ({
        id: 'rita',
        roles: ['viewer', 'starter', 'reviewer', 'operator'],
        groups: ['support-leads'],
        via: 'local',
        key: 'local:rita',
      }),
    },
  });
  const start = async (workflowId: string, script: keyof typeof scripts): Promise<ApprovalRequest[]> => {
    const agent = script === 'logs' || script === 'config' ? 'ops' : 'support';
    await client.start(agent, scripts[script], { workflowId, caller: { userId: 'carl' } });
    return eventually(`${workflowId} asks`, async () => {
      const { approvals } = await client.approvals.list({ workflowId });
      const rows = await Promise.all(approvals.map(({ requestId }) => client.approvals.get(requestId, { workflowId })));
      return rows.length > 0 && rows;
    });
  };
  const open: Record<string, ApprovalRequest[]> = {};
  for (const [workflowId, script] of Object.entries(waiting)) open[workflowId] = await start(workflowId, script);
  await settleSome(client, start);
  return {
    gateway,
    client,
    open,
    start,
    close: async () => {
      await gateway.stop();
      await client.close();
      worker.shutdown();
      await working;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Answers of two reviewers, one of whom answers in haste, and one with a grant. */
async function settleSome(client: CountersignClient, start: InboxStage['start']): Promise<void> {
  const answers = [
    ['ticket-30', { approved: true, reviewerId: 'bob', viewed: { channel: 'inbox', durationMs: 900 } }],
    ['ticket-31', { approved: true, reviewerId: 'bob', viewed: { channel: 'inbox', durationMs: 700 } }],
    ['ticket-32', { approved: true, reviewerId: 'bob', viewed: { channel: 'inbox', durationMs: 1_100 } }],
    ['ticket-33', { approved: true, reviewerId: 'bob', viewed: { channel: 'inbox', durationMs: 800 } }],
    ['ticket-34', { approved: true, reviewerId: 'bob', viewed: { channel: 'inbox', durationMs: 600 } }],
    [
      'ticket-35',
      { approved: false, reason: 'The charge was right', reviewerId: 'rita', viewed: { durationMs: 48_000 } },
    ],
  ] as const;
  for (const [workflowId, answer] of answers) {
    const [request] = await start(workflowId, 'twice');
    await client.decide({ requestId: request!.requestId, ...answer });
    await client.run(workflowId).result();
  }
  const [mail] = await start('ticket-40', 'late');
  const always = { kind: 'arguments', match: { to: 'carl@example.com' }, uses: 5 } as const;
  await client.decide({ requestId: mail!.requestId, approved: true, reviewerId: 'rita', always });
  await client.run('ticket-40').result();
}

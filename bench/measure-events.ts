/** The runs whose history events have a budget (B1, B2), each compared to the same run written by hand. */
import type { WorkflowHandle } from '@temporalio/client';
import type { ApprovalRequest, RunInput, RunStatus } from '../src/contract.ts';
import type { ScriptedTurn } from '../src/models/scripted.ts';
import type { BareInput } from './bare-workflows.ts';
import { type EventCounts, countEvents, difference, furtherTasks, total } from './event-counts.ts';
import type { Stage } from './stage.ts';
import { until } from './until.ts';

export interface EventRow {
  name: string;
  /** Events of the whole history. */
  ours: number;
  /** The same model and tool activities without a gate, and with a hand-written gate if a call is asked about. */
  bare: number;
  handWrittenGate?: number;
  /**
   * Additional events compared to the bare run, without those that each run has once (`countersign.loadAgent`); by
   * kind.
   */
  added: EventCounts;
  addedTotal: number;
  /** The difference in tasks that only report the ends of concurrent tools: chance, not cost. */
  byChance: number;
  /** The most events that may be added. */
  budget?: number;
}

export interface EventReport {
  /** The additional events that each run has once, whatever it does. */
  once: EventCounts;
  rows: EventRow[];
}

const look = { tool: 'look', args: { what: 'sea' } };
const pay = (amount: number) => ({ tool: 'pay', args: { to: 'ann', amount } });
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, each) => make(each));
const done: ScriptedTurn = { text: 'done' };

/** By the message that starts the run. */
export const eventScripts: Record<string, ScriptedTurn[]> = {
  'no call': [done],
  '1 allowed': [{ calls: [look] }, done],
  '2 allowed': [...times(2, () => ({ calls: [look] })), done],
  '5 allowed': [...times(5, () => ({ calls: [look] })), done],
  '8 allowed in one turn': [{ calls: times(8, () => look) }, done],
  '1 asked': [{ calls: [pay(1)] }, done],
  '8 asked': [{ calls: times(8, pay) }, done],
};

type Act = (run: WorkflowHandle, open: ApprovalRequest[]) => Promise<void>;

interface Scenario {
  name: string;
  script: string;
  asks?: number;
  /** Acts for the reviewers once all requests are open. If it is absent, nobody answers. */
  act?: Act;
  input?: Partial<RunInput>;
  /** The hand-written counterpart. */
  bare?: Partial<BareInput>;
  /** The signals to the hand-written gate: one for all, or one for each. */
  bareSignals?: 'together' | 'apart';
  approved?: boolean;
  budget?: number;
}

export async function measureEvents(stage: Stage): Promise<EventReport> {
  const together =
    (approved: boolean): Act =>
    (run, open) =>
      run.signal(
        'decide',
        open.map(({ requestId }) => ({ requestId, approved })),
      );
  const apart =
    (approved: boolean): Act =>
    async (run, open) => {
      for (const [index, { requestId }] of open.entries()) {
        await run.signal('decide', { requestId, approved });
        // For denials only: the run stays open until the last one.
        if (index < open.length - 1) await settled(run, open.length - index - 1);
      }
    };
  const byUpdate: Act = async (run, open) => {
    await run.executeUpdate('decide', { args: [{ requestId: open[0]!.requestId, approved: true }] });
  };
  const watched: Act = async (run, open) => {
    await watch(stage, run);
    await together(true)(run, open);
  };
  const scenarios: Scenario[] = [
    ...['1 allowed', '2 allowed', '5 allowed', '8 allowed in one turn'].map((name) => ({
      name,
      script: name,
      budget: 0,
    })),
    { name: '1 asked, approved', script: '1 asked', asks: 1, act: together(true), approved: true, budget: 10 },
    { name: '1 asked, denied', script: '1 asked', asks: 1, act: together(false), approved: false, budget: 10 },
    { name: '1 asked, 25 viewers', script: '1 asked', asks: 1, act: watched, approved: true, budget: 10 },
    { name: '1 asked, approved by update', script: '1 asked', asks: 1, act: byUpdate, approved: true },
    {
      name: '1 asked, expired',
      script: '1 asked',
      input: { policy: { version: 1, approval: { timeout: '1s' } } },
      bare: { timeoutMs: 1_000 },
      approved: false,
      budget: 10,
    },
    { name: '8 asked, 1 signal approves', script: '8 asked', asks: 8, act: together(true), approved: true, budget: 12 },
    { name: '8 asked, 1 signal denies', script: '8 asked', asks: 8, act: together(false), approved: false, budget: 12 },
    {
      name: '8 asked, 8 signals deny',
      script: '8 asked',
      asks: 8,
      act: apart(false),
      approved: false,
      bareSignals: 'apart',
    },
  ];
  const once = difference(await ours(stage, { name: '', script: 'no call' }), await bareOf(stage, 'no call'));
  const rows: EventRow[] = [];
  for (const scenario of scenarios) rows.push(await rowOf(stage, scenario, once));
  return { once, rows };
}

async function rowOf(stage: Stage, scenario: Scenario, once: EventCounts): Promise<EventRow> {
  const { name, script, bare, approved, asks, bareSignals = 'together', budget } = scenario;
  const [counted, plain] = [
    await ours(stage, scenario),
    await bareOf(stage, script, { ...bare, runsNothing: approved === false }),
  ];
  const { [furtherTasks]: byChance = 0, ...added } = difference(difference(counted, plain), once);
  const gated =
    approved === undefined ? undefined : await gatedOf(stage, script, { ...bare }, asks ?? 0, approved, bareSignals);
  return {
    name,
    ours: total(counted),
    bare: total(plain),
    ...(gated === undefined ? {} : { handWrittenGate: total(gated) }),
    added,
    addedTotal: total(added),
    byChance,
    ...(budget === undefined ? {} : { budget }),
  };
}

async function ours(stage: Stage, { script, asks, act, input }: Scenario): Promise<EventCounts> {
  const run = await stage.startOurs(script, input);
  if (act !== undefined) await act(run, await opened(run, asks ?? 0));
  await run.result();
  return countEvents(await run.fetchHistory());
}

async function bareOf(stage: Stage, script: string, input: Partial<BareInput> = {}): Promise<EventCounts> {
  const run = await stage.startBare('bareRun', script, input);
  await run.result();
  return countEvents(await run.fetchHistory());
}

async function gatedOf(
  stage: Stage,
  script: string,
  input: Partial<BareInput>,
  asks: number,
  approved: boolean,
  signals: 'together' | 'apart',
): Promise<EventCounts> {
  const run = await stage.startBare('bareGatedRun', script, input);
  const decisions = times(asks, (index) => ({ callId: `1.${index + 1}`, approved }));
  if (asks > 0) await eventOf(run, 'timerStartedEventAttributes', asks);
  for (const [index, decision] of decisions.entries()) {
    if (signals === 'apart') {
      await run.signal('decide', decision);
      await eventOf(run, 'timerCanceledEventAttributes', index + 1);
    }
  }
  if (signals === 'together' && asks > 0) await run.signal('decide', decisions);
  await run.result();
  return countEvents(await run.fetchHistory());
}

/** Sends the requests of 25 people who have the inbox and the run's page open, twice each. */
async function watch({ client }: Stage, run: WorkflowHandle): Promise<void> {
  const look = async (): Promise<void> => {
    await client.approvals.list();
    await client.show(run.workflowId);
    await run.query('approvals');
    await run.query('transcript');
  };
  await Promise.all(times(25, async () => [await look(), await look()]));
}

async function opened(run: WorkflowHandle, count: number): Promise<ApprovalRequest[]> {
  return until(`${count} open requests`, async () => {
    const open = await run.query<ApprovalRequest[]>('approvals');
    return open.length >= count && open;
  });
}

async function settled(run: WorkflowHandle, left: number): Promise<unknown> {
  return until(`${left} left open`, async () => (await run.query<RunStatus>('run')).counts.open === left);
}

async function eventOf(run: WorkflowHandle, attributes: string, count: number): Promise<unknown> {
  return until(`${count} of ${attributes}`, async () => {
    const { events } = await run.fetchHistory();
    return (events ?? []).filter((event) => event[attributes as keyof typeof event] != null).length >= count;
  });
}

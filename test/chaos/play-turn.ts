import { setTimeout as sleep } from 'node:timers/promises';
import type { CountersignClient } from '../../src/client/client.ts';
import { changedPolicyOf } from './approval-settings.ts';
import type { RunUnderWay } from './run-under-way.ts';
import type { PlannedChange, PlannedControl, PlannedSend, PlannedWhen } from './schedule.ts';
import { sendControl } from './send-control.ts';
import { sendDecision } from './send-decision.ts';
import type { SentChange } from './sent-change.ts';
import type { SentControl } from './sent-control.ts';
import type { SentItem } from './sent-item.ts';

/** Who is told of what was sent. */
export interface Told {
  sent: (items: SentItem[]) => void;
  /** Nothing, where its request was never seen. */
  controlled: (control: SentControl | undefined) => void;
  changed: (change: SentChange) => void;
}

/** Does to one turn, which was just seen to ask, what its plan says. */
export async function playTurn(client: CountersignClient, run: RunUnderWay, turn: number, tell: Told): Promise<void> {
  const { plan, workflowId, signal } = run;
  const { sends, controls, strays, changes } = plan.turns[turn]!;
  const seenAtMs = Date.now();
  const handle = client.session.client.workflow.getHandle(workflowId);
  const tryFor = (act: () => Promise<unknown>): Promise<boolean> =>
    client.session.connection.withDeadline(Date.now() + 5_000, act).then(
      () => true,
      () => false,
    );

  const play = async (send: PlannedSend): Promise<void> => {
    await timeOf(
      send.when,
      send.items.map(({ call }) => call),
    );
    const items = send.items.flatMap((item) => {
      const requestId = requestOf(run, turn, item.call)?.requestId;
      return requestId === undefined ? [] : [{ item, requestId }];
    });
    const { door } = send;
    const sending = { run: plan.name, workflowId, door, items, signal: untilGivenUp() };
    tell.sent(items.length === 0 ? [] : await sendDecision(client, sending));
  };
  const playControl = async (control: PlannedControl): Promise<void> => {
    const calls = control.kind === 'revoke' ? [] : [control.call];
    await timeOf(control.when, calls);
    const [about] = calls.map((call) => requestOf(run, turn, call));
    const sending = { run: plan.name, workflowId, control, ...(about && { about }), signal: untilGivenUp() };
    const isPossible = control.kind === 'revoke' || about !== undefined;
    tell.controlled(isPossible ? await sendControl(client, sending) : undefined);
  };
  /** One try is made after the end, too: what comes late must do no harm. */
  const untilGivenUp = (): AbortSignal =>
    signal.aborted ? AbortSignal.timeout(3_000) : AbortSignal.any([AbortSignal.timeout(60_000), signal]);
  const timeOf = (when: PlannedWhen, calls: readonly number[]): Promise<void> =>
    waitUntil(when, calls, { run, turn, seenAtMs });
  const stray = async (): Promise<void> => {
    for (let count = 0; count < strays && !signal.aborted; count++) await tryFor(() => handle.signal('stray', count));
  };
  const change = async (planned: PlannedChange): Promise<void> => {
    await pause(planned.afterMs, signal);
    if (signal.aborted) return;
    tell.changed({ run: plan.name, change: planned, sentAtMs: Date.now() });
    const { messageId, door } = planned;
    const message = { policy: changedPolicyOf(plan, planned), by: 'eve', messageId };
    const send = async (): Promise<boolean> =>
      tryFor(() =>
        door === 'signal'
          ? handle.signal('setPolicy', message)
          : handle.executeUpdate('setPolicy', { args: [message] }),
      );
    while (!signal.aborted && !(await send())) await pause(250, signal);
  };
  const end = async (): Promise<void> => {
    if (plan.end.kind === 'itself' || plan.end.turn !== turn) return;
    await pause(plan.end.afterMs, signal);
    while (!signal.aborted) {
      await tryFor(() => (plan.end.kind === 'cancel' ? handle.cancel() : handle.terminate('the plan says so')));
      await pause(1_000, signal);
    }
  };
  await Promise.all([...sends.map(play), ...controls.map(playControl), ...changes.map(change), stray(), end()]);
}

/** Waits until it is time, or the run is over. */
async function waitUntil(
  when: PlannedWhen,
  calls: readonly number[],
  { run, turn, seenAtMs }: { run: RunUnderWay; turn: number; seenAtMs: number },
): Promise<void> {
  if (when === 'settled') {
    const looked = run.looks;
    const ids = (): string[] => calls.flatMap((call) => requestOf(run, turn, call)?.requestId ?? []);
    const isOpen = (): boolean => run.looks <= looked + 1 || ids().some((id) => run.listed.has(id));
    while (isOpen() && !run.signal.aborted) await pause(50, run.signal);
  } else if ('afterMs' in when) {
    await pause(seenAtMs + when.afterMs - Date.now(), run.signal);
  } else {
    const deadlineMs = requestOf(run, turn, calls[0]!)?.deadlineMs ?? Date.now();
    await pause(deadlineMs - when.beforeDeadlineMs - Date.now(), run.signal);
  }
}

function requestOf({ requests }: RunUnderWay, turn: number, call: number) {
  return [...requests.values()].find((each) => each.turn === turn && each.call === call);
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.max(0, ms), undefined, { signal }).catch(() => undefined);
}

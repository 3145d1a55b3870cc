import { setTimeout as sleep } from 'node:timers/promises';
import { changedPolicyOf } from './approval-settings.ts';
import type { RunUnderWay } from './run-under-way.ts';
import { repeatUntilAnswered } from './repeat-until-answered.ts';
import type { PlannedControl } from './planned-control.ts';
import type { PlannedChange, PlannedSend } from './schedule.ts';
import type { PlannedWhen } from './planned-when.ts';
import type { Sender } from './senders.ts';
import { writtenBy } from './senders.ts';
import { sendControl } from './send-control.ts';
import { sendDecision } from './send-decision.ts';
import type { SentChange } from './sent-change.ts';
import type { SentControl } from './sent-control.ts';
import type { SentItem } from './sent-item.ts';

/** Callbacks that record what was sent. */
export interface Told {
  sent: (items: SentItem[]) => void;
  /** Called with undefined if the message's request was never seen. */
  controlled: (control: SentControl | undefined) => void;
  changed: (change: SentChange) => void;
}

/** Carries out the plan of one turn whose requests were just seen. */
export async function playTurn(senders: readonly Sender[], run: RunUnderWay, turn: number, tell: Told): Promise<void> {
  const { plan, workflowId, signal } = run;
  const { sends, controls, strays, changes } = plan.turns[turn]!;
  const seenAtMs = Date.now();
  const tryFor = ({ connection }: Sender, act: () => Promise<unknown>): Promise<void> =>
    connection.withDeadline(Date.now() + 5_000, act).then(
      () => undefined,
      () => undefined,
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
    const sending = { plan, workflowId, via: send.via, items, signal: untilGivenUp() };
    if (turn === plan.turns.length - 1) run.isEnding ||= items.some(({ item }) => item.fault === undefined);
    tell.sent(items.length === 0 ? [] : await sendDecision(senders[send.sender]!, sending));
  };
  const playControl = async (control: PlannedControl): Promise<void> => {
    const calls = control.kind === 'revoke' ? [] : [control.call];
    await timeOf(control.when, calls);
    const [about] = calls.map((call) => requestOf(run, turn, call));
    const sending = { plan, workflowId, control, ...(about && { about }), signal: untilGivenUp() };
    const isPossible = control.kind === 'revoke' || about !== undefined;
    tell.controlled(isPossible ? await sendControl(senders[control.sender]!, sending) : undefined);
  };
  /** After the run has ended, one attempt is still made: a late message must do no harm. */
  const untilGivenUp = (): AbortSignal =>
    signal.aborted ? AbortSignal.timeout(3_000) : AbortSignal.any([AbortSignal.timeout(longestSendMs), signal]);
  const timeOf = (when: PlannedWhen, calls: readonly number[]): Promise<void> =>
    waitUntil(when, calls, { run, turn, seenAtMs });
  const stray = async (): Promise<void> => {
    for (let count = 0; count < strays && !signal.aborted; count++) {
      const sender = senders[count % senders.length]!;
      await tryFor(sender, () => sender.workflow.getHandle(workflowId).signal('stray', writtenBy(sender, count)));
    }
  };
  const change = async (planned: PlannedChange): Promise<void> => {
    await pause(planned.afterMs, signal);
    if (signal.aborted) return;
    tell.changed({ run: plan.name, change: planned, sentAtMs: Date.now() });
    const { messageId, via } = planned;
    const sender = senders[planned.sender]!;
    const message = writtenBy(sender, { policy: changedPolicyOf(plan, planned), by: 'eve', messageId });
    const handle = sender.workflow.getHandle(workflowId);
    await repeatUntilAnswered(sender, signal, () =>
      via === 'signal' ? handle.signal('setPolicy', message) : handle.executeUpdate('setPolicy', { args: [message] }),
    );
  };
  const end = async (): Promise<void> => {
    if (plan.end.kind === 'itself' || plan.end.turn !== turn) return;
    await pause(plan.end.afterMs, signal);
    const sender = senders[0]!;
    const handle = sender.workflow.getHandle(workflowId);
    while (!signal.aborted) {
      const isCancelled = plan.end.kind === 'cancel';
      await tryFor(sender, () => (isCancelled ? handle.cancel() : handle.terminate('the plan says so')));
      await pause(1_000, signal);
    }
  };
  await Promise.all([...sends.map(play), ...controls.map(playControl), ...changes.map(change), stray(), end()]);
}

/** Allows for a busy machine. */
const longestSendMs = 180_000;
/** A nested run may never reach its last turn. */
const longestNestedMs = 15_000;

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
  } else if ('nested' in when) {
    const nested = run.nested.get(`${run.plan.name}/${turn + 1}.${when.nested + 1}`);
    const untilMs = seenAtMs + longestNestedMs;
    const mayEnd = (): boolean => nested === undefined || nested.isEnding || Date.now() > untilMs;
    while (!mayEnd() && !run.signal.aborted) await pause(10, run.signal);
    await pause(when.afterNestedMs, run.signal);
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

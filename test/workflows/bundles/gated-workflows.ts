/** Workflows of people who use the gate, for cases that the examples do not show. */
import {
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  makeContinueAsNewFunc,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
} from '@temporalio/workflow';
import type { Caller, CarriedGate } from '../../../src/workflow.ts';
import { ApprovalGate, forModel } from '../../../src/workflow.ts';
import type { GatedTestActivities } from '../guarded/gated-activities.ts';
import { gated } from '../guarded/gated-declarations.ts';

export { agentRun } from '../../../src/workflow.ts';

const activities = proxyActivities<GatedTestActivities>({ startToCloseTimeout: '1 minute' });
const locally = proxyLocalActivities<GatedTestActivities>({ startToCloseTimeout: '1 minute' });
const elsewhere = proxyActivities<Record<string, (...args: unknown[]) => Promise<unknown>>>({
  startToCloseTimeout: '1 minute',
});

/** How a promise ended, as JSON. */
async function told(promise: Promise<unknown>): Promise<unknown> {
  try {
    return { result: await promise };
  } catch (error) {
    if (error instanceof ApplicationFailure) {
      return {
        type: error.type,
        message: error.message,
        nonRetryable: error.nonRetryable,
        details: error.details?.[0],
      };
    }
    const { name, cause } = error as Error;
    return { name, cause: (cause as { type?: string } | undefined)?.type ?? (cause as Error | undefined)?.name };
  }
}

async function openGate(): Promise<ApprovalGate> {
  const gate = new ApprovalGate();
  gate.guard(activities, gated);
  await gate.load({ agent: 'tester' });
  return gate;
}

/** `timeoutS`: how long its activity may take. Default 60. */
export type Step = { name: string; args: unknown[]; how?: 'local' | 'model'; timeoutS?: number };

/** Makes all calls at once and returns how each ended. */
export async function calls(steps: Step[]): Promise<unknown[]> {
  await openGate();
  return Promise.all(
    steps.map(({ name, args, how, timeoutS }) => {
      const timed = timeoutS !== undefined && proxyActivities<object>({ startToCloseTimeout: `${timeoutS}s` });
      const proxy = (timed || (how === 'local' ? locally : activities)) as unknown as typeof elsewhere;
      const made = (): Promise<unknown> => proxy[name]!(...args);
      return how === 'model' ? forModel(made) : told(how === 'local' ? Promise.resolve().then(made) : made());
    }),
  );
}

/** Makes the calls one after another. */
export async function inTurn(steps: Step[]): Promise<unknown[]> {
  await openGate();
  const ends: unknown[] = [];
  for (const { name, args } of steps)
    ends.push(await told((activities as unknown as typeof elsewhere)[name]!(...args)));
  return ends;
}

/** Makes the calls one after another, with their activities on another task queue. */
export async function callsElsewhere(taskQueue: string, steps: Step[]): Promise<unknown[]> {
  await openGate();
  const there = proxyActivities<Record<string, (...args: unknown[]) => Promise<unknown>>>({
    taskQueue,
    startToCloseTimeout: '1 minute',
  });
  const ends: unknown[] = [];
  for (const { name, args } of steps) ends.push(await told(there[name]!(...args)));
  return ends;
}

/** Makes the calls without a gate, as anybody may write it. */
export async function bareCalls(steps: Step[]): Promise<unknown[]> {
  return Promise.all(steps.map(({ name, args }) => told(elsewhere[name]!(...args))));
}

/** `bareCalls` under a name that the worker trusts. */
export function trustedCalls(steps: Step[]): Promise<unknown[]> {
  return bareCalls(steps);
}

/** Guards an activity that its worker does not declare as gated. */
export async function gatesTooMuch(): Promise<unknown> {
  const gate = new ApprovalGate();
  gate.guard(activities, { free: { risk: 'write' } });
  return told(gate.load({ agent: 'tester' }));
}

/** Calls before the policies are loaded, guards after that, and creates a second gate. */
export async function misuses(): Promise<unknown[]> {
  const gate = new ApprovalGate();
  gate.guard(activities, gated);
  const early = await told(activities.pay('a', 1));
  const misspelt = { agent: 'tester', polcy: {} };
  const unknown = await told(gate.load(misspelt));
  await gate.load({ agent: 'tester' });
  const late = await told(Promise.resolve().then(() => gate.guard(activities, gated)));
  const second = await told(Promise.resolve().then(() => new ApprovalGate().guard(activities, {})));
  return [early, unknown, late, second];
}

/** Misspells an option of the gate, or of an activity that it guards. */
export async function misspells(where: 'gate' | 'guard'): Promise<unknown> {
  const [ofGate, ofGuard] = [{ refuseUnknown: true }, { pay: { rsk: 'destructive' } }];
  const gate = new ApprovalGate(where === 'gate' ? (ofGate as object) : {});
  gate.guard(activities, where === 'guard' ? (ofGuard as object) : gated);
  return told(gate.load({ agent: 'tester' }));
}

/** Waits for one call in its own cancellation scope, until signal `enough`. */
export async function givesUp(): Promise<unknown> {
  const scope = new CancellationScope();
  let enough = false;
  setHandler(defineSignal('enough'), () => {
    enough = true;
    scope.cancel();
  });
  const gate = await openGate();
  const waited = await told(scope.run(() => activities.pay('a', 1)));
  await gate.until(() => enough);
  return waited;
}

/** Cancels a call synchronously after making it, then makes another. */
export async function thinksAgain(): Promise<unknown> {
  await openGate();
  const scope = new CancellationScope();
  const given = told(scope.run(() => activities.look('a')));
  scope.cancel();
  await given;
  return told(activities.look('b'));
}

/** Sets the handler of its own signal only after its first call. Returns the notes. */
export async function notesLate(refuseUnknownSignals: boolean, name = 'note'): Promise<unknown[]> {
  const gate = new ApprovalGate({ refuseUnknownSignals });
  const { pay } = gate.guard(activities, gated);
  await gate.load({ agent: 'tester' });
  await pay('a', 1);
  const notes: unknown[] = [];
  setHandler(defineSignal<[unknown]>(name), (note) => {
    notes.push(note);
  });
  return notes;
}

/** Continues as new on each signal `roll` while its call waits. */
export async function rolls(executions: number, carried?: CarriedGate): Promise<unknown> {
  let rolling = false;
  setHandler(defineSignal('roll'), () => {
    rolling = true;
  });
  const gate = new ApprovalGate();
  const { pay } = gate.guard(activities, gated);
  await gate.load({ agent: 'tester' }, carried);
  let paid: unknown;
  void told(pay('a', 1)).then((end) => {
    paid = end;
  });
  await gate.until(() => rolling || paid !== undefined);
  if (paid !== undefined) return { executions, paid };
  const { memo, carried: next } = gate.carry();
  return makeContinueAsNewFunc<typeof rolls>({ memo })(executions + 1, next);
}

/** Continues as new with its own argument as carried state; no gate has verified that argument. */
export async function passesOn(carried: CarriedGate, again = false): Promise<unknown> {
  const gate = new ApprovalGate();
  gate.guard(activities, gated);
  if (!again) return continueAsNew<typeof passesOn>(carried, true);
  return told(gate.load({ agent: 'tester' }, carried));
}

/** Continues as new once, then loads the state from signal `state` instead of the carried one. */
export async function takesFromSignal(carried?: CarriedGate): Promise<unknown> {
  let brought: CarriedGate | undefined;
  setHandler(defineSignal<[CarriedGate]>('state'), (state) => {
    brought = state;
  });
  const gate = new ApprovalGate();
  const { pay } = gate.guard(activities, gated);
  if (carried !== undefined) {
    await condition(() => brought !== undefined);
    return told(gate.load({ agent: 'tester' }, brought));
  }
  await gate.load({ agent: 'tester' });
  void told(pay('a', 1));
  await gate.until(() => gate.openRequests.length === 1);
  const { memo, carried: next } = gate.carry();
  return makeContinueAsNewFunc<typeof takesFromSignal>({ memo })(next);
}

/** Returns, or fails, while its call waits. */
export async function leaves(how: 'returns' | 'fails'): Promise<string> {
  const gate = await openGate();
  void activities.pay('a', 1);
  await gate.until(() => gate.openRequests.length === 1);
  if (how === 'fails') throw ApplicationFailure.nonRetryable('gave up', 'gave_up');
  return 'done';
}

/** Ends on signal `enough`, whatever happens to its call. */
export async function leavesWhenTold(): Promise<string> {
  let enough = false;
  setHandler(defineSignal('enough'), () => {
    enough = true;
  });
  const gate = await openGate();
  void told(activities.pay('a', 1));
  await gate.until(() => enough);
  return 'done';
}

/** Passes its argument to an activity that is not gated. */
export async function handsOn(given: unknown): Promise<unknown> {
  await openGate();
  return told(activities.free(given));
}

/** Continues as new `hops` promise steps after its call was settled. */
export async function rollsLate(hops: number, carried?: CarriedGate): Promise<unknown> {
  const gate = new ApprovalGate();
  const { pay } = gate.guard(activities, gated);
  await gate.load({ agent: 'tester' }, carried);
  const paying = told(pay('a', 1));
  if (carried !== undefined) return paying;
  await gate.until(() => gate.openRequests.length === 1);
  await gate.until(() => gate.openRequests.length === 0);
  for (let hop = 0; hop < hops; hop++) await Promise.resolve();
  if (gate.busy) return paying;
  const { memo, carried: next } = gate.carry();
  return makeContinueAsNewFunc<typeof rollsLate>({ memo })(hops, next);
}

/** Says for whom it works when it begins, continues as new, and then pays. */
export async function worksFor(caller: Caller, carried?: CarriedGate): Promise<unknown> {
  const gate = new ApprovalGate();
  const { pay } = gate.guard(activities, gated);
  if (carried !== undefined) {
    await gate.load({ agent: 'tester' }, carried);
    return told(pay('a', 1));
  }
  await gate.load({ agent: 'tester', caller });
  const { memo, carried: next } = gate.carry();
  return makeContinueAsNewFunc<typeof worksFor>({ memo })(caller, next);
}

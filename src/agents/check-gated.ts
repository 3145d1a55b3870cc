import type { GatedActivities, GatedDefinition, GatedActivity } from '../core/policy/gated-activity.ts';
import { gatedActivityOptions, gatedDefinition } from '../core/policy/gated-activity.ts';
import { risks } from '../core/base/tool-call.ts';
import { checkOptions, checkPositiveInteger, DefinitionError, type Fail, failAt } from './check-options.ts';
import { checkToolName, longestMs, readShow, checkBeside, shellSubjectOptions } from './define-tool.ts';
import { instantMs } from '../core/messages/control.ts';

/** Returns the ungated window of each gated activity that declares one, by the activity's name. */
export function ungatedWindows(gated: GatedActivities): ReadonlyMap<string, UngatedWindow> {
  return new Map(
    Object.entries(gated).flatMap(([name, declared]): [string, UngatedWindow][] => {
      const window = ungatedWindow(`gated activity '${name}'`, declared);
      return window === undefined ? [] : [[name, window]];
    }),
  );
}

/** Returns the definitions of gated activities by name. Throws a `DefinitionError` for an invalid declaration. */
export function checkGated(gated: GatedActivities): ReadonlyMap<string, GatedDefinition> {
  if (typeof gated !== 'object' || gated === null || Array.isArray(gated)) {
    throw new DefinitionError('gated must be an object: activity names, and how each is gated');
  }
  return new Map(
    Object.entries(gated).map(([name, declared]) => {
      checkToolName(name);
      checkOne(`gated activity '${name}'`, declared);
      return [name, gatedDefinition(name, declared)];
    }),
  );
}

/** Throws a `DefinitionError` for an invalid declaration of one gated activity. */
function checkOne(place: string, declared: GatedActivities[string]): void {
  checkOptions(place, declared, gatedActivityOptions);
  const fail: Fail = failAt(place);
  const { risk = 'write', description = '', arguments: names, subject, idempotent = false, heartbeat } = declared;
  if (!risks.includes(risk)) fail(`risk must be one of ${risks.join(', ')}`);
  if (typeof description !== 'string') fail('description must be text');
  if (typeof idempotent !== 'boolean') fail('idempotent must be true or false');
  checkNames(place, names);
  checkSubject(place, subject, names);
  readShow(place, declared.show);
  if (heartbeat === undefined || heartbeat === false) return;
  checkOptions(`${place}: heartbeat`, heartbeat, ['timeoutMs']);
  checkPositiveInteger(`${place}: heartbeat.timeoutMs`, heartbeat.timeoutMs, longestMs);
}

/** Throws unless `names`, if they are given, are different names of arguments. */
function checkNames(place: string, names: unknown): void {
  if (names === undefined) return;
  const fail: Fail = failAt(place);
  if (
    !Array.isArray(names) ||
    !names.every((each) => typeof each === 'string' && /^[A-Za-z_][\w-]{0,63}$/.test(each))
  ) {
    fail(`arguments must be a list of names, by position, such as ['orderId', 'amount']`);
  }
  if (new Set(names).size !== names.length) fail('arguments must be different names');
}

/** Throws unless `subject`, if given, names an argument of `names`, alone or as `{ argument, shell: true, beside }`. */
function checkSubject(place: string, subject: unknown, names: readonly string[] | undefined): void {
  if (subject === undefined) return;
  const fail: Fail = failAt(place);
  const isShell = typeof subject === 'object';
  if (isShell) checkOptions(`${place}: subject`, subject, shellSubjectOptions);
  const { argument, shell, beside } = isShell ? (subject as Record<string, unknown>) : { argument: subject };
  if (isShell && shell !== true) fail('subject.shell must be true; for any other text name the argument alone');
  if (typeof argument !== 'string' || names?.includes(argument) === false) {
    const known = names?.join(', ') ?? 'none named';
    fail(`subject must name one of its arguments (${known})`);
  }
  if (beside !== undefined) checkBeside(place, beside, argument, names);
}

/** An execution that started before `sinceMs` has no gate yet. Until `untilMs`, its calls need no permit. */
export interface UngatedWindow {
  sinceMs: number;
  untilMs: number;
}

/** Reads the window of a declaration; undefined if it has none. Throws a `DefinitionError` for half a window. */
export function ungatedWindow(
  place: string,
  { gatedSince, ungatedUntil }: Pick<GatedActivity, 'gatedSince' | 'ungatedUntil'>,
): UngatedWindow | undefined {
  if (gatedSince === undefined && ungatedUntil === undefined) return undefined;
  const fail: Fail = failAt(place);
  if (gatedSince === undefined)
    fail('ungatedUntil needs gatedSince, the time from which every new execution has the gate');
  if (ungatedUntil === undefined) fail('gatedSince needs ungatedUntil');
  const sinceMs = readInstant(`${place}: gatedSince`, gatedSince);
  const untilMs = readInstant(`${place}: ungatedUntil`, ungatedUntil);
  if (sinceMs < untilMs) return { sinceMs, untilMs };
  fail('ungatedUntil must be later than gatedSince');
}

/** Reads an instant. A date alone stands for its first moment in UTC. */
function readInstant(place: string, text: unknown): number {
  const isDate = typeof text === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(text);
  const atMs = instantMs(isDate ? `${text}T00:00Z` : text);
  if (atMs !== undefined) return atMs;
  throw new DefinitionError(
    `${place} must be an instant with its offset, such as 2030-01-31T12:00:00Z, or a date such as 2030-01-31`,
  );
}

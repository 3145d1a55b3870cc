import type { GatedActivities, GatedDefinition } from '../core/policy/gated-activity.ts';
import { gatedActivityOptions, gatedDefinition } from '../core/policy/gated-activity.ts';
import { risks } from '../core/base/tool-call.ts';
import { checkOptions, checkPositiveInteger } from './check-options.ts';
import { checkToolName, longestMs } from './define-tool.ts';
import { DefinitionError } from './definition-error.ts';
import { ungatedWindow, type UngatedWindow } from './ungated-window.ts';
import { readShow } from './read-show.ts';
import { checkBeside, shellSubjectOptions } from './read-subject.ts';

/** The windows of gated activities that have one, by name. Throws as `checkGated`. */
export function ungatedWindows(gated: GatedActivities): ReadonlyMap<string, UngatedWindow> {
  return new Map(
    Object.entries(gated).flatMap(([name, declared]): [string, UngatedWindow][] => {
      const window = ungatedWindow(`gated activity '${name}'`, declared);
      return window === undefined ? [] : [[name, window]];
    }),
  );
}

/**
 * The declarations of gated activities, by name. Throws a `DefinitionError`, one sentence, for an invalid declaration.
 */
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

function checkOne(place: string, declared: GatedActivities[string]): void {
  checkOptions(place, declared, gatedActivityOptions);
  const { risk = 'write', description = '', arguments: names, subject, idempotent = false, heartbeat } = declared;
  if (!risks.includes(risk)) throw new DefinitionError(`${place}: risk must be one of ${risks.join(', ')}`);
  if (typeof description !== 'string') throw new DefinitionError(`${place}: description must be text`);
  if (typeof idempotent !== 'boolean') throw new DefinitionError(`${place}: idempotent must be true or false`);
  checkNames(place, names);
  checkSubject(place, subject, names);
  readShow(place, declared.show);
  if (heartbeat === undefined || heartbeat === false) return;
  checkOptions(`${place}: heartbeat`, heartbeat, ['timeoutMs']);
  checkPositiveInteger(`${place}: heartbeat.timeoutMs`, heartbeat.timeoutMs, longestMs);
}

function checkNames(place: string, names: unknown): void {
  if (names === undefined) return;
  if (
    !Array.isArray(names) ||
    !names.every((each) => typeof each === 'string' && /^[A-Za-z_][\w-]{0,63}$/.test(each))
  ) {
    throw new DefinitionError(
      `${place}: arguments must be a list of names, by position, such as ['orderId', 'amount']`,
    );
  }
  if (new Set(names).size === names.length) return;
  throw new DefinitionError(`${place}: arguments must be different names`);
}

function checkSubject(place: string, subject: unknown, names: readonly string[] | undefined): void {
  if (subject === undefined) return;
  const isShell = typeof subject === 'object';
  if (isShell) checkOptions(`${place}: subject`, subject, shellSubjectOptions);
  const { argument, shell, beside } = isShell ? (subject as Record<string, unknown>) : { argument: subject };
  if (isShell && shell !== true) {
    throw new DefinitionError(`${place}: subject.shell must be true; for any other text name the argument alone`);
  }
  if (typeof argument !== 'string' || names?.includes(argument) === false) {
    const known = names?.join(', ') ?? 'none named';
    throw new DefinitionError(`${place}: subject must name one of its arguments (${known})`);
  }
  if (beside !== undefined) checkBeside(place, beside, argument, names);
}

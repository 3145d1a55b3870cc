import { ApplicationFailure } from '@temporalio/workflow';
import type { ChangedDefinition } from '../../activities/changed-definition.ts';
import { definitionChangedType, refusedBySecondGate } from '../../core/base/tool-failure.ts';

/** What the second gate said of tool `name`, which has changed; undefined for every other failure. */
export function changedDefinitionOf(cause: unknown, name: string): ChangedDefinition | undefined {
  if (!(cause instanceof ApplicationFailure) || cause.type !== definitionChangedType) return undefined;
  const [by, change] = (cause.details ?? []) as [unknown, Partial<ChangedDefinition> | undefined];
  const isWhole = typeof change?.definition?.definition === 'string';
  // Whoever may fail activities can write the same: no other tool changes by it.
  return by === refusedBySecondGate && isWhole && change?.definition?.name === name
    ? (change as ChangedDefinition)
    : undefined;
}

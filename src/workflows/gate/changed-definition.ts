import { ApplicationFailure } from '@temporalio/workflow';
import type { ChangedDefinition } from '../../activities/changed-definition.ts';
import { definitionChangedType, refusedBySecondGate } from '../../core/base/tool-failure.ts';

/** The change that the second gate reported for tool `name`; undefined for every other failure. */
export function changedDefinitionOf(cause: unknown, name: string): ChangedDefinition | undefined {
  if (!(cause instanceof ApplicationFailure) || cause.type !== definitionChangedType) return undefined;
  const [by, change] = (cause.details ?? []) as [unknown, Partial<ChangedDefinition> | undefined];
  const isWhole = typeof change?.definition?.definition === 'string';
  // Anyone who may fail activities can write this failure too, so it must not change another tool.
  return by === refusedBySecondGate && isWhole && change?.definition?.name === name
    ? (change as ChangedDefinition)
    : undefined;
}

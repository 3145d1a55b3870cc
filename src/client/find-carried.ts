import { isObject } from '../core/base/is-object.ts';

/**
 * The state among the arguments of an execution that names the execution `before` it as its writer: of an agent run the
 * second argument, of a workflow of one's own any of them, or a member of one.
 */
export function findCarried(
  values: readonly unknown[],
  { isAgentRun, before }: { isAgentRun: boolean; before: string },
): Record<string, unknown> | undefined {
  const members = isAgentRun ? [values[1]] : values.flatMap((value) => (isObject(value) ? membersOf(value) : []));
  return members.filter(isObject).find(({ writer }) => isObject(writer) && writer['runId'] === before);
}

function membersOf(value: Record<string, unknown>): unknown[] {
  return [value, ...Object.values(value)];
}

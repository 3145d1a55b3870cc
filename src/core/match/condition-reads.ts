import { parse } from './cel.ts';
import type { ConditionVariables } from './condition.ts';

type Node = Readonly<Record<string, unknown>>;

/**
 * True if the condition reads one of these variables. An argument or a text of the same name is none. A condition that
 * is not CEL reads whatever it is asked for: nobody can tell.
 */
export function conditionReads(source: string, names: readonly (keyof ConditionVariables)[]): boolean {
  try {
    return reads(parse(source).expr, names);
  } catch {
    return true;
  }
}

/** The name that a loop gives to its elements may be one of them: it is then taken for the variable. */
function reads(part: unknown, names: readonly string[]): boolean {
  if (typeof part !== 'object' || part === null) return false;
  const { case: kind, value } = part as Node;
  if (kind === 'identExpr') return names.includes(String((value as Node)['name']));
  return Object.values(part).some((each) => reads(each, names));
}

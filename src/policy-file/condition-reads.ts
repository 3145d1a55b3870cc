import { parse } from '../core/match/cel.ts';
import type { ConditionVariables } from '../core/match/condition.ts';

type Node = Readonly<Record<string, unknown>>;

/** `sum`: what it adds up over earlier calls. */
type Readable = keyof ConditionVariables | 'sum';

/**
 * True if the condition reads one of these variables; an argument or a string of the same name does not count. True for
 * a condition that is not CEL: it could read anything.
 */
export function conditionReads(source: string, names: readonly Readable[]): boolean {
  try {
    return reads(parse(source).expr, names);
  } catch {
    return true;
  }
}

/** The element name of a loop may equal one of the names; it is then taken for the variable. */
function reads(part: unknown, names: readonly string[]): boolean {
  if (typeof part !== 'object' || part === null) return false;
  const { case: kind, value } = part as Node;
  if (kind === 'callExpr' && names.includes('sum') && (value as Node)['function'] === 'sum') return true;
  if (kind === 'identExpr') return names.includes(String((value as Node)['name']));
  return Object.values(part).some((each) => reads(each, names));
}

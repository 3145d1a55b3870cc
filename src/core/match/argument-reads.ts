import { parse } from './cel.ts';

type Node = Readonly<Record<string, unknown>>;

/** The members of `args` that a condition reads; none for a condition that is not CEL. */
export function argumentsRead(source: string): string[] {
  return [...argumentsIn(source).read];
}

/**
 * Those that it reads without a test such as `has(args.amount)` anywhere in it. A call without one of them may make the
 * condition fail.
 */
export function untestedArguments(source: string): string[] {
  const { read, tested } = argumentsIn(source);
  return [...read].filter((name) => !tested.has(name));
}

function argumentsIn(source: string): { read: Set<string>; tested: Set<string> } {
  const read = new Set<string>();
  const tested = new Set<string>();
  const visit = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    const { case: kind, value } = part as Node;
    if (kind === 'selectExpr') {
      const { operand, field, testOnly } = value as { operand?: { exprKind?: Node }; field: string; testOnly: boolean };
      const of = operand?.exprKind;
      const isArgument = of?.['case'] === 'identExpr' && (of['value'] as Node)['name'] === 'args';
      if (isArgument) (testOnly ? tested : read).add(field);
    }
    for (const each of Object.values(part)) visit(each);
  };
  try {
    visit(parse(source).expr);
  } catch {
    // It reads nothing, because it never holds.
  }
  return { read, tested };
}

import { parse } from './cel.ts';

type Node = Readonly<Record<string, unknown>>;

/** An argument that a condition adds up over the calls of a tool: `sum('refund', 'amount')`. */
export interface ReadSum {
  tool: string;
  argument: string;
}

export function sumsRead(source: string): ReadSum[] {
  try {
    return sumsIn(parse(source).expr);
  } catch {
    return [];
  }
}

/** The `sum` calls in an expression. Left out are patterns of tools, and names that are not constant. */
export function sumsIn(part: unknown): ReadSum[] {
  if (typeof part !== 'object' || part === null) return [];
  const { case: kind, value } = part as Node;
  const inner = Object.values(part).flatMap(sumsIn);
  const call = kind === 'callExpr' ? (value as { function: string; target?: unknown; args: unknown[] }) : undefined;
  if (call?.function !== 'sum' || call.target !== undefined || call.args.length !== 2) return inner;
  const [tool = '', argument = ''] = call.args.map(textOf);
  const isPattern = /[*?[]/.test(tool);
  return tool === '' || argument === '' || isPattern ? inner : [{ tool, argument }, ...inner];
}

function textOf(part: unknown): string {
  const { exprKind } = part as { exprKind: { case: string; value: { constantKind: { case: string; value: string } } } };
  const constant = exprKind.case === 'constExpr' ? exprKind.value.constantKind : undefined;
  return constant?.case === 'stringValue' ? constant.value : '';
}

/** The members of `args` that a condition reads; none if the condition is not CEL. */
export function argumentsRead(source: string): string[] {
  const read = new Set<string>();
  const visit = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    const { case: kind, value } = part as Node;
    const argument = kind === 'selectExpr' ? argumentOf(value as Selection) : undefined;
    if (argument !== undefined) read.add(argument);
    for (const each of Object.values(part)) visit(each);
  };
  try {
    visit(parse(source).expr);
  } catch {
    // A condition that is not CEL never holds, so it reads nothing.
  }
  return [...read];
}

/** A selection `OPERAND.FIELD`. `testOnly`: `has` only asks whether the field is there. */
type Selection = { operand?: { exprKind?: Node }; field: string; testOnly: boolean };

function argumentOf({ operand, field, testOnly }: Selection): string | undefined {
  const { case: kind, value } = operand?.exprKind ?? {};
  return !testOnly && kind === 'identExpr' && (value as Node)['name'] === 'args' ? field : undefined;
}

/** Returns the sum of an argument over the calls of a tool; undefined if the sum is not known. */
export type SumOf = (tool: string, argument: string) => number | undefined;

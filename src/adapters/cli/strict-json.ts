import { canonicalJsonProblem } from '../../core/canonical-json.ts';
import type { Json } from '../../core/tool-call.ts';

/**
 * Reads JSON as a run reads a call's arguments: what two readers could understand differently is refused. `problem` is
 * half a sentence that follows the name of what was read. Never throws.
 */
export function readStrictJson(text: string): { value: Json } | { problem: string } {
  let unsafe: string | undefined;
  const checkNumber = (_key: string, value: unknown, context?: { source?: string }): unknown => {
    const { source = '' } = context ?? {};
    if (typeof value === 'number' && unsafe === undefined && !isHeld(value, source)) unsafe = source;
    return value;
  };
  try {
    const value = JSON.parse(text, checkNumber) as Json;
    if (unsafe !== undefined) return { problem: `holds the number ${unsafe.slice(0, 40)}, which a double cannot hold` };
    const repeated = repeatedKey(text);
    if (repeated !== undefined) return { problem: `holds the key ${repeated.slice(0, 80)} twice` };
    const problem = canonicalJsonProblem(value);
    return problem === undefined ? { value } : { problem: `has no canonical form: ${problem}` };
  } catch (error) {
    const tooDeep = error instanceof RangeError;
    return { problem: tooDeep ? 'is nested too deep' : 'is not JSON' };
  }
}

/** Fractions may round, integers may not. */
function isHeld(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return false;
  return !/^-?\d+$/.test(source) || BigInt(value) === BigInt(source);
}

/** The first key, as written, that an object has twice. The text must be JSON. */
function repeatedKey(text: string): string | undefined {
  for (const { members } of objectsIn(text)) {
    const seen = new Set<string>();
    for (const { written } of members) {
      const key = JSON.parse(written) as string;
      if (seen.has(key)) return written;
      seen.add(key);
    }
  }
  return undefined;
}

interface WrittenObject {
  members: { written: string; from: number; to: number }[];
}

/** The members of the object that a JSON text is, in their order, each with the text of its value. */
export function writtenMembers(text: string): { key: string; value: string }[] {
  const members = objectsIn(text).at(-1)?.members ?? [];
  return members.map(({ written, from, to }) => ({ key: JSON.parse(written) as string, value: text.slice(from, to) }));
}

/** The objects of a JSON text, the outermost last. In one pass and without recursion. */
function objectsIn(text: string): WrittenObject[] {
  const done: WrittenObject[] = [];
  const open: (WrittenObject | undefined)[] = [];
  let lastString = '';
  for (const token of tokensOf(text)) {
    const current = open.at(-1);
    const last = current?.members.at(-1);
    if (token.kind === '"') lastString = text.slice(token.from, token.to);
    else if (token.kind === ':') current?.members.push({ written: lastString, from: token.to, to: token.to });
    else if (token.kind === ',' && last) last.to = token.from;
    else if (token.kind === '{') open.push({ members: [] });
    else if (token.kind === '[') open.push(undefined);
    else if (token.kind === '}' || token.kind === ']') {
      if (last) last.to = token.from;
      open.pop();
      if (current !== undefined) done.push(current);
    }
  }
  return done;
}

function* tokensOf(text: string): Generator<{ kind: string; from: number; to: number }> {
  for (let index = 0; index < text.length; index += 1) {
    const kind = text[index]!;
    const from = index;
    if (kind === '"') {
      for (index += 1; index < text.length && text[index] !== '"'; index += 1) if (text[index] === '\\') index += 1;
    } else if (!'{}[]:,'.includes(kind)) {
      continue;
    }
    yield { kind, from, to: index + 1 };
  }
}

import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { DefinitionError } from '../agents/definition-error.ts';
import type { JsonObject } from '../core/base/tool-call.ts';

/** One turn of a scripted model: it says `text`, calls tools, or fails. Every member is optional. */
export interface ScriptedTurn {
  /** `{{lastResult}}` is replaced by the last tool result. */
  text?: string;
  calls?: {
    /** The name of the tool. */
    tool: string;
    /** Default `{}`. */
    args?: JsonObject;
    /** Instead of `args`: the arguments as the model's raw text, which may be invalid. */
    rawArguments?: string;
    /** The model's id of the call. Default `call_TURN_CALL`, both from 1. */
    id?: string;
  }[];
  /** The turn fails like an HTTP request, with this status; without a status, as if the server did not answer. */
  error?: { status?: number; retryAfterMs?: number };
  /** The delay before the turn, in milliseconds. */
  delayMs?: number;
}

const scriptedCall = z.strictObject({
  tool: z.string(),
  args: z.record(z.string(), z.json()).optional(),
  rawArguments: z.string().optional(),
  id: z.string().optional(),
});

const scriptedTurn: z.ZodType<ScriptedTurn, ScriptedTurn> = z.strictObject({
  text: z.string().optional(),
  calls: z.array(scriptedCall).optional(),
  error: z
    .strictObject({ status: z.int().min(100).max(599).optional(), retryAfterMs: z.int().min(0).optional() })
    .optional(),
  delayMs: z.int().min(0).max(86_400_000).optional(),
});

const turns = z.array(scriptedTurn);
const script = z.union([turns, z.record(z.string(), turns)]);

/** A list of turns, or several lists by the exact text of the first user message, with `default` for all others. */
export type Script = readonly ScriptedTurn[] | Readonly<Record<string, readonly ScriptedTurn[]>>;

/** The script itself, or the one in the named file (JSON or YAML). Throws a `DefinitionError`, one sentence. */
export function readScript(fileOrScript: string | Script): Map<string, readonly ScriptedTurn[]> {
  const place = typeof fileOrScript === 'string' ? fileOrScript : 'scriptedModel';
  const found = script.safeParse(typeof fileOrScript === 'string' ? readFile(fileOrScript) : fileOrScript);
  if (!found.success) throw new DefinitionError(`${place}: ${describe(found.error.issues[0])}`);
  if (Array.isArray(found.data)) return new Map([['default', found.data]]);
  const scripts = new Map(Object.entries(found.data));
  if (!scripts.has('default')) throw new DefinitionError(`${place}: expected a list of turns named 'default'`);
  return scripts;
}

function readFile(path: string): unknown {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new DefinitionError(`${path}: cannot be read as a script (${message.split('\n', 1)[0]})`);
  }
}

/** For a union, describes the deepest issue: the author of a list of turns needs the problem in the turn. */
function describe(issue: z.core.$ZodIssue | undefined, above: readonly PropertyKey[] = []): string {
  if (issue === undefined) return 'expected a list of turns';
  const path = [...above, ...issue.path];
  if (issue.code === 'invalid_union') {
    const deepest = issue.errors.flat().toSorted((a, b) => b.path.length - a.path.length)[0];
    if (deepest !== undefined && deepest.path.length > 0) return describe(deepest, path);
  }
  if (path.length === 0) return 'expected a list of turns, or lists of turns by first user message';
  return `${path.map(String).join('.')}: ${issue.message.replace(/\s+/g, ' ')}`;
}

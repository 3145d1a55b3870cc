import { mostAffected, wantsApproval, type Assessment, type AssessedCall } from '../core/assess/assessment.ts';
import type { Severity, Json } from '../core/base/tool-call.ts';

export interface Finding {
  severity: Severity;
  /** A clause that contains no values of arguments. */
  reason: string;
  /** The affected resources, each as `KIND:VALUE`. */
  affected?: readonly string[];
  /** False if the effect of the call cannot be undone. */
  reversible?: boolean;
  recommend?: string;
}

/** The finding as an assessment. Unless the finding says otherwise, its effect counts as reversible. */
export function assessmentOf({ severity, reason, affected, reversible, recommend }: Finding): Assessment {
  return {
    severity,
    reasons: [reason],
    affectedResources: (affected ?? []).slice(0, mostAffected),
    reversible: reversible ?? true,
    recommendations: recommend === undefined ? [] : [recommend],
    requiresApproval: wantsApproval(severity),
  };
}

/** The finding for a text that is longer than an assessor reads. */
export const tooLong: Finding = {
  severity: 'high',
  reason: 'a command or a program is too long to be assessed',
  reversible: false,
};

/** One string, number or boolean among the arguments. */
export interface ArgumentField {
  /** The key of the field; for an item of a list, the key of the list. */
  key: string;
  words: readonly string[];
  /** The path of the field, without positions in lists: `to`, `message.to`. */
  place: string;
  value: string | number | boolean;
}

export interface CallView {
  call: AssessedCall;
  /** The words of the tool's name. */
  tool: ReadonlySet<string>;
  fields: readonly ArgumentField[];
  /** False if the arguments are deeper or more numerous than an assessor reads. */
  whole: boolean;
  /** True if the tool declares that it only reads. */
  readsOnly: boolean;
}

export const mostFields = 5_000;
const mostDepth = 20;

/** Collects what assessors read of a call. `whole` is false if it has too many fields or levels. Never throws. */
export function viewCall(call: AssessedCall): CallView {
  const fields: ArgumentField[] = [];
  const wordsByKey = new Map<string, readonly string[]>();
  const wordsOf = (key: string): readonly string[] => {
    const known = wordsByKey.get(key) ?? nameWords(key);
    wordsByKey.set(key, known);
    return known;
  };
  let visited = 0;
  let whole = true;
  const visit = (value: Json | undefined, key: string, place: string, depth: number): void => {
    if (value === undefined || value === null || !whole) return;
    visited += 1;
    if (visited > mostFields || depth > mostDepth) {
      whole = false;
    } else if (Array.isArray(value)) {
      for (const item of value) visit(item, key, place, depth + 1);
    } else if (typeof value === 'object') {
      for (const [name, item] of Object.entries(value)) {
        const part = name.slice(0, longestReadName);
        visit(item, name, place === '' ? part : `${place}.${part}`, depth + 1);
      }
    } else {
      fields.push({ key, words: wordsOf(key), place, value });
    }
  };
  visit(call.args, '', '', 0);
  return { call, tool: new Set(nameWords(call.tool)), fields, whole, readsOnly: call.risk === 'read_only' };
}

export const longestReadName = 128;

/** The words of a name in lower case: `sendEmail`, `send_email` and `send-email` give `send`, `email`. */
export function nameWords(name: string): string[] {
  return name
    .slice(0, longestReadName)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

export function holdsWord(words: Iterable<string>, wanted: ReadonlySet<string>): boolean {
  for (const word of words) if (wanted.has(word)) return true;
  return false;
}

/** Words that change the meaning of the word beside them: a `file_id` is not a file, a `script_type` not a script. */
const otherThings: ReadonlySet<string> = new Set(
  'content contents text body data size type id ids count format encoding mode'.split(' '),
);

/** True if an argument's name says that its value is one of the `wanted` things. */
export function isNamed(words: readonly string[], wanted: ReadonlySet<string>): boolean {
  return holdsWord(words, wanted) && !holdsWord(words, otherThings);
}

/** Verbs of tools that only read. They count only if the tool's declared risk is `read_only`, too. */
export const readingWords: ReadonlySet<string> = new Set(
  'get list read search find show fetch view check count describe lookup query preview draft'.split(' '),
);

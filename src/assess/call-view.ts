import { longestReadName, nameWords } from './name-words.ts';
import type { AssessedCall } from '../core/assess/assessment.ts';
import type { Json } from '../core/base/tool-call.ts';

/** One string, number or boolean among the arguments. */
export interface ArgumentField {
  /** Its key; for an item of a list, the key of the list. */
  key: string;
  /** The words of that key. */
  words: readonly string[];
  /** Its path, without positions in lists: `to`, `message.to`. */
  place: string;
  value: string | number | boolean;
}

/** A call prepared for the built-in assessors. */
export interface CallView {
  call: AssessedCall;
  /** The words of the tool's name. */
  tool: ReadonlySet<string>;
  fields: readonly ArgumentField[];
  /** False if the arguments are deeper or more numerous than an assessor reads. */
  whole: boolean;
  /** The tool declares that it only reads. */
  readsOnly: boolean;
}

export const mostFields = 5_000;
const mostDepth = 20;

/** Prepares a call. Never throws; deep, wide and cyclic values cost no more than the limits. */
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

import { isTooDeep } from '../base/canonical-json.ts';
import type { Json, JsonObject } from '../base/tool-call.ts';
import { celList, celMap, type CelInput } from './cel.ts';

/**
 * Converts the arguments to CEL values once for all conditions of a ruling. The library would convert a map again each
 * time that something in it is read: a loop over 3,000 members took seconds. Arguments without canonical JSON stay as they
 * are, and each condition that reads them reports it.
 */
export function celArguments(args: JsonObject): unknown {
  return isTooDeep(args) ? args : celValue(args);
}

function celValue(value: Json): CelInput {
  if (Array.isArray(value)) return celList(value.map(celValue));
  if (typeof value !== 'object' || value === null) return value;
  return celMap(new Map(Object.entries(value).map(([name, member]) => [name, celValue(member)])));
}

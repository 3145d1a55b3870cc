import { isTooDeep } from '../base/canonical-json.ts';
import type { Json, JsonObject } from '../base/tool-call.ts';
import { celList, celMap, type CelInput } from './cel.ts';

/**
 * Converts the arguments to CEL values once for all conditions of a ruling. The library would convert a map again each
 * time that something in it is read: a loop over 3,000 members took seconds. Arguments without canonical JSON stay as they
 * are, and each condition that reads them reports it. Before engine 3, `has` and `in` do not see a member that is `null`.
 */
export function celArguments(args: JsonObject, engine: number): unknown {
  return isTooDeep(args) ? args : celValue(args, engine);
}

function celValue(value: Json, engine: number): CelInput {
  if (Array.isArray(value)) return celList(value.map((each) => celValue(each, engine)));
  if (typeof value !== 'object' || value === null) return value;
  const map = celMap(new Map(Object.entries(value).map(([name, member]) => [name, celValue(member, engine)])));
  if (engine < 3) return map;
  // The library takes `null` for absent here, and the specification does not.
  return Object.defineProperty(map, 'has', { value: (key: string) => map.get(key) !== undefined });
}

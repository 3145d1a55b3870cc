/** The CEL library. A worker loads this module once for all runs (`preloadModules`) and freezes it. */
import { celEnv, celError, celList, celMap, type CelInput } from '@bufbuild/cel';
import { isTooDeep } from '../base/canonical-json.ts';
import type { Json, JsonObject } from '../base/tool-call.ts';

export {
  celEnv,
  CelScalar,
  celFunc,
  celMethod,
  isCelError,
  isCelList,
  celList,
  celMap,
  isCelMap,
  listType,
  parse,
  plan,
  type CelFunc,
  type CelInput,
  type CelMap,
  type CelValue,
} from '@bufbuild/cel';

// The library's functions compute their ids on first use, which would fail once they are frozen.
for (const { id } of celEnv().funcs) void id;

/**
 * In CEL, an error is a value, and a loop makes one for each item without the field. The library's class extends
 * `Error`, which records a stack that no code reads: that costs ten times as much as the rest of such a loop.
 */
class WithoutStack {
  message: string;

  constructor(message: string) {
    this.message = message;
  }
}

Object.setPrototypeOf(celError('').constructor, WithoutStack);

/**
 * The arguments as CEL values, once for all conditions of a ruling: the library would convert a map at each read, and
 * a loop over 3,000 members took seconds. Arguments that are too deep stay, and fail in each condition.
 */
export function celArguments(args: JsonObject): unknown {
  return isTooDeep(args) ? args : celValue(args);
}

function celValue(value: Json): CelInput {
  if (Array.isArray(value)) return celList(value.map(celValue));
  if (typeof value !== 'object' || value === null) return value;
  const map = celMap(new Map(Object.entries(value).map(([name, member]) => [name, celValue(member)])));
  // The library's own `has` treats `null` as absent, against the specification.
  return Object.defineProperty(map, 'has', { value: (key: string) => map.get(key) !== undefined });
}

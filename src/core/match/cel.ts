/**
 * The CEL library in a module of its own: a worker loads it once for all its runs (`preloadModules`), not once for
 * each, and freezes its exports. So nothing here may keep state.
 */
import { celEnv } from '@bufbuild/cel';

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

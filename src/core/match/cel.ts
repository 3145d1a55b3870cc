/**
 * The CEL library, by itself: a worker loads it once for all its runs (`preloadModules`), not once for each, and freezes
 * what it exports. So nothing here may keep state.
 */
import { celEnv } from '@bufbuild/cel';

export {
  celEnv,
  CelScalar,
  celFunc,
  celMethod,
  isCelError,
  isCelList,
  isCelMap,
  listType,
  parse,
  plan,
  type CelFunc,
  type CelInput,
  type CelMap,
  type CelValue,
} from '@bufbuild/cel';

// The library's functions compute their ids when they are first asked for; frozen, they could not.
for (const { id } of celEnv().funcs) void id;

/**
 * The CEL library in a module of its own: a worker loads it once for all its runs (`preloadModules`), not once for
 * each, and freezes its exports. So nothing here may keep state.
 */
import { celEnv, celError } from '@bufbuild/cel';

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
 * An error is a value in CEL, and a loop makes one for each item without the field. The library's class extends `Error`,
 * whose constructor records the stack, which takes ten times as long as everything else in such a loop. Nobody reads
 * that stack.
 */
class WithoutStack {
  message: string;

  constructor(message: string) {
    this.message = message;
  }
}

Object.setPrototypeOf(celError('').constructor, WithoutStack);

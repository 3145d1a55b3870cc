import { checkOptions, DefinitionError } from './check-options.ts';
import { type Toolset, toolsetMark } from './definitions.ts';

/** Options of `defineToolset`: both are required. */
export type ToolsetOptions = Pick<Toolset, 'name' | 'open'>;

const optionNames = ['name', 'open'] as const satisfies (keyof ToolsetOptions)[];
const longestName = 32;

/**
 * Declares tools that a worker reads at run time, from a service that may change them. Each run records them when it
 * starts. Before a call runs, the worker asks again: a tool that is gone, or whose definition has changed, does not run
 * in runs that recorded it before, and their model gets an error. Every worker opens the toolset for itself, when it first
 * needs it. Throws a `DefinitionError`, one sentence, for invalid options.
 *
 * `name` has 1 to 32 letters, digits, `-` or `_`, with no `_` at an end and no two in a row, because the names of its tools
 * are this name, `__` and more.
 *
 * @example
 * ```ts
 * import { defineTool, defineToolset } from 'countersign';
 * import { z } from 'zod';
 *
 * const now = defineTool({
 *   name: 'clock__now',
 *   description: 'Tells the time.',
 *   input: z.object({}),
 *   execute: () => 'noon',
 * });
 * const clock = defineToolset({
 *   name: 'clock',
 *   open: () => ({ list: async () => ({ tools: [now] }), close: async () => {} }),
 * });
 * console.log(clock.name); // clock
 * ```
 */
export function defineToolset(options: ToolsetOptions): Toolset {
  checkOptions('defineToolset', options, optionNames);
  const { name, open } = options;
  if (typeof name !== 'string' || name.length > longestName || !/^[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*$/.test(name)) {
    const shown = typeof name === 'string' ? JSON.stringify(name.slice(0, 80)) : typeof name;
    throw new DefinitionError(
      `toolset name ${shown}: expected 1 to ${longestName} letters, digits, '-' or '_', with no '_' at an end and no two in a row`,
    );
  }
  if (typeof open !== 'function') throw new DefinitionError(`toolset '${name}': open must be a function`);
  return Object.freeze({ [toolsetMark]: true as const, name, open });
}

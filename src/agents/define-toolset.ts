import { setTimeout as sleep } from 'node:timers/promises';
import { checkOptions, DefinitionError } from './check-options.ts';
import { type Toolset, toolsetMark, type OpenToolset, type Tool, type ToolsetListing } from './definitions.ts';

/** Options of `defineToolset`: both are required. */
export type ToolsetOptions = Pick<Toolset, 'name' | 'open'>;

const optionNames = ['name', 'open'] as const satisfies (keyof ToolsetOptions)[];
const longestName = 32;

/**
 * Declares tools that a worker reads at run time, from a service that may change them. Each run records the tools when
 * it starts. Before a call, the worker reads them again: a tool that is gone or has changed does not run, and the model
 * gets an error. Throws a `DefinitionError`, one sentence, for invalid options.
 *
 * The names of the tools begin with the toolset's `name` and `__`, so `name` has 1 to 32 letters, digits, `-` or `_`,
 * with no `_` at an end and no two in a row. `open` connects to the service; its `list` returns the present tools.
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

const separator = '__';
const longestReason = 300;
/** How long a worker that stops waits until a toolset is closed, in milliseconds. */
const closeTimeoutMs = 10_000;

interface AgentListing {
  tools: readonly Tool[];
  /** The names of the toolsets that could not be listed. */
  unavailable: readonly string[];
  /** One sentence for each toolset that could not be listed, and for each tool that is not offered. */
  problems: readonly string[];
}

/** A tool of a toolset, or one sentence that says why the tool cannot be used now. */
type FoundTool = { tool: Tool } | { problem: string };

/** The toolsets of a worker, each opened at first use. */
export class OpenToolsets {
  readonly #toolsets = new Map<string, Toolset>();
  readonly #open = new Map<string, OpenToolset>();

  /** The same toolset may occur several times. Throws a `DefinitionError` if two different ones have the same name. */
  constructor(toolsets: readonly Toolset[]) {
    for (const each of toolsets) {
      const known = this.#toolsets.get(each.name);
      if (known !== undefined && known !== each) {
        throw new DefinitionError(
          `toolset name '${each.name}' is used by two different toolsets; rename one, or share one object`,
        );
      }
      this.#toolsets.set(each.name, each);
    }
  }

  get prefixes(): string[] {
    return [...this.#toolsets.keys()].map((name) => `${name}${separator}`);
  }

  /** True if a name begins with the prefix of a known toolset, and so is reserved for the tools of that toolset. */
  owns(tool: string): boolean {
    return this.#toolsets.has(ownerOf(tool) ?? '');
  }

  /** Finds a tool by its name. With `fresh`, the toolset must read its list again. Never rejects. */
  async find(name: string, options: { fresh: boolean }): Promise<FoundTool> {
    const owner = ownerOf(name) ?? '';
    const listing = await this.#list(owner, options);
    if ('problem' in listing) return listing;
    const tool = listing.tools.find((each) => each.name === name);
    return tool === undefined ? { problem: `'${owner}' has no tool '${name}' now` } : { tool };
  }

  /** Lists all tools of these toolsets. Never rejects. */
  async listAll(toolsets: readonly Toolset[]): Promise<AgentListing> {
    const listings = await Promise.all(
      toolsets.map(async ({ name }) => ({ name, listing: await this.#list(name, { fresh: true }) })),
    );
    return {
      tools: listings.flatMap(({ listing }) => ('problem' in listing ? [] : listing.tools)),
      unavailable: listings.flatMap(({ name, listing }) => ('problem' in listing ? [name] : [])),
      problems: listings.flatMap(({ listing }) => ('problem' in listing ? [listing.problem] : (listing.leftOut ?? []))),
    };
  }

  /** Closes all, and waits at most `timeoutMs`. Returns one sentence for each that is not closed. Never rejects. */
  async close(timeoutMs: number = closeTimeoutMs): Promise<string[]> {
    const ended = new AbortController();
    const late = sleep(timeoutMs, `not within ${timeoutMs} ms`, { signal: ended.signal }).catch(() => undefined);
    const problems = await Promise.all(
      [...this.#open].map(async ([name, toolset]) => {
        const problem = await Promise.race([closeProblem(() => toolset.close()), late]);
        return problem === undefined ? [] : [`'${name}' cannot be closed: ${problem}`];
      }),
    );
    ended.abort();
    return problems.flat();
  }

  /** Lists one toolset. Returns a `problem` if that fails, or if the name of a tool lacks the toolset's prefix. */
  async #list(name: string, options: { fresh: boolean }): Promise<ToolsetListing | { problem: string }> {
    try {
      const listing = await this.#opened(name).list(options);
      const foreign = listing.tools.find((tool) => ownerOf(tool.name) !== name);
      if (foreign === undefined) return listing;
      return { problem: `'${name}' cannot be used: its tool '${foreign.name}' is not named '${name}${separator}…'` };
    } catch (error) {
      return { problem: `'${name}' cannot be used now: ${errorReason(error)}` };
    }
  }

  #opened(name: string): OpenToolset {
    const opened = this.#open.get(name) ?? this.#toolsets.get(name)!.open();
    this.#open.set(name, opened);
    return opened;
  }
}

/** Returns the name of a tool's toolset: the part before the first `__`. A toolset's own name has no `__`. */
function ownerOf(tool: string): string | undefined {
  const end = tool.indexOf(separator);
  return end === -1 ? undefined : tool.slice(0, end);
}

async function closeProblem(close: () => Promise<void>): Promise<string | undefined> {
  try {
    await close();
    return undefined;
  } catch (error) {
    return errorReason(error);
  }
}

function errorReason(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, longestReason);
}
